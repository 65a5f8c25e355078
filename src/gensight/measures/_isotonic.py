"""The best monotone curve through level means: pool adjacent violators, weighted."""

from __future__ import annotations

import numpy as np


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
