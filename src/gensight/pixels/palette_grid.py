"""A square picture of a few colours, as the pixel tasks exchange it: a palette and an index grid.

Protocol: PixelBench, "Generation protocol": two to eight opaque RGB colours and an index grid of
exactly the asked size. Models answer in this form, and so do the pixelisation baselines.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from gensight.digests import canonical_json

FEWEST_COLOURS = 2
MOST_COLOURS = 8
BRIGHTEST = 255

Colour = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class PaletteGrid:
    """2 to 8 RGB colours and N x N cells, uint8, each the place of its colour in the palette.

    `cells[row, column]` counts rows from the top. The grid keeps a read-only copy. A palette may
    hold one colour twice and colours that no cell has: no paper forbids either. Two grids are equal
    when palette and cells are, so equal pictures may belong to different grids.

    >>> grid = PaletteGrid(((255, 255, 255), (214, 40, 40)), np.eye(2, dtype=np.uint8))
    >>> grid.text()
    '{"palette":["#FFFFFF","#D62828"],"pixels":["10","01"]}'

    Raises:
        ValueError: the palette has fewer than 2 or more than 8 colours, or one out of 0 to 255;
            the cells are not a square of uint8, or one lies outside the palette.
    """

    palette: tuple[Colour, ...]
    cells: np.ndarray

    def __post_init__(self) -> None:
        """Check both and keep them as they cannot be changed."""
        palette = tuple(map(_checked_colour, self.palette))
        if not FEWEST_COLOURS <= len(palette) <= MOST_COLOURS:
            raise ValueError(f"a palette has 2 to 8 colours, not {len(palette)}")
        cells = _checked_cells(self.cells, len(palette))
        object.__setattr__(self, "palette", palette)
        object.__setattr__(self, "cells", cells)

    def __eq__(self, other: object) -> bool:
        """Compare by content."""
        if not isinstance(other, PaletteGrid):
            return NotImplemented
        return self.palette == other.palette and np.array_equal(self.cells, other.cells)

    def __hash__(self) -> int:
        """Hash by content, as equality compares."""
        return hash((self.palette, self.cells.tobytes()))

    @property
    def size(self) -> int:
        """The number of cells of a side."""
        return len(self.cells)

    @property
    def used_colours(self) -> tuple[Colour, ...]:
        """The colours that some cell has, each once, in palette order; a flat grid has one."""
        used = (self.palette[place] for place in np.unique(self.cells))
        return tuple(dict.fromkeys(used))

    def picture(self) -> np.ndarray:
        """Return the grid as a picture of one pixel a cell, uint8 (N, N, 3) RGB."""
        return np.array(self.palette, np.uint8)[self.cells]

    def enlarged(self, factor: int) -> np.ndarray:
        """Return the picture with `factor` x `factor` equal pixels a cell, uint8 RGB.

        Raises:
            ValueError: the factor is below 1.
        """
        if factor < 1:
            raise ValueError(f"a grid is enlarged by 1 or more, not {factor}")
        return self.picture().repeat(factor, axis=0).repeat(factor, axis=1)

    def rows(self) -> list[str]:
        """Return the cells as a model writes them: one string of digits a row."""
        return ["".join(map(str, row)) for row in self.cells.tolist()]

    def hex_colours(self) -> list[str]:
        """Return the palette as a model writes it: `#` and six upper-case hex digits a colour."""
        return [f"#{bytes(colour).hex().upper()}" for colour in self.palette]

    def text(self) -> str:
        """Return the grid as the shortest answer that says it: canonical JSON, one line."""
        return canonical_json({"palette": self.hex_colours(), "pixels": self.rows()})


def _checked_colour(colour: Colour) -> Colour:
    parts = tuple(colour)
    if len(parts) != 3 or not all(
        isinstance(part, Integral) and 0 <= part <= BRIGHTEST for part in parts
    ):
        raise ValueError(f"a colour is three whole numbers from 0 to 255, not {colour!r}")
    red, green, blue = map(int, parts)
    return red, green, blue


def _checked_cells(cells: np.ndarray, colours: int) -> np.ndarray:
    if cells.dtype != np.uint8 or cells.ndim != 2 or not cells.shape[0] == cells.shape[1] > 0:
        raise ValueError(f"cells are a square of uint8, not {cells.dtype} {cells.shape}")
    if cells.max() >= colours:
        raise ValueError(f"cell {cells.max()} of a grid lies outside its {colours} colours")
    kept = np.array(cells, order="C")
    kept.setflags(write=False)
    return kept
