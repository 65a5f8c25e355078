"""Otsu's cut of a grey map, and the rule where there is nothing to split (PROTOCOLS "Decided")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gensight.extractors._histogram import (
    contrast_of,
    histogram,
    range_of,
    shrunk,
    two_class_threshold,
)

CUT_DEFAULTS: dict[str, Any] = {"flat_threshold": 127, "small_target_percent": 0.05}


class Cut(NamedTuple):
    """The foreground, bool (H, W), the contrast, and whether it was too low for a threshold."""

    foreground: np.ndarray
    spread: float
    degenerate: bool


def otsu_cut(grey: np.ndarray, size: tuple[int, int], settings: Mapping[str, Any]) -> Cut:
    """Cut a grey map (H, W) of 8 or 16 bits in two; without contrast at 8-bit level 127."""
    counts = histogram(grey)
    spread = spread_of(grey, counts, size, settings)
    degenerate = spread < settings["contrast_floor"]
    threshold = two_class_threshold(counts)
    if degenerate:
        threshold = settings["flat_threshold"] * steps_of(grey)
    return Cut(grey > threshold, spread, degenerate)


def spread_of(
    grey: np.ndarray, counts: np.ndarray, size: tuple[int, int], settings: Mapping[str, Any]
) -> float:
    """Return the contrast at work size, in steps of 8-bit grey.

    `counts` is the map's histogram. A target below 1 % of the picture leaves the percentiles equal,
    so where they say too little, the range without the last `small_target_percent` counts.
    """
    is_small = grey.shape[0] <= size[1] and grey.shape[1] <= size[0]
    at_work_size = counts if is_small else histogram(shrunk(grey, size))
    spread = contrast_of(at_work_size, settings)
    if spread < settings["contrast_floor"]:
        tail = settings["small_target_percent"]
        spread = range_of(at_work_size, tail, 100 - tail)
    return spread


def steps_of(grey: np.ndarray) -> int:
    """Return how many levels of a map make one level of 8 bits."""
    return 257 if grey.dtype == np.uint16 else 1
