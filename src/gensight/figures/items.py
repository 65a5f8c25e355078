"""What a gallery shows of one answer, loaded; and a tile, which is a picture or says why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gensight.records import Prediction, Sample

NOT_IN_ARCHIVE = "output not in this archive"
NO_PICTURE = "no picture returned"
NO_TRUTH = "no usable truth"


@dataclass(frozen=True, kw_only=True)
class GalleryItem:
    """One answer of a gallery, loaded.

    `output` is the answer's picture as returned, None where the archive holds none; `extracted`
    the prediction of the variant shown, None where it was not kept. `orient_source` says whether
    the benchmark applies the input's EXIF tag. `rule` says why it was chosen, `fit` under
    which alignment depth is shown. `score` is the number with its name and all that is to be
    said of it, `number` the number alone, `failure` the class of failure in words, None where there
    is none. `settings` are those of the scorer's measure, so that a row shows what the score saw.
    """

    model_label: str
    sample_id: str
    input_png: bytes
    output: bytes | None
    extracted: Prediction | None
    truth: Sample
    score: str
    number: str = ""
    failure: str | None = None
    rule: str = "median"
    fit: str | None = None
    orient_source: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def query(self) -> str:
        """Return what was asked for, on one line; empty where the task needs no query."""
        return " ".join((self.truth.query or "").split())


@dataclass(frozen=True)
class Tile:
    """A uint8 RGB picture with a line below it, or no picture and the words in its place."""

    picture: np.ndarray | None
    words: str = ""


def unread(item: GalleryItem, column: str) -> Tile | None:
    """Return the tile of a prediction without this column, or None where it is there."""
    prediction = item.extracted
    if prediction is None:
        return Tile(None, "prediction not in this archive")
    if prediction.status != "ok" or getattr(prediction, column) is None:
        words = f"{prediction.status}: {prediction.reason or f'no {column}'}"
        return Tile(None, words.replace("_", " "))
    return None
