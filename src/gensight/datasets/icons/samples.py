"""Samples of the three tasks from the drawings: same ranks, same ids, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gensight.datasets._options import dealt, right_letter
from gensight.datasets.icons.concepts import concepts, labels
from gensight.datasets.icons.drawings import WHITE, Frame, paint
from gensight.datasets.icons.emoji import find_font, font_digest, paint_emoji
from gensight.datasets.icons.parameters import IconParameters, parse
from gensight.datasets.icons.scenery import draw_scenery
from gensight.digests import seed_of
from gensight.errors import MissingDataError, SpecError
from gensight.images import encode_png
from gensight.records import Sample

LICENCES = {"own": "gensight", "emoji": "noto_emoji"}


def population(parameters: Mapping[str, Any]) -> int:
    """Return the number of samples: one for every concept that the set of drawings has."""
    return len(labels(parse(parameters).drawings))


def missing_data(parameters: Mapping[str, Any]) -> str | None:
    """Return in one line what is missing and what to install; None: all is here."""
    checked = parse(parameters)
    if checked.drawings == "emoji":
        try:
            find_font(checked.font, checked.font_sha256)
        except MissingDataError as error:
            return str(error)
    return None


def iter_samples(parameters: Mapping[str, Any], ranks: Iterable[int]) -> Iterator[Sample]:
    """Yield the samples of these ranks, in their order; each depends on its own rank alone.

    Raises:
        SpecError: a parameter or a rank is wrong.
        MissingDataError: the emoji font is asked for and not there, or another than is meant.
    """
    checked = parse(parameters)
    named = labels(checked.drawings)
    ranked = checked.ranked(named)
    font = None
    if checked.drawings == "emoji":
        font = find_font(checked.font, checked.font_sha256)
    # Over the whole population, never over the ranks: a draw of it keeps its questions.
    options = dealt(named, checked.options) if checked.task == "pixel_understanding" else {}
    for rank in ranks:
        if not 0 <= rank < len(ranked):
            raise SpecError(f"icons: rank {rank} does not exist; the last is {len(ranked) - 1}")
        yield _sample(checked, rank, ranked[rank], font, options)


def _sample(
    parameters: IconParameters,
    rank: int,
    label: str,
    font: Path | None,
    options: Mapping[str, list[str]],
) -> Sample:
    # The id is shown to the model, so it must not name what is to be seen.
    sample_id = f"icons_{parameters.drawings}_{parameters.seed}_{rank:06d}"
    if parameters.task == "text_to_pixel":
        asked = _text_to_pixel(parameters, label, font, sample_id)
    elif parameters.task == "image_to_pixel":
        asked = _image_to_pixel(parameters, label, font, sample_id)
    else:
        printed = options[label]
        asked = {"options": printed, "target_text": right_letter(printed, label)}
    font_knobs = {"font": font.name, "font_sha256": font_digest(font)} if font else {}
    knobs = {"drawings": parameters.drawings, **font_knobs, **asked.pop("knobs", {})}
    return Sample(
        sample_id=sample_id,
        rank=rank,
        cluster_id=sample_id,
        stratum=concepts()[label].category,
        population_n=len(labels(parameters.drawings)),
        licence=LICENCES[parameters.drawings],
        knobs=dict(sorted(knobs.items())),
        **asked,
    )


def _text_to_pixel(
    parameters: IconParameters, label: str, font: Path | None, sample_id: str
) -> dict[str, Any]:
    """Return the label, and a drawing of it on white for models that look up the truth."""
    side_px = parameters.side_px
    white = np.full((side_px, side_px, 3), WHITE, np.uint8)
    return {
        "query": label,
        "target_text": label,
        "target_image": _stored(_painted(label, font, white, Frame()), sample_id),
    }


def _image_to_pixel(
    parameters: IconParameters, label: str, font: Path | None, sample_id: str
) -> dict[str, Any]:
    """Return a source picture: the drawing somewhere on a background; the label is not asked."""
    side_px, seed = parameters.side_px, parameters.seed
    scenery = draw_scenery(seed_of("icons", seed, parameters.drawings, label), side_px)
    frame = scenery.frame
    return {
        "image": _stored(_painted(label, font, scenery.background, frame), sample_id),
        "width": side_px,
        "height": side_px,
        "target_text": label,
        "knobs": {"left": str(frame.left), "top": str(frame.top), "side": str(frame.side)},
    }


def _painted(label: str, font: Path | None, picture: np.ndarray, frame: Frame) -> np.ndarray:
    if font is None:
        return paint(label, "first", picture, frame)
    return paint_emoji(label, font, picture, frame)


def _stored(picture: np.ndarray, sample_id: str) -> dict[str, Any]:
    return {"bytes": encode_png(picture), "path": f"{sample_id}.png"}
