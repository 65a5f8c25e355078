"""What a panel of grids shows, loaded: samples as columns, rows or blocks, and a tile per answer.

A grid is enlarged by nearest neighbour, by the whole factor ceil(512 / size) that PixelBench's
encoders and judges are shown (PROTOCOLS 1.6), and never smoothed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.palette_grid import Colour
from gensight.records import Prediction
from gensight.specs.pixel_figures import PixelPanelSpec

#: The least side of an enlarged grid in pixels.
ENLARGED_PX = 512
NOT_ASKED = "not asked"


def enlargement(size: int) -> int:
    """Return the whole number of pixels of a side of a cell: ceil(512 / size).

    >>> enlargement(32), enlargement(80)
    (16, 7)
    """
    return -(-ENLARGED_PX // size)


@dataclass(frozen=True)
class GridTile:
    """An answer as drawn: an enlarged grid and its palette, or words, `crossed` where invalid."""

    picture: np.ndarray | None = None
    palette: Sequence[Colour] = ()
    words: str = ""
    crossed: bool = False


def grid_tile(prediction: Prediction | None) -> GridTile:
    """Return the tile of one reading; None: the model was not asked."""
    if prediction is None:
        return GridTile(words=NOT_ASKED)
    if prediction.status == "ok" and prediction.text is not None:
        grid = stored_grid(prediction.text)
        return GridTile(grid.enlarged(enlargement(grid.size)), grid.palette)
    told = prediction.reason or prediction.status
    # Of an answer without text the outcome says more: refused, blocked, never arrived.
    if prediction.status == "no_output" and prediction.outcome != "ok":
        told = prediction.outcome
    # An answer that never arrived is no invalid one.
    crossed = prediction.outcome not in INFRASTRUCTURE_OUTCOMES
    return GridTile(words=told.replace("_", " "), crossed=crossed)


@dataclass(frozen=True)
class ShownSample:
    """A sample of a panel: its label, and the picture beside its answers with what that is."""

    sample_id: str
    label: str
    picture: np.ndarray | None = None
    picture_name: str = ""


@dataclass(frozen=True)
class ShownModel:
    """A model of a panel: its key, the severity that is shown of a disturbed one, its label."""

    model: str
    severity: float | None
    label: str


@dataclass(frozen=True)
class GridPanel:
    """A panel of grids, loaded; `tiles` by model, size and sample, without what was not asked.

    `notes` are lines for the heading, `gaps` lines about what cannot be shown.
    """

    spec: PixelPanelSpec
    samples: Sequence[ShownSample]
    models: Sequence[ShownModel] = ()
    sizes: Sequence[int] = ()
    tiles: Mapping[tuple[ShownModel, int, str], GridTile] = field(default_factory=dict)
    notes: Sequence[str] = ()
    gaps: Sequence[str] = ()

    def tile(self, model: ShownModel, size: int, sample: ShownSample) -> GridTile:
        """Return an answer's tile; one that was not asked for says so."""
        return self.tiles.get((model, size, sample.sample_id)) or grid_tile(None)

    @property
    def has_pictures(self) -> bool:
        """Say whether some sample has a picture that is to be shown."""
        return self.spec.source and any(s.picture is not None for s in self.samples)

    @property
    def picture_name(self) -> str:
        """Return what the pictures of the samples are: sources, or drawings."""
        return next((s.picture_name for s in self.samples if s.picture is not None), "")
