"""A twin of ReasonSeg: <split>/<name>.jpg with <name>.json in its labelme-like form.

Every split holds all the scenes; each query has a picture and an annotation of its own. Reasoning
queries are sentences with a second wording, referring ones are phrases. A corner of the picture is
ignored, and a leftover "flag" of two points must not be painted. Targets become polygons through
their border pixels, which LISA's painting gives back exactly, but for holes, which are filled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gensight import atomic
from gensight.datasets.reasonseg import COUNTS
from gensight.records import Sample
from gensight.twins._scene_pictures import (
    ScenePicture,
    centre_contours,
    mark_twin,
    scene_pictures,
)

# The side of the ignored corner, in shares of the picture's sides.
IGNORED_SHARE = 0.06


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write the twin below `root`.

    Raises:
        GensightError: a scene is no segmentation sample, or there is none.
    """
    for picture in scene_pictures(scenes):
        for index, (sample, mask) in enumerate(picture.targets()):
            name = f"scene_{picture.number:06d}_{index}"
            document = json.dumps(_document(picture, sample, mask, f"{name}.jpg"), indent=2)
            for split in COUNTS:
                atomic.write_bytes(root / split / f"{name}.jpg", picture.jpeg)
                atomic.write_text(root / split / f"{name}.json", document)
    mark_twin(root)


def _document(
    picture: ScenePicture, sample: Sample, mask: np.ndarray, file_name: str
) -> dict[str, Any]:
    is_sentence = sample.query_kind == "reasoning"
    texts = [f"Which pixels show {sample.query}?", f"Find {sample.query}."]
    shapes = [_shape("target", contour, file_name) for contour in centre_contours(mask)]
    corner = _free_corner(picture, mask)
    if corner is not None:
        shapes.append(_shape("ignore", corner, file_name))
    shapes.append(_shape("flag", np.array([[0, 0], [picture.width - 1, 0]]), file_name))
    return {
        "text": texts if is_sentence else [str(sample.query)],
        "is_sentence": is_sentence,
        "shapes": shapes,
    }


def _free_corner(picture: ScenePicture, mask: np.ndarray) -> np.ndarray | None:
    """Return a box in the lower right corner, None where the target reaches into it."""
    width, height = (round(IGNORED_SHARE * side) for side in (picture.width, picture.height))
    left, top = picture.width - width, picture.height - height
    if mask[top:, left:].any():
        return None
    right, bottom = picture.width - 1, picture.height - 1
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def _shape(label: str, points: np.ndarray, file_name: str) -> dict[str, Any]:
    return {
        "label": label,
        "labels": [label],
        "shape_type": "polygon",
        "image_name": file_name,
        "points": points.astype(float).tolist(),
        "group_id": None,
        "group_ids": [None],
        "flags": {},
    }
