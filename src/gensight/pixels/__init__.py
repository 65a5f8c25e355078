"""Pixel art as models write it: palette grids, and the texts that carry them."""

from gensight.pixels.palette_grid import MOST_COLOURS, PaletteGrid

__all__ = ["MOST_COLOURS", "PaletteGrid"]
