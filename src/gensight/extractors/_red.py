"""The masks that dot decoders start from: red, widely red, changed against the input."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import cv2
import numpy as np

from gensight.extractors._pair import changed_pixels

RED_DEFAULTS: dict[str, Any] = {
    "saturation_floor": 160,
    # Hue runs over 0..179 (OpenCV); the two ranges straddle the wrap.
    "assumed_hue_low_min": 0,
    "assumed_hue_low_max": 10,
    "assumed_hue_high_min": 170,
    "assumed_hue_high_max": 179,
    "assumed_value_floor": 100,
    "assumed_diff_threshold": 30,
    # `wide` in the paper's name of a decoder: paler, and half as much hue again on either side.
    "assumed_wide_saturation_floor": 100,
    "assumed_wide_hue_low_max": 15,
    "assumed_wide_hue_high_min": 165,
}
_RED = (
    "saturation_floor",
    "assumed_value_floor",
    "assumed_hue_low_min",
    "assumed_hue_low_max",
    "assumed_hue_high_min",
    "assumed_hue_high_max",
)


def red_pixels(rgb: np.ndarray, settings: Mapping[str, Any]) -> np.ndarray:
    """Return 255 where a uint8 RGB (H, W, 3) pixel is saturated red, else 0, as uint8 (H, W)."""
    return _red_of(cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV), settings)


class Marks:
    """The masks of one answer at the work size, uint8 (H, W) of 0 and 255, each computed once.

    `source` may be None where no decoder asks for a gated mask.
    """

    def __init__(self, marked: np.ndarray, source: np.ndarray | None) -> None:
        self.marked = marked
        self.source = source
        self._kept: dict[tuple[Any, ...], np.ndarray] = {}

    def red(self, settings: Mapping[str, Any]) -> np.ndarray:
        """Return the saturated red pixels."""
        key = tuple(settings[name] for name in _RED)
        if key not in self._kept:
            self._kept[key] = _red_of(self._hsv, settings)
        return self._kept[key]

    def widely_red(self, settings: Mapping[str, Any]) -> np.ndarray:
        """Return the red pixels by the wide limits."""
        wide = {
            "saturation_floor": settings["assumed_wide_saturation_floor"],
            "assumed_hue_low_max": settings["assumed_wide_hue_low_max"],
            "assumed_hue_high_min": settings["assumed_wide_hue_high_min"],
        }
        return self.red({**settings, **wide})

    def gated(self, settings: Mapping[str, Any]) -> np.ndarray:
        """Return the saturated red pixels that changed against the input."""
        return cv2.bitwise_and(self.red(settings), self._changed(settings))

    def _changed(self, settings: Mapping[str, Any]) -> np.ndarray:
        key = ("changed", settings["assumed_diff_threshold"])
        if key not in self._kept:
            self._kept[key] = changed_pixels(self.marked, self.source, settings)
        return self._kept[key]

    @cached_property
    def _hsv(self) -> np.ndarray:
        return cv2.cvtColor(self.marked, cv2.COLOR_RGB2HSV)


def _red_of(hsv: np.ndarray, settings: Mapping[str, Any]) -> np.ndarray:
    floors = settings["saturation_floor"], settings["assumed_value_floor"]
    ranges = [
        (settings["assumed_hue_low_min"], settings["assumed_hue_low_max"]),
        (settings["assumed_hue_high_min"], settings["assumed_hue_high_max"]),
    ]
    low, high = (cv2.inRange(hsv, (start, *floors), (end, 255, 255)) for start, end in ranges)
    return cv2.bitwise_or(low, high)
