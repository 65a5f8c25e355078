"""The input redrawn in a style: the scene stays in place, its look does not.

The severity runs from a barely visible 0.1 to the full style at 1.
"""

from __future__ import annotations

import cv2
import numpy as np

from failure_operators.shots import Operator, Shot, blend, luminance

ALL = ("segmentation", "depth", "counting")
# Pictures that are flat already, in which such a filter finds nothing to do.
FLAT = ("room_flat", "crowd_flat", "room_line")
STRENGTHS = (0.1, 0.3, 0.5, 0.75, 1.0)


def cartoon(shot: Shot) -> np.ndarray:
    """Few flat colours under dark outlines."""
    smooth = cv2.bilateralFilter(shot.rgb, 9, 60, 7)
    smooth = cv2.bilateralFilter(smooth, 9, 60, 7)
    flat = (smooth // 40) * 40 + 20
    edges = cv2.adaptiveThreshold(
        cv2.medianBlur(luminance(shot.rgb), 5),
        255,
        cv2.ADAPTIVE_THRESH_MEAN_C,
        cv2.THRESH_BINARY,
        11,
        4,
    )
    return blend(shot.rgb, flat * (edges[..., None] > 0), shot.severity)


def oil_painting(shot: Shot) -> np.ndarray:
    """Blots of one colour, larger with the severity, and stronger colours."""
    size = 2 * round(1 + 6 * shot.severity) + 1
    blots = cv2.medianBlur(shot.rgb, size).astype(np.float32) / 255.0
    hsv = cv2.cvtColor(blots, cv2.COLOR_RGB2HSV)
    hsv[..., 1] = np.clip(hsv[..., 1] * (1.0 + 0.6 * shot.severity), 0.0, 1.0)
    return blend(
        shot.rgb, 255.0 * cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB), min(1.0, 2 * shot.severity)
    )


def halftone(shot: Shot) -> np.ndarray:
    """Black dots on paper, larger where the input is darker."""
    height, width = shot.source.size
    rows, columns = np.indices((height, width))
    screen = np.cos(2 * np.pi * (rows + columns) / 9) + np.cos(2 * np.pi * (rows - columns) / 9)
    printed = np.where(luminance(shot.rgb) / 127.5 - 1.0 > 0.5 * screen, 245, 25)
    return blend(shot.rgb, np.repeat(printed[..., None], 3, axis=2), shot.severity)


def cv_stylization(shot: Shot) -> np.ndarray:
    """OpenCV's watercolour look, at half the size to save time."""
    height, width = shot.source.size
    half = cv2.resize(shot.rgb, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    drawn = cv2.stylization(half, sigma_s=40.0, sigma_r=0.15 + 0.45 * shot.severity)
    drawn = cv2.resize(drawn, (width, height), interpolation=cv2.INTER_CUBIC)
    return blend(shot.rgb, drawn, min(1.0, 1.5 * shot.severity))


def pencil_sketch(shot: Shot) -> np.ndarray:
    """OpenCV's pencil drawing, in grey or in colour."""
    grey, coloured = cv2.pencilSketch(shot.rgb, sigma_s=50.0, sigma_r=0.07, shade_factor=0.04)
    drawn = coloured if shot.random.random() < 0.5 else cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB)
    return blend(shot.rgb, drawn, shot.severity)


def edge_preserving(shot: Shot) -> np.ndarray:
    """OpenCV's edge-preserving filter: surfaces without their texture."""
    return cv2.edgePreservingFilter(
        shot.rgb, flags=cv2.RECURS_FILTER, sigma_s=60.0, sigma_r=0.05 + 0.75 * shot.severity
    )


OPERATORS = (
    Operator("cartoon", "A", "stylised", ALL, STRENGTHS, "-", cartoon),
    Operator("oil_painting", "A", "stylised", ALL, STRENGTHS, "-", oil_painting),
    Operator("halftone", "A", "stylised", ALL, STRENGTHS, "-", halftone),
    Operator("cv_stylization", "B", "stylised", ALL, STRENGTHS, "-", cv_stylization, without=FLAT),
    Operator("pencil_sketch", "B", "stylised", ALL, STRENGTHS, "-", pencil_sketch),
    Operator(
        "edge_preserving", "B", "stylised", ALL, STRENGTHS, "-", edge_preserving, without=FLAT
    ),
)
