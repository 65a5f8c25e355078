"""Monotone curves from grey levels to a quantity: pool adjacent violators, weighted."""

from __future__ import annotations

import numpy as np

LEVELS = 256


def increasing_fit(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the non-decreasing sequence nearest to `values` in weighted least squares.

    Both (n,), weights positive; n = 0 gives an empty sequence.

    >>> increasing_fit(np.array([1.0, 3.0, 2.0]), np.array([1.0, 1.0, 3.0])).tolist()
    [1.0, 2.25, 2.25]
    """
    means: list[float] = []
    sizes: list[float] = []
    widths: list[int] = []
    for value, size in zip(values.tolist(), weights.tolist(), strict=True):
        mean, total, width = value, size, 1
        while means and means[-1] >= mean:
            before = sizes.pop()
            mean = (mean * total + means.pop() * before) / (total + before)
            total += before
            width += widths.pop()
        means.append(mean)
        sizes.append(total)
        widths.append(width)
    return np.repeat(np.asarray(means, np.float64), np.asarray(widths, np.int64))


def monotone_fit(values: np.ndarray, weights: np.ndarray, *, increasing: bool) -> np.ndarray:
    """Return the nearest non-decreasing or non-increasing sequence."""
    return increasing_fit(values, weights) if increasing else -increasing_fit(-values, weights)


def curves(count: np.ndarray, total: np.ndarray, resolution: float) -> tuple[np.ndarray, float]:
    """Fit a monotone curve to the level means of each half, one direction for both.

    `count` and `total` (2, 256) are pixels and summed quantity of each half and level. Returns the
    curves (2, 256) and their direction: 1 rising, -1 falling, 0 flat, which is when the better
    direction gains less than `resolution`, root mean square. Levels that a half does not hold are
    interpolated; beyond its range the curve is held.
    """
    fits: dict[float, np.ndarray] = {}
    loss: dict[float, float] = {}
    for direction in (1.0, -1.0):
        pair, squared = [], 0.0
        for weights, sums in zip(count, total, strict=True):
            held = np.flatnonzero(weights)
            means = sums[held] / weights[held]
            fitted = monotone_fit(means, weights[held], increasing=direction > 0)
            squared += float((weights[held] * (means - fitted) ** 2).sum())
            pair.append(np.interp(np.arange(LEVELS), held, fitted))
        fits[direction], loss[direction] = np.stack(pair), squared
    if abs(loss[1.0] - loss[-1.0]) < resolution**2 * float(count.sum()):
        return fits[1.0], 0.0
    best = min(loss, key=loss.__getitem__)
    return fits[best], best


def levels(x: np.ndarray) -> np.ndarray:
    """Return levels 0 to 255 in the order of the values: those of an 8-bit picture as they are.

    Up to 256 other values keep a level each; more share levels of about equal counts, so that one
    stray pixel, or a code that crowds at one end, leaves the others apart.
    """
    if x.dtype == np.uint8:
        return x
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    if len(counts) <= LEVELS:
        level = np.arange(len(counts))
    else:
        level = (np.cumsum(counts) - counts) * LEVELS // x.size
    return level.astype(np.uint8)[place].reshape(x.shape)


def halves(shape: tuple[int, int], block_px: int) -> np.ndarray:
    """Return 0 and 1, uint8 (H, W), on a checkerboard of square blocks."""
    rows, columns = ((np.arange(side) // block_px & 1).astype(np.uint8) for side in shape)
    return rows[:, None] ^ columns[None, :]
