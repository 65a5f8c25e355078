"""Numbered outlines over a picture: how masks are shown to whoever is to judge them."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

#: Told apart from each other and, with their dark rims, from any picture (RGB).
COLOURS = (
    (255, 64, 64),
    (64, 224, 64),
    (80, 144, 255),
    (255, 208, 0),
    (255, 96, 255),
    (0, 232, 232),
    (255, 144, 32),
    (176, 128, 255),
)
RIM = (0, 0, 0)
#: Widths and heights as shares of the picture's long side, and the least in pixels.
LINE_SHARE, LEAST_LINE_PX = 1 / 400, 2
LETTER_SHARE, LEAST_LETTER_PX = 1 / 45, 9
FONT = cv2.FONT_HERSHEY_SIMPLEX
#: Height of the font's digits at scale 1, in pixels.
DIGIT_PX = 21


def outlined(picture: np.ndarray, masks: Sequence[np.ndarray]) -> np.ndarray:
    """Return a copy of a uint8 (H, W, 3) RGB picture with masks, bool (H, W), outlined over it.

    They are numbered from 1, each number where its mask is widest; an empty mask shows nothing.
    """
    canvas = np.ascontiguousarray(picture).copy()
    line = max(LEAST_LINE_PX, round(max(canvas.shape[:2]) * LINE_SHARE))
    for width, is_rim in ((3 * line, True), (line, False)):
        for place, mask in enumerate(masks):
            found = cv2.findContours(mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
            colour = RIM if is_rim else COLOURS[place % len(COLOURS)]
            cv2.drawContours(canvas, found[0], -1, colour, width)
    # Above all lines, so that every number can be read.
    for place, mask in enumerate(masks):
        if mask.any():
            _number(canvas, place, mask)
    return canvas


def _number(canvas: np.ndarray, place: int, mask: np.ndarray) -> None:
    height, width = canvas.shape[:2]
    letter = max(LEAST_LETTER_PX, round(max(height, width) * LETTER_SHARE))
    scale, thickness = letter / DIGIT_PX, max(1, round(letter / 9))
    text = str(place + 1)
    (wide, high), _ = cv2.getTextSize(text, FONT, scale, thickness)
    pad = max(2, letter // 4)
    x, y = _widest(mask)
    # Moved inwards where it would stand over the edge.
    left = int(np.clip(x - wide // 2, pad, max(pad, width - wide - pad - 1)))
    foot = int(np.clip(y + high // 2, high + pad, max(high + pad, height - pad - 1)))
    corners = (left - pad, foot - high - pad), (left + wide + pad, foot + pad)
    cv2.rectangle(canvas, *corners, RIM, -1)
    cv2.putText(
        canvas, text, (left, foot), FONT, scale, COLOURS[place % len(COLOURS)], thickness,
        cv2.LINE_AA,
    )  # fmt: skip


def _widest(mask: np.ndarray) -> tuple[int, int]:
    """Return the pixel (x, y) of a mask that is farthest from its outside, the edge included."""
    framed = np.pad(mask.astype(np.uint8), 1)
    inside = cv2.distanceTransform(framed, cv2.DIST_L2, 5)[1:-1, 1:-1]
    y, x = np.unravel_index(int(inside.argmax()), inside.shape)
    return int(x), int(y)
