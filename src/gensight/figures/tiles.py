"""The pictures of one answer: input, raw output, what was extracted, and the truth.

Masks, dots, boxes and keypoints lie over the input, so that a shifted answer is seen as shifted. A
tile whose picture is missing says why in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from gensight import images
from gensight.errors import ImageError
from gensight.figures import pictures
from gensight.figures.items import NO_PICTURE, NO_TRUTH, NOT_IN_ARCHIVE, GalleryItem, Tile, unread
from gensight.figures.map_tiles import depth_tiles, normals_tiles
from gensight.truths import true_count

# Where an answer lies on the input, the input shows through what it leaves transparent.
_DRAWN_ON_INPUT = ("counting", "detection", "keypoints")


def row_tiles(task: str, item: GalleryItem) -> list[Tile]:
    """Return the four tiles of an answer: input, raw output, extracted, truth."""
    source = source_picture(item)
    extracted, truth = _TASKS[task](item, source)
    return [
        Tile(source, item.query),
        output_tile(task, item, source),
        extracted,
        truth,
    ]


def source_picture(item: GalleryItem) -> np.ndarray:
    """Return the input at the size of a tile."""
    white = (255, 255, 255)
    return pictures.shrunk(
        images.decode_rgb(item.input_png, matte=white, orient=item.orient_source)
    )


def output_tile(task: str, item: GalleryItem, source: np.ndarray) -> Tile:
    """Return the picture as it was returned."""
    if item.output is None:
        silent = item.extracted is not None and item.extracted.status == "no_output"
        return Tile(None, NO_PICTURE if silent else NOT_IN_ARCHIVE)
    try:
        matte = source if task in _DRAWN_ON_INPUT else (0, 0, 0)
        picture = images.decode_rgb(item.output, matte=matte)
    except ImageError as error:
        return Tile(None, f"unreadable: {error}")
    height, width = picture.shape[:2]
    return Tile(pictures.shrunk(picture), f"{width} × {height}")


def _segmentation(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = unread(item, "mask")
    if extracted is None:
        extracted = _mask_tile(source, item.extracted.mask)
    if item.truth.target_mask is None:
        return extracted, Tile(None, NO_TRUTH)
    return extracted, _mask_tile(source, item.truth.target_mask)


def _mask_tile(source: np.ndarray, encoded: dict[str, Any]) -> Tile:
    mask = images.decode_mask(encoded)
    return Tile(pictures.tinted(source, mask), f"{100 * mask.mean():.1f} % of the picture")


def _work_size(item: GalleryItem) -> tuple[int, int]:
    return item.extracted.work_width or 1, item.extracted.work_height or 1


def _true_size(item: GalleryItem) -> tuple[int, int]:
    return item.truth.width, item.truth.height


def _counting(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = unread(item, "count")
    if extracted is None:
        answer = item.extracted
        extracted = _dots_tile(source, answer.points or [], _work_size(item), answer.count)
    count = true_count(item.truth)
    if count is None:
        return extracted, Tile(None, NO_TRUTH)
    points = item.truth.target_points or []
    return extracted, _dots_tile(source, points, _true_size(item), count)


def _dots_tile(
    source: np.ndarray, points: list[dict[str, float]], size: tuple[int, int], count: int
) -> Tile:
    """Draw points, given in pixels of a picture of this size (width, height), over the input."""
    picture = pictures.pale(source)
    pictures.draw_dots(picture, pictures.places(points, size, picture))
    return Tile(picture, _number(count, "dot"))


def _keypoints(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = unread(item, "keypoints")
    if extracted is None:
        found = item.extracted.keypoints
        extracted = _dots_tile(source, found, _work_size(item), len(found))
    if item.truth.target_keypoints is None:
        return extracted, Tile(None, NO_TRUTH)
    points = item.truth.target_keypoints
    return extracted, _dots_tile(source, points, _true_size(item), len(points))


def _detection(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = unread(item, "boxes")
    if extracted is None:
        extracted = _boxes_tile(source, item.extracted.boxes, _work_size(item))
    if item.truth.target_boxes is None:
        return extracted, Tile(None, NO_TRUTH)
    return extracted, _boxes_tile(source, item.truth.target_boxes, _true_size(item))


def _boxes_tile(source: np.ndarray, boxes: list[dict[str, float]], size: tuple[int, int]) -> Tile:
    picture = pictures.pale(source)
    across, down = picture.shape[1] / size[0], picture.shape[0] / size[1]
    for box in boxes:
        # Edges, the far ones exclusive, become the outermost pixels inside them.
        first = (round(box["left"] * across), round(box["top"] * down))
        last = (round(box["right"] * across) - 1, round(box["bottom"] * down) - 1)
        cv2.rectangle(picture, first, last, pictures.VERMILION, 2)
    return Tile(picture, _number(len(boxes), "box", "es"))


def _reading(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = unread(item, "text")
    if extracted is None:
        extracted = Tile(None, f"“{item.extracted.text}”")
    truth = item.truth.target_text
    return extracted, Tile(None, NO_TRUTH if truth is None else f"“{truth}”")


def _number(count: int, noun: str, plural: str = "s") -> str:
    return f"{count} {noun}{'' if count == 1 else plural}"


_TASKS: dict[str, Callable[[GalleryItem, np.ndarray], tuple[Tile, Tile]]] = {
    "segmentation": _segmentation,
    "depth": lambda item, _: depth_tiles(item),
    "counting": _counting,
    "normals": lambda item, _: normals_tiles(item),
    "detection": _detection,
    "keypoints": _keypoints,
    "reading": _reading,
}
