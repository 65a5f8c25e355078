"""Pixel art as models write it: palette grids, and the texts that carry them."""

from gensight.pixels.grid_text import (
    BrokenRuleError,
    Verdict,
    Verdicts,
    checked_grid,
    read_grid,
    stored_grid,
)
from gensight.pixels.palette_grid import MOST_COLOURS, PaletteGrid

__all__ = [
    "MOST_COLOURS",
    "BrokenRuleError",
    "PaletteGrid",
    "Verdict",
    "Verdicts",
    "checked_grid",
    "read_grid",
    "stored_grid",
]
