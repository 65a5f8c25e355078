"""Manga109: what belongs to a comic page, segmented by class (Xie et al. 2025; COO).

Protocol (ProbeGen table 1, which names neither classes, units nor words). One sample is a double
page and a class annotated on it, the target is the union of the class's instances, clustered by
volume. All six classes are taken (`classes`, assumed) and asked for by `assumed_phrases`; the
stratum is the class, since a "frame" covers most of a page and a sound almost none of it.

Files below `root`: the user's own copy of Manga109's pages in `image_folder` (images/<volume>/
<page>.jpg, by application at manga109.org), and the annotations in `annotations`: jsons/ of
MangaSegmentation (`layout: coco`; CC BY-NC-ND, so nothing made from them may be passed on), or
COO's XML in coo/ (`layout: coo_xml`), which knows drawn sounds only. A page whose size is not the
annotation's is refused by name; `assumed_left_out_volumes` leaves out volumes of which that is
known: users of MangaSegmentation report other page sizes for PrayerHaNemurenai (not seen here,
hence assumed).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gensight.datasets._coco import segmentation_mask
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
from gensight.datasets._manga import Page, annotated, segmentations
from gensight.datasets._segmentation import (
    check_size,
    read_picture,
    segmentation_sample,
)
from gensight.errors import AbsentDataError, MissingDataError, SpecError
from gensight.records import Sample

VERSION = 1
# `classes` is assumed too: the paper names none. An empty `annotations` is the layout's own folder.
DEFAULTS = {
    **DISK_DEFAULTS,
    "layout": "coco",
    "annotations": "",
    "image_folder": "images",
    "classes": ["frame", "text", "onomatopoeia", "body", "face", "balloon"],
    "assumed_phrases": {
        "frame": "all panels of the comic page",
        "text": "all dialogue lettering",
        "onomatopoeia": "all drawn sound effects",
        "body": "the bodies of all characters",
        "face": "the faces of all characters",
        "balloon": "all speech balloons",
    },
    "assumed_left_out_volumes": ["PrayerHaNemurenai"],
}
CHOICES = {
    "layout": ["coco", "coo_xml"],
    "classes": ["frame", "text", "onomatopoeia", "body", "face", "balloon"],
}
# What tables print beside the numbers of a task.
FACTS = {
    "segmentation": "double pages of the user's own copy of Manga109; unit: a page and a class "
    "annotated on it (assumed), all six classes unless the benchmark says otherwise; the target is "
    "the union of the class's instances; no ignored pixels; the volume PrayerHaNemurenai is left "
    "out (assumed); orientation tags not applied",
}
FOLDER = "manga109"
LICENCE = "manga109"
SOURCE = (
    "apply for the pages at manga109.org and put its images/ there, with jsons/ of the data set "
    "MS92/MangaSegmentation on the Hugging Face hub, or the XML files of COO from "
    "github.com/manga109/public-annotations in coo/"
)

ANNOTATION_FOLDERS = {"coco": "jsons", "coo_xml": "coo"}
SUFFIXES = {"coco": "*.json", "coo_xml": "*.xml"}


@dataclass(frozen=True)
class Asked:
    """A class on a page, and the annotation file that has its masks."""

    path: Path
    page: Page
    class_name: str


def list_items(parameters: Parameters) -> list[Item]:
    """Return the samples: every page with each wanted class that is annotated on it.

    Raises:
        SpecError: a class is asked for that the layout does not know, or that has no phrase.
        MissingDataError: a file is missing or damaged, or no file has any of the classes.
    """
    classes = _classes(parameters)
    left_out = _left_out(parameters)
    items = [
        _item(Asked(path, page, name))
        for path in _annotation_files(parameters)
        for page, name in annotated(path)
        if name in classes and page.volume not in left_out
    ]
    if not items:
        raise MissingDataError(
            f"{parameters['root']}: no page has an annotation of {', '.join(classes)}"
        )
    return items


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return one sample; the picture's bytes are the file's.

    Raises:
        MissingDataError: page or mask is missing, damaged, or has another size than annotated.
        ImageError: the page cannot be read.
    """
    asked: Asked = item.place
    page = asked.page
    with item_told(item):
        picture = read_picture(_picture_path(parameters, item))
        check_size(picture, page.width, page.height, f"its entry in {asked.path.name}")
        target = np.zeros((page.height, page.width), np.bool_)
        for segmentation in segmentations(asked.path, page, asked.class_name):
            target |= segmentation_mask(segmentation, page.height, page.width)
        return segmentation_sample(
            item,
            picture,
            target,
            query=parameters["assumed_phrases"][asked.class_name],
            query_kind="class",
            licence=LICENCE,
        )


def expected_count(parameters: Parameters) -> int | None:
    """Return None: how many pages have which class is published nowhere."""
    return None


def _picture_path(parameters: Parameters, item: Item) -> Path:
    return Path(parameters["root"]) / parameters["image_folder"] / item.place.page.file


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items, _picture_path)


def _classes(parameters: Parameters) -> list[str]:
    """Return the wanted classes that the layout knows.

    Raises:
        SpecError: it knows none of them, or one has no phrase.
    """
    known = ("onomatopoeia",) if parameters["layout"] == "coo_xml" else CHOICES["classes"]
    classes = [name for name in parameters["classes"] if name in known]
    if not classes:
        raise SpecError("dataset.parameters.classes: layout coo_xml knows onomatopoeia only")
    for name in classes:
        phrase = parameters["assumed_phrases"].get(name)
        if not isinstance(phrase, str) or not phrase:
            raise SpecError(f"dataset.parameters.assumed_phrases: '{name}' has no phrase; add it")
    return classes


def _left_out(parameters: Parameters) -> set[str]:
    volumes = parameters["assumed_left_out_volumes"]
    wrong = [name for name in volumes if not isinstance(name, str)]
    if wrong:
        raise SpecError(
            f"dataset.parameters.assumed_left_out_volumes: {wrong[0]!r} is no name of a volume"
        )
    return set(volumes)


def _annotation_files(parameters: Parameters) -> list[Path]:
    """Return the annotation files by name: those of a folder, or the one file that is named."""
    layout = parameters["layout"]
    name = parameters["annotations"] or ANNOTATION_FOLDERS[layout]
    place = root_of(parameters, name) / name
    paths = sorted(place.glob(SUFFIXES[layout])) if place.is_dir() else [place]
    if not paths:
        raise AbsentDataError(f"{place} holds no {SUFFIXES[layout]}")
    return paths


def _item(asked: Asked) -> Item:
    page, name = asked.page, asked.class_name
    return Item(f"{page.name}/{name}", page.volume, name, asked)
