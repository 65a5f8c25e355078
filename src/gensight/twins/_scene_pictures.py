"""Scenes as the writers of segmentation twins need them: one entry for each picture.

Two samples of the built-in scenes share a picture and differ in query and target. Data sets store
photographs as JPEG, so a twin's pictures are JPEG too; masks are exact until a format demands
polygons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from gensight import atomic
from gensight.datasets._disk import TWIN_MARK
from gensight.errors import GensightError
from gensight.images import decode_mask, decode_rgb, encode_jpeg
from gensight.records import Sample

JPEG_QUALITY = 95
MARK_TEXT = "A synthetic twin made by gensight: built-in scenes in the format of a data set.\n"


@dataclass(frozen=True)
class ScenePicture:
    """A picture of the scenes, and the samples that ask about it."""

    number: int
    jpeg: bytes
    width: int
    height: int
    samples: tuple[Sample, ...]

    def targets(self) -> list[tuple[Sample, np.ndarray]]:
        """Return each sample with its target as bool (H, W)."""
        return [(sample, decode_mask(sample.target_mask)) for sample in self.samples]


def scene_pictures(scenes: Sequence[Sample]) -> list[ScenePicture]:
    """Return the pictures of segmentation samples, in the order in which they come first.

    Raises:
        GensightError: a sample is none of segmentation, or there is none.
    """
    by_picture: dict[bytes, list[Sample]] = {}
    for sample in scenes:
        if sample.target_mask is None or sample.query is None:
            raise GensightError(f"{sample.sample_id}: a twin needs samples of task segmentation")
        by_picture.setdefault(sample.image["bytes"], []).append(sample)
    if not by_picture:
        raise GensightError("a twin needs at least one scene")
    return [
        _picture(number, data, samples) for number, (data, samples) in enumerate(by_picture.items())
    ]


def _picture(number: int, data: bytes, samples: Sequence[Sample]) -> ScenePicture:
    pixels = decode_rgb(data, matte=(255, 255, 255), orient=False)
    height, width = pixels.shape[:2]
    jpeg = encode_jpeg(pixels, quality=JPEG_QUALITY)
    return ScenePicture(number, jpeg, width, height, tuple(samples))


def mark_twin(root: Path) -> None:
    """Write the file by which a folder is known for a twin."""
    atomic.write_text(root / TWIN_MARK, MARK_TEXT)


def centre_contours(mask: np.ndarray) -> list[np.ndarray]:
    """Return the outer contours of a bool mask through its border pixels, int32 (N, 2) each.

    OpenCV paints them back exactly, but for holes, which are filled.
    """
    contours, _ = cv2.findContours(
        mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE
    )
    return [contour[:, 0, :] for contour in contours]


def edge_polygons(mask: np.ndarray) -> list[list[float]]:
    """Return the outer contours of a bool mask along the outer edges of its border pixels.

    COCO's rasteriser paints a polygon's inside, so a contour through the border pixels would lose
    them. A mask of doubled size has its border half a pixel further out: rounded up, that is the
    edge. What is lost is holes, which are filled, and a pixel at some corners.
    """
    doubled = np.repeat(np.repeat(mask, 2, axis=0), 2, axis=1)
    polygons = [(contour + 1) // 2 for contour in centre_contours(doubled)]
    return [polygon.astype(float).ravel().tolist() for polygon in polygons if len(polygon) > 2]
