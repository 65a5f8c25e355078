"""Marks in declared colours: the colour isolation of the dot decoder, for any saturated colour.

ProbeGen 3.4 (i) isolates red by two hue ranges of ten steps around the wrap, a saturation floor and
a value floor. The same reach around any other hue is assumed here. Where the ranges of two declared
colours meet, a pixel belongs to the nearer colour (in RGB; the first of equals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from gensight.errors import SpecError

COLOUR_DEFAULTS: dict[str, Any] = {
    "saturation_floor": 160,
    "assumed_value_floor": 100,
    # In OpenCV's steps of two degrees, on either side, both ends included.
    "assumed_hue_reach": 10,
    "assumed_diff_threshold": 30,
}
HUES = 180


def colour_masks(
    rgb: np.ndarray, colours: Sequence[Sequence[int]], settings: Mapping[str, Any]
) -> list[np.ndarray]:
    """Return, for each declared RGB colour, 255 where a uint8 RGB (H, W, 3) pixel has it, else 0.

    Raises:
        SpecError: a colour is no colour, occurs twice, or is too pale or too dark to be isolated.
    """
    hues = [_hue(colour, settings) for colour in colours]
    if len({tuple(colour) for colour in colours}) < len(colours):
        raise SpecError(f"colours {list(map(list, colours))}: one of them occurs twice")
    hsv = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
    masks = [_within_reach(hsv, hue, settings) for hue in hues]
    return masks if len(masks) == 1 else _nearest(rgb, colours, masks)


def check_colour(colour: Any) -> None:
    """Raise SpecError where this is not a list of red, green and blue from 0 to 255."""
    is_list = isinstance(colour, list | tuple) and len(colour) == 3
    if not is_list or not all(type(level) is int and 0 <= level <= 255 for level in colour):
        raise SpecError(f"colour {colour!r}: expected [red, green, blue] from 0 to 255")


def _hue(colour: Sequence[int], settings: Mapping[str, Any]) -> int:
    check_colour(colour)
    pixel = np.array([[colour]], np.uint8)
    hue, saturation, value = cv2.cvtColor(pixel, cv2.COLOR_RGB2HSV)[0, 0].tolist()
    if saturation < settings["saturation_floor"] or value < settings["assumed_value_floor"]:
        raise SpecError(
            f"colour {list(colour)}: too pale or too dark to be told from a picture; "
            "declare a saturated one"
        )
    return hue


def _within_reach(hsv: np.ndarray, hue: int, settings: Mapping[str, Any]) -> np.ndarray:
    """Return 255 within reach of a hue, on both sides of the wrap where it crosses that."""
    floors = settings["saturation_floor"], settings["assumed_value_floor"]
    low, high = hue - settings["assumed_hue_reach"], hue + settings["assumed_hue_reach"]
    found = cv2.inRange(hsv, (max(low, 0), *floors), (min(high, HUES - 1), 255, 255))
    if low < 0:
        found |= cv2.inRange(hsv, (low + HUES, *floors), (HUES - 1, 255, 255))
    if high >= HUES:
        found |= cv2.inRange(hsv, (0, *floors), (high - HUES, 255, 255))
    return found


def _nearest(
    rgb: np.ndarray, colours: Sequence[Sequence[int]], masks: list[np.ndarray]
) -> list[np.ndarray]:
    """Give every pixel to the nearest of the colours within whose reach it lies."""
    rows, columns = np.nonzero(np.any(masks, axis=0))
    pixels = rgb[rows, columns].astype(np.int64)
    far = 3 * 256**2
    distances = [
        np.where(mask[rows, columns] > 0, ((pixels - colour) ** 2).sum(axis=1), far)
        for colour, mask in zip(np.array(colours, np.int64), masks, strict=True)
    ]
    owner = np.argmin(distances, axis=0)
    owned = []
    for index in range(len(colours)):
        mask = np.zeros(rgb.shape[:2], np.uint8)
        mask[rows[owner == index], columns[owner == index]] = 255
        owned.append(mask)
    return owned
