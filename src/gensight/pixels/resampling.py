"""The baselines that resample evenly and then cut the colours: nearest, box, bicubic, Lanczos.

Source: PixelBench, Table 25, tiers 0 and 1. Bicubic and Lanczos are Pillow's, whose kernels widen
with the shrinking so that nothing is aliased; they work in whole numbers, hence alike everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from gensight.pixels.palette_grid import PaletteGrid
from gensight.pixels.quantisation import median_cut
from gensight.pixels.source_cells import cell_centres, cell_means


def nearest(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Take the pixel at each cell's centre, the later one of two, then cut the colours."""
    return median_cut(cell_centres(rgb, size))


def box(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Take the mean of each cell, then cut the colours."""
    return median_cut(box_reduced(rgb, size))


def box_reduced(rgb: np.ndarray, size: int) -> np.ndarray:
    """Return a picture at one pixel a cell, each the mean of its cell, uint8 (N, N, 3) RGB."""
    return eight_bits(cell_means(rgb, size))


def bicubic(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Resample with the cubic kernel (a = -0.5), then cut the colours."""
    return _resampled(rgb, size, Image.Resampling.BICUBIC)


def lanczos(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Resample with the Lanczos kernel of three lobes, then cut the colours."""
    return _resampled(rgb, size, Image.Resampling.LANCZOS)


def eight_bits(levels: np.ndarray) -> np.ndarray:
    """Return levels of 0 to 255 as uint8, rounded to nearest and clipped."""
    return np.rint(np.clip(levels, 0, 255)).astype(np.uint8)


def _resampled(rgb: np.ndarray, size: int, kernel: Image.Resampling) -> PaletteGrid:
    return median_cut(np.asarray(Image.fromarray(rgb).resize((size, size), kernel)))
