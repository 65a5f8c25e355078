"""A twin of Manga109 with MangaSegmentation's annotations: images/ and jsons/ by volume.

A volume has four scenes as pages. The targets of a scene stand for two of the six classes in turn.
Masks are exact: packed run lengths as the data set has them. As there, a volume's file lists the
pages of the volumes before it too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gensight import atomic
from gensight.datasets._manga import CLASSES
from gensight.images import encode_mask
from gensight.records import Sample
from gensight.twins._scene_pictures import ScenePicture, mark_twin, scene_pictures

PAGES = 4


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write the twin below `root`.

    Raises:
        GensightError: a scene is no segmentation sample, or there is none.
    """
    pictures = scene_pictures(scenes)
    for picture in pictures:
        atomic.write_bytes(root / "images" / _file_name(picture), picture.jpeg)
    for first in range(0, len(pictures), PAGES):
        document = {
            "info": {"description": "synthetic twin"},
            "licenses": [{"id": 1, "name": "Apache-2.0"}],
            "images": [_entry(picture) for picture in pictures[: first + PAGES]],
            "annotations": [
                annotation
                for picture in pictures[first : first + PAGES]
                for annotation in _annotations(picture)
            ],
            "categories": [{"id": 1 + place, "name": name} for place, name in enumerate(CLASSES)],
        }
        path = root / "jsons" / f"{_volume(pictures[first])}.json"
        atomic.write_text(path, json.dumps(document))
    mark_twin(root)


def _volume(picture: ScenePicture) -> str:
    return f"TwinVolume{picture.number // PAGES:02d}"


def _file_name(picture: ScenePicture) -> str:
    return f"{_volume(picture)}/{picture.number % PAGES:03d}.jpg"


def _entry(picture: ScenePicture) -> dict[str, Any]:
    return {
        "id": picture.number,
        "file_name": _file_name(picture),
        "width": picture.width,
        "height": picture.height,
    }


def _annotations(picture: ScenePicture) -> list[dict[str, Any]]:
    return [
        {
            "id": 10 * picture.number + index,
            "image_id": picture.number,
            "category_id": 1 + (2 * picture.number + index) % len(CLASSES),
            "iscrowd": 0,
            "area": int(mask.sum()),
            "segmentation": encode_mask(mask),
        }
        for index, (_, mask) in enumerate(picture.targets())
    ]
