"""A twin of RefCOCO, RefCOCO+ and RefCOCOg: refs(...).p, instances.json and train2014 pictures.

Every split of every variant holds all the scenes; a reference has the scene's query and a shorter
form of it as sentences. Targets become polygons along pixel edges: holes are filled. As in COCO,
every picture also has a crowd in run lengths, which no sentence names.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gensight import atomic
from gensight.datasets._refcoco_splits import FOLDERS, SPLITS
from gensight.images.run_lengths import runs_of
from gensight.records import Sample
from gensight.twins._scene_pictures import ScenePicture, edge_polygons, mark_twin, scene_pictures

IMAGE_FOLDER = "train2014"
# As the originals, which Python 2 wrote.
PICKLE_PROTOCOL = 2
CATEGORY = {"id": 1, "name": "object", "supercategory": "object"}
# Annotations of a picture are numbered from 0; the crowd has the last number.
CROWD_INDEX = 9
CROWD_HEIGHT_SHARE = 1 / 12


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write the twin of all three variants below `root`.

    Raises:
        GensightError: a scene is no segmentation sample, or there is none.
    """
    pictures = scene_pictures(scenes)
    for picture in pictures:
        atomic.write_bytes(root / IMAGE_FOLDER / _file_name(picture), picture.jpeg)
    instances = json.dumps(_instances(pictures))
    for variant, folder in FOLDERS.items():
        atomic.write_text(root / folder / "instances.json", instances)
        for name, maker in SPLITS:
            if name == variant:
                path = root / folder / f"refs({maker}).p"
                refs = _references(pictures, SPLITS[name, maker])
                atomic.write_bytes(path, pickle.dumps(refs, protocol=PICKLE_PROTOCOL))
    mark_twin(root)


def _image_id(picture: ScenePicture) -> int:
    return 1000 + picture.number


def _annotation_id(picture: ScenePicture, index: int) -> int:
    return 10 * _image_id(picture) + index


def _file_name(picture: ScenePicture) -> str:
    return f"COCO_train2014_{_image_id(picture):012d}.jpg"


def _instances(pictures: Sequence[ScenePicture]) -> dict[str, Any]:
    images = [
        {
            "id": _image_id(picture),
            "file_name": _file_name(picture),
            "width": picture.width,
            "height": picture.height,
            "license": 1,
        }
        for picture in pictures
    ]
    annotations = [one for picture in pictures for one in _annotations(picture)]
    return {
        "info": {"description": "synthetic twin"},
        "licenses": [{"id": 1, "name": "Apache-2.0"}],
        "images": images,
        "annotations": annotations,
        "categories": [CATEGORY],
    }


def _annotations(picture: ScenePicture) -> list[dict[str, Any]]:
    found = [_annotation(picture, index, mask) for index, (_, mask) in enumerate(picture.targets())]
    crowd = np.zeros((picture.height, picture.width), np.bool_)
    crowd[-max(1, round(CROWD_HEIGHT_SHARE * picture.height)) :] = True
    runs = {"size": list(crowd.shape), "counts": runs_of(crowd).tolist()}
    coded = {"iscrowd": 1, "segmentation": runs}
    return [*found, _annotation(picture, CROWD_INDEX, crowd) | coded]


def _annotation(picture: ScenePicture, index: int, mask: np.ndarray) -> dict[str, Any]:
    rows, columns = np.nonzero(mask)
    left, top = int(columns.min()), int(rows.min())
    return {
        "id": _annotation_id(picture, index),
        "image_id": _image_id(picture),
        "category_id": CATEGORY["id"],
        "iscrowd": 0,
        "area": int(mask.sum()),
        "bbox": [left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top],
        "segmentation": edge_polygons(mask),
    }


def _references(pictures: Sequence[ScenePicture], splits: Sequence[str]) -> list[dict[str, Any]]:
    """Return one reference for every sample in every split; `test` may be made of its parts."""
    parts = [split for split in splits if split != "test" or "testA" not in splits]
    references: list[dict[str, Any]] = []
    for split in parts:
        for picture in pictures:
            for index, sample in enumerate(picture.samples):
                reference_id = len(references)
                sentences = _sentences(str(sample.query), 2 * reference_id)
                stem = Path(_file_name(picture)).stem
                references.append(
                    {
                        "ref_id": reference_id,
                        "ann_id": _annotation_id(picture, index),
                        "image_id": _image_id(picture),
                        "category_id": CATEGORY["id"],
                        # The originals name no file either: their suffix counts annotations.
                        "file_name": f"{stem}_{index}.jpg",
                        "split": split,
                        "sent_ids": [sentence["sent_id"] for sentence in sentences],
                        "sentences": sentences,
                    }
                )
    return references


def _sentences(query: str, first_id: int) -> list[dict[str, Any]]:
    return [
        {
            "sent_id": first_id + place,
            "raw": text.capitalize(),
            "sent": text,
            "tokens": text.split(),
        }
        for place, text in enumerate((query, query.removeprefix("the ")))
    ]
