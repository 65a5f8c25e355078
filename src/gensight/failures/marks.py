"""Features of a marked copy: the dots that the answer adds, and what else it changes."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from gensight.extractors import dots
from gensight.failures.pictures import Pair, mean_within
from gensight.failures.tones import largest_channel
from gensight.images import resize_picture

# Around a mark: the window of the similarity, and the soft rim that JPEG widens.
WINDOW_REACH_PX = 7
STROKE_LENGTH_PX, STROKE_ASPECT = 24, 4
SQUARE = np.ones((3, 3), np.uint8)


class _Painted(NamedTuple):
    """Masks of 0 and 255 at the work size: added red, and added marks of any vivid colour."""

    red: np.ndarray
    vivid: np.ndarray


def marks(pair: Pair) -> dict[str, float]:
    """Return the dots, other added marks, and what changed apart from red marks.

    Dots are those of the extractor `dots` at long side 1024. `other_dots` are added dots of other
    vivid colours, `strokes` added vivid components too thin or too large to be dots.
    """
    painted = _painted(pair)
    off = _grown(_on_grid(painted.red, pair.size), WINDOW_REACH_PX) == 0
    n_dots = len(dots.blob_centres(painted.red, dots.DEFAULTS))
    n_vivid = len(dots.blob_centres(painted.vivid, dots.DEFAULTS))
    return {
        "dots": float(n_dots),
        "other_dots": float(max(0, n_vivid - n_dots)),
        "strokes": float(_strokes(painted.vivid, pair.settings["assumed_stroke_solidity"])),
        "marked_share": float(np.count_nonzero(painted.red)) / painted.red.size,
        **_apart(pair, off if off.any() else np.ones_like(off)),
    }


def _painted(pair: Pair) -> _Painted:
    source, answer = (resize_picture(rgb, *pair.work_size) for rgb in pair.originals)
    changed = dots.changed_pixels(answer, source, dots.DEFAULTS)
    red = cv2.bitwise_and(dots.red_pixels(answer, dots.DEFAULTS), changed)
    floors = dots.DEFAULTS["saturation_floor"], dots.DEFAULTS["assumed_value_floor"]
    vivid = cv2.inRange(cv2.cvtColor(answer, cv2.COLOR_RGB2HSV), (0, *floors), (179, 255, 255))
    strongly = {"assumed_diff_threshold": pair.settings["assumed_mark_levels"]}
    return _Painted(red, cv2.bitwise_and(vivid, dots.changed_pixels(answer, source, strongly)))


def _strokes(vivid: np.ndarray, least_solidity: float) -> int:
    """Count components that are too large for a dot, or lines, frames, letters.

    Touching dots fill most of their convex hull (`least_solidity`); drawn strokes do not, or are
    several times as long as wide.
    """
    solid = cv2.morphologyEx(vivid, cv2.MORPH_OPEN, SQUARE)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid)
    found = 0
    for label, (left, top, width, height, area) in enumerate(stats[1:].tolist(), 1):
        if max(width, height) < STROKE_LENGTH_PX:
            continue
        inside = labels[top : top + height, left : left + width] == label
        points = np.argwhere(inside).astype(np.int32)
        hull_area = cv2.contourArea(cv2.convexHull(points))
        sides = sorted(cv2.minAreaRect(points)[1])
        long = sides[1] + 1 >= STROKE_ASPECT * (sides[0] + 1)
        large = area >= dots.DEFAULTS["max_area"]
        found += large or long or area < least_solidity * hull_area
    return found


def _apart(pair: Pair, off: np.ndarray) -> dict[str, float]:
    """Return likeness off the red marks, and what of the rest changed, and how the others fare."""
    difference = largest_channel(cv2.absdiff(pair.source, pair.answer))
    changed = ((difference > pair.settings["assumed_changed_levels"]) & off).astype(np.uint8)
    solid = cv2.morphologyEx(changed, cv2.MORPH_OPEN, SQUARE)
    untouched = off & (_grown(solid, WINDOW_REACH_PX) == 0)
    lab_difference = cv2.absdiff(pair.source_lab, pair.answer_lab)[off]
    return {
        "ssim_off_marks": mean_within(pair.likeness, off),
        "lab_difference_off_marks": float(lab_difference.mean(dtype=np.float64)),
        "changed_share": float(changed.sum()) / int(off.sum()),
        "untouched_share": float(untouched.mean()),
        "ssim_untouched": mean_within(pair.likeness, untouched),
    }


def _on_grid(binary: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return 1 where any pixel of a 0/255 mask falls, uint8 on the grid."""
    return (cv2.resize(binary, size, interpolation=cv2.INTER_AREA) > 0).astype(np.uint8)


def _grown(binary: np.ndarray, reach_px: int) -> np.ndarray:
    return cv2.dilate(binary, np.ones((2 * reach_px + 1,) * 2, np.uint8))
