"""Where the parts of a panel of grids lie: columns, rows and blocks, in tiles and inches.

Every tile of a figure has one side, so that cells of different panels can be compared; it follows
from the width of the page. Places are kept as a number of tiles plus inches until it is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from gensight.figures import style
from gensight.figures.layout import LEFT_IN
from gensight.figures.pixel_panels import GridPanel, ShownSample

# Inches, chosen by eye.
GAP_IN, GROUP_GAP_IN, BLOCK_GAP_IN, PANEL_GAP_IN = 0.03, 0.11, 0.17, 0.28
MODEL_IN, SIZE_IN, SAMPLE_IN = 0.8, 0.13, 0.56
LARGEST_TILE_IN = 1.28
#: A PNG has at least so many pixels an inch; more, where whole pixels a cell need them.
LEAST_DPI = 400

#: The values of a row's, column's or block's axes, by axis.
Key = dict[str, Any]


@dataclass(frozen=True)
class Length:
    """A length of so many tiles and so many inches."""

    tiles: float = 0.0
    inches: float = 0.0

    def __add__(self, other: Length) -> Length:
        """Return the sum of two lengths."""
        return Length(self.tiles + other.tiles, self.inches + other.inches)

    def at(self, tile_in: float) -> float:
        """Return the length in inches for a side of a tile."""
        return self.tiles * tile_in + self.inches


class PanelLayout:
    """The columns, rows and blocks of one panel, and how wide they are."""

    def __init__(self, panel: GridPanel) -> None:
        self.panel, self.spec = panel, panel.spec
        self.columns = self._keys(self.spec.columns)
        self.rows = self._keys(self.spec.rows) if panel.models else []

    def _values(self, axis: str) -> Sequence[Any]:
        values = {
            "samples": self.panel.samples,
            "models": self.panel.models,
            "sizes": self.panel.sizes,
        }
        return values[axis]

    def _keys(self, axes: Sequence[str]) -> list[Key]:
        return [
            dict(zip(axes, key, strict=True)) for key in product(*(self._values(a) for a in axes))
        ]

    @property
    def in_blocks(self) -> bool:
        """Say whether each sample is a block of its own."""
        return "samples" not in (*self.spec.rows, *self.spec.columns)

    @cached_property
    def blocks(self) -> list[list[Key]]:
        """Return the columns of each block; a block that is one sample's carries it in each key."""
        if self.in_blocks:
            return [[{**key, "samples": s} for key in self.columns] for s in self.panel.samples]
        per_row = self.spec.samples_per_row
        if "samples" not in self.spec.columns or per_row is None:
            return [self.columns]
        lines = [
            self.panel.samples[first : first + per_row]
            for first in range(0, len(self.panel.samples), per_row)
        ]
        return [[key for key in self.columns if key["samples"] in line] for line in lines]

    @property
    def beside(self) -> int:
        """Return how many blocks lie side by side."""
        return min(self.spec.samples_per_row or 1, len(self.blocks)) if self.in_blocks else 1

    @property
    def labels_in(self) -> float:
        """Return the width of the labels of rows."""
        widths = {"models": MODEL_IN, "sizes": SIZE_IN, "samples": SAMPLE_IN}
        found = sum(widths[axis] for axis in self.spec.rows) if self.rows else 0.0
        return found + GAP_IN if found else 0.0

    @property
    def pictures(self) -> Length:
        """Return the width of what stands left of the rows: a block's sample, or sources."""
        if self.in_blocks:
            if not self.panel.has_pictures:
                return Length(0, SAMPLE_IN)
            return Length(self.spec.source_tiles, GROUP_GAP_IN + self._inner_gaps_in)
        if "samples" in self.spec.rows and self.panel.has_pictures:
            return Length(1, GROUP_GAP_IN)
        return Length()

    @property
    def _inner_gaps_in(self) -> float:
        return (self.spec.source_tiles - 1) * GAP_IN

    def column_places(self, keys: Sequence[Key]) -> list[Length]:
        """Return the left edge of each column, counted from the first."""
        places, inches = [], 0.0
        outer = self.spec.columns[0] if len(self.spec.columns) > 1 else None
        for n, key in enumerate(keys):
            if n:
                apart = outer is not None and key[outer] != keys[n - 1][outer]
                inches += GROUP_GAP_IN if apart else GAP_IN
            places.append(Length(n, inches))
        return places

    @property
    def block_width(self) -> Length:
        """Return the width of the widest block."""
        widest = max(self.blocks, key=len, default=[])
        places = self.column_places(widest)
        grids = places[-1] + Length(1) if places else Length()
        return Length(0, self.labels_in) + self.pictures + grids

    @property
    def width(self) -> Length:
        """Return the width of the panel."""
        one = self.block_width
        n = self.beside
        return Length(n * one.tiles, n * one.inches + (n - 1) * BLOCK_GAP_IN)

    def is_new_group(self, place: int) -> bool:
        """Say whether a row begins another value of the outer axis of several."""
        if len(self.spec.rows) < 2 or place == 0:
            return False
        outer = self.spec.rows[0]
        return self.rows[place][outer] != self.rows[place - 1][outer]

    def runs(self, keys: Sequence[Key], axis: str) -> Iterator[tuple[int, int, Any]]:
        """Yield the first and last place of neighbours that share the value of an axis."""
        first = 0
        for place in range(1, len(keys) + 1):
            if place == len(keys) or keys[place][axis] != keys[first][axis]:
                yield first, place - 1, keys[first][axis]
                first = place


def tile_side(bands: Sequence[Sequence[PanelLayout]]) -> float:
    """Return the side of every tile in inches: the widest band of panels fills the page."""
    sides = []
    for band in bands:
        tiles = sum(layout.width.tiles for layout in band)
        fixed_in = sum(layout.width.inches for layout in band) + PANEL_GAP_IN * (len(band) - 1)
        if tiles:
            sides.append((style.WIDTH_IN - 2 * LEFT_IN - fixed_in) / tiles)
    return min([*sides, LARGEST_TILE_IN])


def whole_pixels(tile_in: float, sizes: Sequence[int]) -> float:
    """Return pixels an inch at which a tile is a whole number of pixels for each of its cells.

    Where the sizes have no common multiple that is small enough (ten sizes have 1920), a tile is
    a whole number of pixels all the same, and its cells are within half a pixel of their places.
    """
    side = math.lcm(*sizes) if sizes else 1
    least = LEAST_DPI * tile_in
    if side > 1.5 * least:
        side = 1
    return side * math.ceil(least / side - 1e-9) / tile_in


def sample_of(key: Key) -> ShownSample | None:
    """Return the sample of a row, column or block, None where it has none."""
    return key.get("samples")
