"""Right answers that are no longer registered to the input: moved as a whole, or bent.

Lengths are in per cent of the long side. What comes in from outside the frame is black in a mask
and the border repeated elsewhere. For counting the whole marked picture moves.
"""

from __future__ import annotations

import cv2
import numpy as np

from failure_operators.shots import Operator, Shot, smooth_noise

ALL = ("segmentation", "depth", "counting")


def shift(shot: Shot) -> np.ndarray:
    """Moved by the severity in a random direction."""
    angle = shot.random.uniform(0, 2 * np.pi)
    x, y = _length_px(shot) * np.array([np.cos(angle), np.sin(angle)])
    return _affine(shot, np.array([[1.0, 0.0, x], [0.0, 1.0, y]]))


def rotation(shot: Shot) -> np.ndarray:
    """Turned about the centre by the severity in degrees."""
    height, width = shot.source.size
    angle = shot.severity * shot.random.choice([-1.0, 1.0])
    centre = ((width - 1) / 2, (height - 1) / 2)
    return _affine(shot, cv2.getRotationMatrix2D(centre, angle, 1.0))


def crop_resize(shot: Shot) -> np.ndarray:
    """A part of the answer, smaller by the severity in per cent, at a random place, enlarged."""
    height, width = shot.source.size
    factor = 1.0 / (1.0 - shot.severity / 100.0)
    left, top = shot.random.random(2) * (1.0 - 1.0 / factor) * np.array([width, height])
    return _affine(shot, np.array([[factor, 0.0, -left * factor], [0.0, factor, -top * factor]]))


def perspective(shot: Shot) -> np.ndarray:
    """Every corner moved by up to the severity, as if seen from elsewhere."""
    height, width = shot.source.size
    corners = np.array(
        [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], np.float32
    )
    moved = corners + _length_px(shot) * shot.random.uniform(-1, 1, (4, 2)).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    return cv2.warpPerspective(shot.answer, matrix, (width, height), **_border(shot))


def wave(shot: Shot) -> np.ndarray:
    """Rows and columns swing by the severity, about three waves across the picture."""
    height, width = shot.source.size
    rows, columns = np.indices((height, width), dtype=np.float32)
    period, (first, second) = max(height, width) / 3.0, shot.random.uniform(0, 2 * np.pi, 2)
    across = columns + _length_px(shot) * np.sin(2 * np.pi * rows / period + first)
    down = rows + _length_px(shot) * np.sin(2 * np.pi * columns / period + second)
    return _remap(shot, across, down)


def elastic(shot: Shot) -> np.ndarray:
    """Every place moves by up to the severity, neighbours alike."""
    height, width = shot.source.size
    rows, columns = np.indices((height, width), dtype=np.float32)
    field = _length_px(shot) * smooth_noise(shot.random, height, width, 6, 2)
    return _remap(shot, columns + field[..., 0], rows + field[..., 1])


def _length_px(shot: Shot) -> float:
    return shot.severity / 100.0 * max(shot.source.size)


def _border(shot: Shot) -> dict[str, int]:
    is_mask = shot.task == "segmentation"
    return {
        "flags": cv2.INTER_LINEAR,
        "borderMode": cv2.BORDER_CONSTANT if is_mask else cv2.BORDER_REPLICATE,
    }


def _affine(shot: Shot, matrix: np.ndarray) -> np.ndarray:
    height, width = shot.source.size
    return cv2.warpAffine(shot.answer, matrix, (width, height), **_border(shot))


def _remap(shot: Shot, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    border = _border(shot)
    return cv2.remap(
        shot.answer,
        x.astype(np.float32),
        y.astype(np.float32),
        border["flags"],
        borderMode=border["borderMode"],
    )


SHIFTS = (0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 7.0, 10.0)
TURNS = (0.1, 0.3, 0.7, 1.5, 3.0, 5.0)
CROPS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
BENDS = (0.1, 0.3, 0.7, 1.5, 3.0, 5.0)

OPERATORS = (
    Operator("shift", "A", "drift", ALL, SHIFTS, "% of the long side", shift, per_severity=3),
    Operator("wave", "A", "drift_local", ALL, BENDS, "% of the long side", wave),
    Operator("rotation", "B", "drift", ALL, TURNS, "degrees", rotation),
    Operator("crop_resize", "B", "drift", ALL, CROPS, "%", crop_resize),
    Operator("perspective", "B", "drift", ALL, BENDS, "% of the long side", perspective),
    Operator("elastic", "B", "drift_local", ALL, BENDS, "% of the long side", elastic),
)
