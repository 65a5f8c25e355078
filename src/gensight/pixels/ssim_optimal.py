"""SSIM-optimal downscaling: local contrast of the cells is brought to that of the picture.

Source: Öztireli and Gross: Perceptually Based Downscaling of Images, 2015, as PixelBench's appendix
on baselines writes it out; the neighbourhood and the guard against division by zero are lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.pixels.palette_grid import PaletteGrid
from gensight.pixels.quantisation import median_cut
from gensight.pixels.resampling import eight_bits
from gensight.pixels.source_cells import cell_means

DEFAULTS = {"assumed_neighbourhood_cells": 2, "assumed_epsilon": 1e-6}


def ssim_optimal(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Downscale SSIM-optimally, then cut the colours.

    Settings: `assumed_neighbourhood_cells`, the side of the square windows, which move by one cell;
    `assumed_epsilon`, the least variance of a window's cells (of values of 0 to 1) that is scaled.
    """
    proposal = contrast_kept(
        rgb / 255, size, settings["assumed_neighbourhood_cells"], settings["assumed_epsilon"]
    )
    return median_cut(eight_bits(255 * proposal))


def contrast_kept(picture: np.ndarray, size: int, window: int, epsilon: float) -> np.ndarray:
    """Return float (H, W, C) of 0 to 1 downscaled to (N, N, C), clipped to 0 to 1.

    A grid smaller than the window is one window; the windows that a border cuts are left out, so a
    cell is the mean of the one to window^2 proposals that hold it.
    """
    low, squares = cell_means(picture, size), cell_means(picture * picture, size)
    window = min(window, size)
    mean = _window_means(low, window)
    low_variance = _window_means(low * low, window) - mean * mean
    high_variance = np.maximum(_window_means(squares, window) - mean * mean, 0)
    scaled = low_variance > epsilon
    ratio = np.sqrt(high_variance / np.where(scaled, low_variance, 1)) * scaled
    total, proposals = np.zeros_like(low), np.zeros((size, size, 1))
    places = len(mean)
    for down in range(window):
        for across in range(window):
            cells = (slice(down, down + places), slice(across, across + places))
            total[cells] += mean + ratio * (low[cells] - mean)
            proposals[cells] += 1
    return np.clip(total / proposals, 0, 1)


def _window_means(cells: np.ndarray, window: int) -> np.ndarray:
    """Return the mean of every whole window, (N - window + 1, N - window + 1, C)."""
    places = len(cells) - window + 1
    total = np.zeros((places, places, cells.shape[2]))
    for down in range(window):
        for across in range(window):
            total += cells[down : down + places, across : across + places]
    return total / window**2
