"""The part of a picture that each cell of a grid stands for: its means, its centre, its pixels.

A grid of N x N divides the whole picture evenly, so a cell of a W x H picture is W/N x H/N pixels,
whole or not; a pixel that a border cuts counts with the area on each side.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gensight.images import resize_labels


def check_source(rgb: np.ndarray, size: int) -> None:
    """Refuse what is no uint8 (H, W, 3) picture, and a grid without cells, as a ValueError."""
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.size == 0:
        raise ValueError(f"a source is uint8 (H, W, 3), not {rgb.dtype} {rgb.shape}")
    if size < 1:
        raise ValueError(f"a grid has 1 or more cells a side, not {size}")


def cell_centres(array: np.ndarray, size: int) -> np.ndarray:
    """Return the (N, N, ...) values at the cells' centres: pixel floor((i + 1/2) side / N)."""
    return resize_labels(array, size, size)


def cell_means(array: np.ndarray, size: int) -> np.ndarray:
    """Return the mean over every cell of float (H, W, C), as float64 (N, N, C)."""
    rows = _bands(array.astype(np.float64), size)
    return np.ascontiguousarray(_bands(rows.swapaxes(0, 1), size).swapaxes(0, 1))


def cell_rows(array: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pixels of each row of cells, float64 (N, P, C), and their areas, (N, P).

    P is the number of pixels that the widest cell of the row touches; where a cell touches fewer,
    the rest have area 0.
    """
    rows, row_areas = _taps(array.shape[0], size)
    columns, column_areas = _taps(array.shape[1], size)
    for taps, areas in zip(rows, row_areas, strict=True):
        pixels = array[taps[None, :, None], columns[:, None, :]].astype(np.float64)
        covered = areas[None, :, None] * column_areas[:, None, :]
        yield pixels.reshape(size, -1, array.shape[2]), covered.reshape(size, -1)


def _bands(array: np.ndarray, size: int) -> np.ndarray:
    """Return the means of N even bands of the first axis."""
    taps, areas = _taps(len(array), size)
    weights = areas / areas.sum(axis=1, keepdims=True)
    total = np.zeros((size, *array.shape[1:]))
    for tap in range(taps.shape[1]):
        total += array[taps[:, tap]] * weights[:, tap].reshape(-1, *[1] * (array.ndim - 1))
    return total


def _taps(length: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each of N bands the places it touches, (N, K), and how much of each, in 1/N."""
    starts = np.arange(size, dtype=np.int64) * length
    first = starts // size
    last = (starts + length - 1) // size
    taps = first[:, None] + np.arange(int((last - first).max()) + 1)
    # In whole numbers of 1/N px, so that a cell that ends on a border touches nothing beyond it.
    below = np.maximum(taps * size, starts[:, None])
    above = np.minimum((taps + 1) * size, starts[:, None] + length)
    return np.minimum(taps, length - 1), np.maximum(above - below, 0).astype(np.float64)
