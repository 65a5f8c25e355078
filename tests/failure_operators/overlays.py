"""Something is drawn on the input, or taken out of it, but not what was asked for."""

from __future__ import annotations

import cv2
import numpy as np

from failure_operators.shots import Operator, Shot, blend, target, to_bytes

SEGMENTATION, COUNTING = ("segmentation",), ("counting",)
TARGETED = ("segmentation", "counting")
OPACITIES = (0.08, 0.2, 0.4, 0.6, 0.85)
LINES = (1.0, 2.0, 4.0)


def tint(shot: Shot) -> np.ndarray:
    """The target tinted in red; the severity is the tint's opacity."""
    tinted = blend(shot.rgb, np.broadcast_to([255, 30, 30], shot.rgb.shape), shot.severity)
    return np.where(target(shot)[..., None], tinted, shot.rgb)


def spotlight(shot: Shot) -> np.ndarray:
    """The target tinted in green, the rest dimmed by the severity."""
    tinted = blend(shot.rgb, np.broadcast_to([40, 220, 90], shot.rgb.shape), 0.45)
    dimmed = to_bytes(shot.rgb * (1.0 - shot.severity))
    return np.where(target(shot)[..., None], tinted, dimmed)


def outline_on_black(shot: Shot) -> np.ndarray:
    """The border of the target, white on black; the severity is the line's width in px."""
    return _contours(shot, np.zeros_like(shot.rgb), (255, 255, 255))


def outline_on_input(shot: Shot) -> np.ndarray:
    """The border of the target in a bright colour on the input."""
    return _contours(shot, shot.rgb.copy(), (80, 255, 60))


def cutout_on_black(shot: Shot) -> np.ndarray:
    """The target as it is, the rest black but for the severity's share of it."""
    return np.where(target(shot)[..., None], shot.rgb, to_bytes(shot.severity * shot.rgb))


def cutout_on_white(shot: Shot) -> np.ndarray:
    """The target as it is on paper, the rest faded but for the severity's share of it."""
    faded = blend(np.full_like(shot.rgb, 250), shot.rgb, shot.severity)
    return np.where(target(shot)[..., None], shot.rgb, faded)


def boxes(shot: Shot) -> np.ndarray:
    """A rectangle around every counted thing instead of a dot on it."""
    return _marks(shot, shot.rgb.copy(), "box", (255, 0, 0))


def blue_crosses(shot: Shot) -> np.ndarray:
    """A blue cross on every counted thing."""
    return _marks(shot, shot.rgb.copy(), "cross", (30, 60, 255))


def numbered(shot: Shot) -> np.ndarray:
    """A number on every counted thing."""
    return _marks(shot, shot.rgb.copy(), "number", (255, 240, 0))


def _contours(shot: Shot, picture: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    found, _ = cv2.findContours(
        target(shot).astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE
    )
    return cv2.drawContours(picture, found, -1, colour, round(shot.severity), cv2.LINE_AA)


def _marks(shot: Shot, picture: np.ndarray, kind: str, colour: tuple[int, int, int]) -> np.ndarray:
    """Draw marks; the severity is the width of their lines in px."""
    width_px = round(shot.severity)
    for number, (x, y) in enumerate(shot.truth.round().astype(int).tolist(), start=1):
        if kind == "box":
            cv2.rectangle(picture, (x - 16, y - 16), (x + 16, y + 16), colour, width_px)
        elif kind == "cross":
            cv2.drawMarker(picture, (x, y), colour, cv2.MARKER_TILTED_CROSS, 16, width_px)
        else:
            font = cv2.FONT_HERSHEY_SIMPLEX
            cv2.putText(picture, str(number), (x - 6, y + 6), font, 0.6, colour, width_px)
    return picture


OPERATORS = (
    Operator("tint", "A", "overlay", TARGETED, OPACITIES, "opacity", tint),
    Operator(
        "cutout_on_black", "A", "cutout", TARGETED, (0.0, 0.1, 0.25, 0.4), "-", cutout_on_black
    ),
    Operator("outline_on_black", "A", "outline", SEGMENTATION, LINES, "px", outline_on_black),
    Operator("boxes", "A", "other_format", COUNTING, LINES, "px", boxes),
    Operator("spotlight", "B", "overlay", TARGETED, (0.1, 0.3, 0.6, 0.8), "-", spotlight),
    Operator(
        "cutout_on_white", "B", "cutout", TARGETED, (0.0, 0.1, 0.25, 0.4), "-", cutout_on_white
    ),
    Operator("outline_on_input", "B", "outline", SEGMENTATION, LINES, "px", outline_on_input),
    Operator("blue_crosses", "B", "other_format", COUNTING, LINES, "px", blue_crosses),
    Operator("numbered", "B", "other_format", COUNTING, LINES, "px", numbered),
)
