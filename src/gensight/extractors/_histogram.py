"""Grey histograms: percentiles, the contrast rule, and the best split into two classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from gensight.images import resize_picture

# cv2.calcHist returns float32, which holds whole numbers exactly up to this.
EXACT_FLOAT32 = 2**24


def histogram(grey: np.ndarray) -> np.ndarray:
    """Return the int64 counts of all 256 (uint8) or 65536 (uint16) levels of a grey picture."""
    if grey.dtype != np.uint8 or grey.size >= EXACT_FLOAT32:
        levels = int(np.iinfo(grey.dtype).max) + 1
        return np.bincount(grey.ravel(), minlength=levels)
    half = len(grey) // 2
    counts = _single_counts(grey[2 * half :])
    if half:
        counts = counts + _pair_counts(grey[:half], grey[half : 2 * half])
    return counts.astype(np.int64)


def _single_counts(grey: np.ndarray) -> np.ndarray:
    if not grey.size:
        return np.zeros(256, np.float32)
    return cv2.calcHist([grey], [0], None, [256], [0, 256]).ravel()


def _pair_counts(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Count the levels of two pictures of one shape by the pairs they form.

    Generated pictures are flat but for a little noise, so neighbours wait for the same few
    counters; pairs from distant places spread over 65536, which is more than twice as fast.
    """
    pairs = cv2.calcHist([first, second], [0, 1], None, [256, 256], [0, 256, 0, 256])
    return pairs.sum(axis=0) + pairs.sum(axis=1)


def percentile(counts: np.ndarray, percent: float) -> int:
    """Return the lowest level at or below which at least `percent` % of the pixels lie."""
    cumulated = np.cumsum(counts)
    return int(np.searchsorted(cumulated, percent / 100 * cumulated[-1], side="left"))


def contrast(grey: np.ndarray, size: tuple[int, int], settings: Mapping[str, Any]) -> float:
    """Return high minus low percentile of grey at the work size, in steps of 8-bit grey."""
    return contrast_of(histogram(shrunk(grey, size)), settings)


def shrunk(grey: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return grey at the work size (width, height), never enlarged.

    Enlarging adds no contrast, and the overshoot of a cubic filter would feign some.
    """
    height, width = grey.shape
    return resize_picture(grey, min(width, size[0]), min(height, size[1]))


def contrast_of(counts: np.ndarray, settings: Mapping[str, Any]) -> float:
    """Return high minus low percentile of a histogram, in steps of 8-bit grey (0 to 255)."""
    low, high = settings["contrast_low_percentile"], settings["contrast_high_percentile"]
    return range_of(counts, low, high)


def range_of(counts: np.ndarray, low: float, high: float) -> float:
    """Return the distance of two percentiles of a histogram, in steps of 8-bit grey (0 to 255)."""
    distance = percentile(counts, high) - percentile(counts, low)
    return distance / ((len(counts) - 1) // 255)


def two_class_threshold(counts: np.ndarray) -> int:
    """Return the level t whose classes {<= t} and {> t} have the largest between-class variance.

    That is Otsu's threshold, and also the exact optimum of one-dimensional 2-means, since the
    variances within and between classes add up to a constant. Ties go to the lowest level; a
    picture of one level has no split and returns that level (nothing lies above it).
    """
    levels = np.arange(len(counts), dtype=np.float64)
    below = np.cumsum(counts).astype(np.float64)
    moment = np.cumsum(counts * levels)
    total = below[-1]
    pairs = below * (total - below)
    spread = (moment[-1] * below - moment * total) ** 2
    if not pairs.any():
        return int(np.flatnonzero(counts)[0])
    return int(np.argmax(np.divide(spread, pairs, out=np.zeros_like(spread), where=pairs > 0)))
