"""What `gensight extract --output` writes: a map or mask as it is, places drawn on the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np

from gensight import images
from gensight.extractors import Answer, Reading

RING_RADIUS_PX = 10
MARK_COLOUR, MARK_EDGE = (0, 255, 0), (0, 0, 0)
# The dark edge first, the bright line on it, so that a mark shows on anything.
STROKES = ((MARK_EDGE, 4), (MARK_COLOUR, 2))
# Columns that hold pictures: written by --output, never printed.
PICTURES = ("grey", "normals")


def drawing(reading: Reading, answer: Answer) -> bytes:
    """Return what was read as PNG.

    Grey maps, normals and masks (0 and 255) are at the returned size; dots and keypoints are ringed
    and boxes outlined on the answer at the work size.
    """
    for column in PICTURES:
        if column in reading.fields:
            return reading.fields[column]["bytes"]
    if "mask" in reading.fields:
        return images.encode_png(images.decode_mask(reading.fields["mask"]).astype("uint8") * 255)
    if "boxes" in reading.fields:
        return _marked(reading, answer, _outline, reading.fields["boxes"])
    places = reading.fields.get("keypoints", reading.fields.get("points"))
    return _marked(reading, answer, _ring, places)


def _marked(
    reading: Reading,
    answer: Answer,
    mark: Callable[[np.ndarray, Mapping[str, float]], None],
    places: list[dict[str, Any]],
) -> bytes:
    white = (255, 255, 255)
    behind = white if answer.source is None else images.decode_rgb(answer.source, matte=white)
    rgb = images.decode_rgb(answer.image, matte=behind)
    size = reading.fields["work_width"], reading.fields["work_height"]
    canvas = images.resize_picture(rgb, *size).copy()
    for place in places:
        mark(canvas, place)
    return images.encode_png(canvas)


def _ring(canvas: np.ndarray, place: Mapping[str, float]) -> None:
    centre = round(place["x"]), round(place["y"])
    for colour, thickness in STROKES:
        cv2.circle(canvas, centre, RING_RADIUS_PX, colour, thickness, cv2.LINE_AA)


def _outline(canvas: np.ndarray, box: Mapping[str, float]) -> None:
    # An edge lies half a pixel before the middle of its pixel.
    first = round(box["left"] - 0.5), round(box["top"] - 0.5)
    last = round(box["right"] - 0.5), round(box["bottom"] - 0.5)
    for colour, thickness in STROKES:
        cv2.rectangle(canvas, first, last, colour, thickness)
