"""The pages of Manga109 with what is annotated on them, from the two public kinds of annotation.

MangaSegmentation (Xie et al. 2025) has a file in COCO's form for each volume, jsons/<volume>.json.
Its users report that the list of pictures is cumulative: a volume's file also lists pages of the
volumes before it, without annotations of theirs, so pages come from the annotations alone. Masks
are run-length codes; lists of polygons are read as well (`_coco`). COO (CC BY 4.0, in
manga109/public-annotations) has an XML for each volume with a polygon x0, y0, x1, y1, ... of every
drawn sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from gensight.datasets._coco import Instances, read_instances
from gensight.datasets._segmentation import file_state, read_bytes
from gensight.errors import MissingDataError

# In the order of their ids, from 1, in MangaSegmentation.
CLASSES = ("frame", "text", "face", "body", "balloon", "onomatopoeia")
# What the paper calls them, in case a file does too.
OTHER_NAMES = {
    "character body": "body",
    "character face": "face",
    "dialog": "text",
    "text/dialog": "text",
}
CORNER = re.compile(r"[xy]\d+")


@dataclass(frozen=True)
class Page:
    """One double page: its volume, its file below the picture folder, and its annotated size."""

    volume: str
    file: str
    width: int
    height: int

    @property
    def name(self) -> str:
        """The page's name: `<volume>/<stem of its file>`."""
        return f"{self.volume}/{PurePosixPath(self.file).stem}"


Masks = Mapping[Page, Mapping[str, Sequence[Any]]]


def annotated(path: Path) -> Sequence[tuple[Page, str]]:
    """Return the pages of an annotation file with each class that is annotated on them.

    Raises:
        MissingDataError: the file is missing or damaged.
    """
    return _annotated_once(path, file_state(path))


def segmentations(path: Path, page: Page, class_name: str) -> Sequence[Any]:
    """Return the segmentation of every instance of a class on a page.

    Raises:
        MissingDataError: the file is missing, damaged, or no longer has them.
    """
    found = _read_once(path, file_state(path)).get(page, {}).get(class_name)
    if found is None:
        raise MissingDataError(f"{path} has changed; draw the samples again")
    return found


# Pairs are small and a job lists them more than once; the masks of a volume take megabytes, and
# samples come in drawn order anyway.
@lru_cache(maxsize=256)
def _annotated_once(path: Path, state: object) -> Sequence[tuple[Page, str]]:
    found = _read_once(path, state)
    return tuple((page, name) for page, by_class in found.items() for name in by_class)


@lru_cache(maxsize=2)
def _read_once(path: Path, state: object) -> Masks:
    found: dict[Page, dict[str, list[Any]]] = {}
    entries = _from_xml(path) if path.suffix == ".xml" else _from_coco(read_instances(path))
    for page, name, segmentation in entries:
        found.setdefault(page, {}).setdefault(name, []).append(segmentation)
    return found


Entry = tuple[Page, str, Any]


def _from_coco(instances: Instances) -> Iterator[Entry]:
    """Yield page, class and segmentation of every annotation of a COCO file."""
    for number, annotation in enumerate(instances.annotations):
        try:
            picture = instances.pictures[int(annotation["image_id"])]
            name = instances.categories[int(annotation["category_id"])].strip().lower()
            page = _page(picture, instances.path.stem)
            yield page, OTHER_NAMES.get(name, name), annotation["segmentation"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MissingDataError(
                f"{instances.path}: annotation {number} is not as shipped "
                f"({type(error).__name__}: {error}); download the file again"
            ) from error


def _page(picture: Mapping[str, Any], volume: str) -> Page:
    """Return the page of a picture entry; its file lies in the folder of its volume."""
    parts = PurePosixPath(str(picture["file_name"])).parts
    folder = parts[-2] if len(parts) > 1 else volume
    return Page(folder, f"{folder}/{parts[-1]}", int(picture["width"]), int(picture["height"]))


def _from_xml(path: Path) -> Iterator[Entry]:
    """Yield page, class and polygon of every drawn sound of a COO file."""
    try:
        book = ElementTree.fromstring(read_bytes(path))
    except ElementTree.ParseError as error:
        raise MissingDataError(f"{path}: not a whole XML file ({error}); get it again") from error
    volume = book.get("title") or path.stem
    for element in book.iter("page"):
        try:
            file = f"{volume}/{int(element.attrib['index']):03d}.jpg"
            width, height = int(element.attrib["width"]), int(element.attrib["height"])
            for sound in element.iter("onomatopoeia"):
                polygon = _corners(sound.attrib)
                yield Page(volume, file, width, height), "onomatopoeia", [polygon]
        except (KeyError, ValueError) as error:
            raise MissingDataError(
                f"{path}: page {element.get('index')} is not as shipped "
                f"({type(error).__name__}: {error})"
            ) from error


def _corners(attributes: Mapping[str, str]) -> list[float]:
    """Return [x0, y0, x1, y1, ...]; the attributes name each corner by its number."""
    count = sum(CORNER.fullmatch(name) is not None for name in attributes) // 2
    return [float(attributes[f"{axis}{number}"]) for number in range(count) for axis in "xy"]
