"""Upright rectangles in a mask of coloured pixels: outlines or filled, told by how they fill a box.

ProbeGen Appendix D asks for a rectangularity test and prints none. Here it is the share of its
tight box that a component covers with its holes filled: 1 for an upright rectangle, whether an
outline or filled, 0.79 for a disc, less for a tilted rectangle or a stroke. Outlines that cross
each other are one component and fail, as dots that touch do: `n_rejected_shape` shows it.

A line has a width: an outline's box runs along the middle of its line (assumed, as a person draws
it on the border), that of a filled rectangle along its border.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import cv2
import numpy as np

RECTANGLE_DEFAULTS: dict[str, Any] = {
    "assumed_min_rectangularity": 0.85,
    "assumed_min_side_px": 8,
    # Closes the small gaps that JPEG and soft strokes leave in a thin line.
    "assumed_closing_px": 3,
    # A component that covers less than this share of its own filled shape is an outline.
    "assumed_max_outline_share": 0.8,
}


class Box(NamedTuple):
    """Edges in px, the far ones exclusive, and the score that orders boxes."""

    left: float
    top: float
    right: float
    bottom: float
    score: float


def drawn_rectangles(
    mask: np.ndarray, settings: Mapping[str, Any]
) -> tuple[list[Box], dict[str, float]]:
    """Return the rectangles of a 0/255 mask (H, W), scored by rectangularity, and what fell out."""
    kernel = np.ones((settings["assumed_closing_px"],) * 2, np.uint8)
    closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, kernel)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(closed)
    found, small = [], 0
    for label in range(1, count):
        left, top, width, height, area = stats[label].tolist()
        if min(width, height) < settings["assumed_min_side_px"]:
            small += 1
            continue
        own = labels[top : top + height, left : left + width] == label
        found.append(_box(own, area, settings, left, top))
    kept = [box for box in found if box.score >= settings["assumed_min_rectangularity"]]
    facts = {
        "n_after_diff": float(count - 1),
        "n_rejected_small": float(small),
        "n_rejected_shape": float(len(found) - len(kept)),
    }
    return kept, facts


def _box(own: np.ndarray, area: int, settings: Mapping[str, Any], left: int, top: int) -> Box:
    """Return the box of one component, given as bool inside its tight box."""
    height, width = own.shape
    filled = _filled_area(own)
    inset = 0.0
    if area < settings["assumed_max_outline_share"] * filled:
        inset = _line_width(width, height, area) / 2
    return Box(
        left + inset,
        top + inset,
        left + width - inset,
        top + height - inset,
        filled / own.size,
    )


def _filled_area(own: np.ndarray) -> int:
    """Count a component's pixels with its holes filled: all but the outside that reaches a side."""
    outside = np.pad(~own, 1, constant_values=True).astype(np.uint8)
    # Four neighbours: through a diagonal of an eight-connected line nothing leaks.
    _, labels = cv2.connectedComponents(outside, connectivity=4)
    return own.size - int(np.count_nonzero(labels[1:-1, 1:-1] == labels[0, 0]))


def _line_width(width: int, height: int, area: int) -> float:
    """Return the width t of a line around a box of this size: area = 2 t (width + height) - 4 t^2.

    A shape that is no such frame has no real solution; then half the shorter side.
    """
    half = width + height
    return (half - math.sqrt(max(half * half - 4 * area, 0))) / 4
