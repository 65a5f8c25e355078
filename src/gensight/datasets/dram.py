"""DRAM: everyday things in paintings, segmented by class (Cohen, Newman and Shamir 2022).

Protocol (ProbeGen table 1; the loader of Nadavc220/SemanticSegmentationInArtPaintings). One sample
is a painting and a class that is present in it; the target is all of the class. The paper says
neither which pairs it took nor how it named the classes: every pair is a sample (`assumed_unit:
pair`), clustered by painting; `one_class_per_image` draws one class of each painting by the seed.
The phrase is the class's name ("potted plant" spelled out). The paintings are those of the list
`movement`: by default `dram`, the union of the four movements that the data set was made for.

Labels are PNG files of Pascal VOC's ids, read as stored numbers, never through a palette's colours.
Eleven classes and the background are kept; every other number is ignored and leaves intersection
and union. Classes must be known before samples are drawn, so the labels are read to list them.
`twin_mask` is another class of the painting, where there is one (query sensitivity); `other_masks`
are all its other classes.

Files below `root`: test/<list>.txt, test/<name>.jpg, labels/<name>.png, where each line of a list
is a name of two or three parts (one more for unseen movements). Labels refer to the stored raster:
the benchmark sets `exif: ignore`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gensight.datasets._disk import (
    DISK_DEFAULTS,
    Item,
    Parameters,
    item_told,
    missing_by,
    population_of,
    root_of,
    samples_of,
)
from gensight.datasets._segmentation import (
    read_bytes,
    read_picture,
    segmentation_sample,
    stable_index,
)
from gensight.errors import GensightError, ImageError, MissingDataError
from gensight.images import encode_mask
from gensight.images.masks import _mask_levels as stored_levels
from gensight.records import Sample

VERSION = 1
# `movement` is assumed too: the paper names no list.
DEFAULTS = {**DISK_DEFAULTS, "movement": "dram", "assumed_unit": "pair"}
CHOICES = {
    "movement": [
        "realism",
        "impressionism",
        "post_impressionism",
        "expressionism",
        "dram",
        "unseen",
        "dram_with_unseen",
    ],
    "assumed_unit": ["pair", "one_class_per_image"],
}
# What tables print beside the numbers of a task.
FACTS = {
    "segmentation": "test paintings of the four movements (assumed) unless the benchmark says "
    "otherwise; unit: a painting and a class present in it (assumed), asked for by the class's "
    "name; 11 classes; pixels of any other label leave intersection and union; orientation tags "
    "not applied",
}
FOLDER = "dram"
LICENCE = "dram"
SOURCE = (
    "get DRAM_processed as github.com/Nadavc220/SemanticSegmentationInArtPaintings says and put "
    "test/ and labels/ of its folder DRAM_500 there"
)

BACKGROUND = 0
# Pascal VOC's id of each class, and its name in words.
CLASSES = {
    3: "bird",
    4: "boat",
    5: "bottle",
    8: "cat",
    9: "chair",
    10: "cow",
    12: "dog",
    13: "horse",
    15: "person",
    16: "potted plant",
    17: "sheep",
}


@dataclass(frozen=True)
class Asked:
    """A painting's name, and Pascal VOC's ids of the asked class and of another one present."""

    name: str
    class_id: int | None
    twin_id: int | None = None


def list_items(parameters: Parameters) -> list[Item]:
    """Return the samples of the list: a painting with each class present, or with one of them.

    A painting whose label cannot be read is one sample, which says so when it is read.

    Raises:
        MissingDataError: the list or a folder is missing, or the list is no text.
    """
    seed, items = parameters["seed"], []
    for name in _names(parameters):
        try:
            present = _present(read_label(_label_path(parameters, name)))
        except GensightError:
            items.append(Item(f"{name}/unreadable", name, place=Asked(name, None)))
            continue
        asked = present
        if present and parameters["assumed_unit"] == "one_class_per_image":
            asked = [present[stable_index(len(present), seed, name)]]
        items += [_item(name, class_id, _twin(present, class_id, seed, name)) for class_id in asked]
    return items


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return one sample; the picture's bytes are the file's.

    Raises:
        MissingDataError: painting or label is missing, or they differ in size.
        ImageError: painting or label cannot be read.
    """
    asked: Asked = item.place
    with item_told(item):
        label = read_label(_label_path(parameters, asked.name))
        picture = read_picture(_picture_path(parameters, item))
        if asked.class_id is None:
            raise MissingDataError(f"{asked.name}: the label has changed; draw the samples again")
        sample = segmentation_sample(
            item,
            picture,
            label == asked.class_id,
            twin=None if asked.twin_id is None else label == asked.twin_id,
            ignored=~np.isin(label, [BACKGROUND, *CLASSES]),
            query=CLASSES[asked.class_id],
            query_kind="class",
            licence=LICENCE,
        )
        others = [label == other for other in _present(label) if other != asked.class_id]
        return replace(sample, other_masks=[encode_mask(mask) for mask in others])


def expected_count(parameters: Parameters) -> int | None:
    """Return None: how many pairs the lists hold is published nowhere."""
    return None


def read_label(path: Path) -> np.ndarray:
    """Return the stored numbers of a label PNG as (H, W): grey levels, or a palette's indices.

    Raises:
        MissingDataError: the file is not there.
        ImageError: it cannot be read, or holds colours.
    """
    try:
        return stored_levels(read_bytes(path))
    except ImageError as error:
        raise ImageError(f"{path}: {error}") from error


def _picture_path(parameters: Parameters, item: Item) -> Path:
    return Path(parameters["root"]) / "test" / f"{item.place.name}.jpg"


def _label_path(parameters: Parameters, name: str) -> Path:
    return Path(parameters["root"]) / "labels" / f"{name}.png"


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items, _picture_path)


def _names(parameters: Parameters) -> list[str]:
    """Return the names of the list, each once, in its order."""
    file = f"test/{parameters['movement']}.txt"
    path = root_of(parameters, file, "labels") / file
    try:
        lines = read_bytes(path).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise MissingDataError(f"{path}: the list is no text; download it again") from error
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _present(label: np.ndarray) -> list[int]:
    return [class_id for class_id in np.unique(label).tolist() if class_id in CLASSES]


def _twin(present: list[int], class_id: int, seed: int, name: str) -> int | None:
    """Return another class of the painting, drawn by the seed; None without one."""
    others = [other for other in present if other != class_id]
    return others[stable_index(len(others), seed, name, class_id)] if others else None


def _item(name: str, class_id: int, twin_id: int | None) -> Item:
    class_name = CLASSES[class_id]
    return Item(f"{name}/{class_name}", name, class_name, Asked(name, class_id, twin_id))
