"""One annotation of ReasonSeg: its texts, and its shapes painted as LISA paints them.

Shapes labelled "flag" are dropped (two points, a leftover of the annotation). The others are sorted
by painted area, largest first, and painted in that order, so that a smaller shape lies over a
larger one: 255 where the label contains "ignore", 1 for every other label. A shape is painted by
OpenCV as a closed line and filled, at points cut to whole pixels (LISA, utils/data_processing.py);
that covers the outer border too, unlike COCO's rasteriser. Files that are no UTF-8 are cp1252.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from gensight.datasets._segmentation import read_bytes
from gensight.errors import MissingDataError

TARGET, IGNORED = 1, 255
# Twice any picture's side: a point beyond is a damaged number, and a line to it takes for ever.
FARTHEST_PX = 1 << 17


@dataclass(frozen=True)
class Annotation:
    """The texts that ask for one target, whether they are sentences, and the labelled shapes."""

    path: Path
    texts: tuple[str, ...]
    is_sentence: bool
    shapes: tuple[tuple[str, np.ndarray], ...]

    @property
    def length(self) -> str:
        """Return `long` for sentences, `short` for phrases, as the data set divides them."""
        return "long" if self.is_sentence else "short"


def read_annotation(path: Path) -> Annotation:
    """Return a JSON file of ReasonSeg; one without shapes is legal.

    Raises:
        MissingDataError: the file is missing, no whole JSON, or has no text or no such shapes.
    """
    document = _document(path)
    try:
        if not isinstance(document["text"], list):
            raise ValueError("text is a list of texts")
        texts = tuple(str(text).strip() for text in document["text"])
        shapes = tuple(_shape(shape) for shape in document["shapes"])
        is_sentence = bool(document["is_sentence"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MissingDataError(
            f"{path}: not an annotation of ReasonSeg: text, is_sentence and shapes with label and "
            f"points are needed ({type(error).__name__}: {error})"
        ) from error
    if not texts or not all(texts):
        raise MissingDataError(f"{path}: an annotation without a text asks for nothing")
    return Annotation(path, texts, is_sentence, shapes)


def paint(annotation: Annotation, height: int, width: int) -> np.ndarray:
    """Return uint8 (H, W): 1 target, 255 ignored, 0 elsewhere; all 0 without shapes."""
    painted = np.zeros((height, width), np.uint8)
    kept = [(label, points) for label, points in annotation.shapes if label.lower() != "flag"]
    areas = [_area(points, height, width) for _, points in kept]
    # Equal areas in LISA's order, which reverses a rising sort.
    for place in np.argsort(areas, kind="stable")[::-1]:
        label, points = kept[place]
        _paint(painted, points, IGNORED if "ignore" in label.lower() else TARGET)
    return painted


def _area(points: np.ndarray, height: int, width: int) -> int:
    alone = np.zeros((height, width), np.uint8)
    _paint(alone, points, 1)
    return int(alone.sum())


def _paint(mask: np.ndarray, points: np.ndarray, value: int) -> None:
    cv2.polylines(mask, [points], True, value, 1)
    cv2.fillPoly(mask, [points], value)


def _document(path: Path) -> Mapping[str, Any]:
    data = read_bytes(path)
    try:
        try:
            return json.loads(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            return json.loads(data.decode("cp1252"))
    except (ValueError, RecursionError) as error:
        raise MissingDataError(
            f"{path}: not a whole JSON file ({error}); download it again"
        ) from error


def _shape(shape: Mapping[str, Any]) -> tuple[str, np.ndarray]:
    """Return a shape's label and its points, int32 (N, 2), cut towards zero."""
    points = np.array(shape["points"], np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"points are pairs of numbers, not an array of {points.shape}")
    if np.abs(points).max(initial=0) > FARTHEST_PX:
        raise ValueError(f"a point lies {np.abs(points).max():g} pixels away")
    return str(shape["label"]), points.astype(np.int32)
