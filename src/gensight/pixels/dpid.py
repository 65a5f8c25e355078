"""DPID: detail-preserving downscaling, where pixels unlike their neighbourhood count for more.

Source: Weber, Waechter, Amend, Guthe, Goesele: Rapid, Detail-Preserving Image Downscaling, 2016,
equations 1 to 3, as named by PixelBench, Table 25, tier 2. The two exponents that PixelBench prints
are lost; 0.5 and 1.0 are assumed, the example and the default of the authors' program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.pixels.palette_grid import PaletteGrid
from gensight.pixels.quantisation import median_cut
from gensight.pixels.resampling import eight_bits
from gensight.pixels.source_cells import cell_means, cell_rows

HALF = {"assumed_lambda": 0.5}
ONE = {"assumed_lambda": 1.0}
_FARTHEST = 255 * 3**0.5


def dpid(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Downscale by DPID with exponent `assumed_lambda` (0 or more), then cut the colours."""
    return median_cut(eight_bits(detail_preserved(rgb, size, settings["assumed_lambda"])))


def detail_preserved(rgb: np.ndarray, size: int, exponent: float) -> np.ndarray:
    """Return the downscaled picture in levels, float64 (N, N, 3).

    A cell is the mean of its pixels, weighted by area x (distance from the guide / 441.7)^exponent.
    Where all weights are 0 (every pixel equals the guide) it is the guide. Exponent 0 is the box
    filter.
    """
    guide = _smoothed(cell_means(rgb, size))
    result = np.empty_like(guide)
    for row, (pixels, areas) in enumerate(cell_rows(rgb, size)):
        differences = pixels - guide[row][:, None]
        distances = np.sqrt((differences * differences).sum(axis=2)) / _FARTHEST
        weights = areas * distances**exponent
        total = weights.sum(axis=1, keepdims=True)
        means = (pixels * weights[:, :, None]).sum(axis=1) / np.where(total > 0, total, 1)
        result[row] = np.where(total > 0, means, guide[row])
    return result


def _smoothed(cells: np.ndarray) -> np.ndarray:
    """Return cells under the kernel (1 2 1) by (1 2 1), its part inside the grid scaled to 1."""
    for axis in (0, 1):
        moved = cells.swapaxes(0, axis)
        total, weight = 2 * moved, np.full((len(moved), 1, 1), 2.0)
        total[1:] += moved[:-1]
        total[:-1] += moved[1:]
        weight[1:] += 1
        weight[:-1] += 1
        cells = (total / weight).swapaxes(0, axis)
    return np.ascontiguousarray(cells)
