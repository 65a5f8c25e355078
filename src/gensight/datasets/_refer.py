"""RefCOCO's references as lichengunc/refer ships them: refs(<owner>).p and instances.json.

A reference is one object on one picture with a few sentences that name it. `file_name` of a
reference carries a suffix of its annotation and names no file: the picture's name comes from
instances.json by `image_id` (gRefCOCO issue 1). That file also holds what no sentence names: all
other annotated objects of these pictures, and crowds. Splits are chosen as refer.py does: testA and
testB by their letter, test by the word, train and val by equality.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gensight.datasets._coco import area_share, read_instances
from gensight.datasets._pickles import load_plain
from gensight.datasets._segmentation import file_state
from gensight.errors import MissingDataError


@dataclass(frozen=True)
class Expression:
    """One sentence: `sent` is the cleaned form, `raw` what the annotator typed."""

    id: int
    sent: str
    raw: str


@dataclass(frozen=True)
class Reference:
    """An object that sentences refer to, with COCO's entries of its picture and its mask.

    `others` are the entries of the picture's other annotated objects; None where they are not
    known.
    """

    id: int
    annotation_id: int
    image_id: int
    split: str
    expressions: tuple[Expression, ...]
    picture: Mapping[str, Any]
    annotation: Mapping[str, Any]
    others: tuple[Mapping[str, Any], ...] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the picture, in pixels, as annotated."""
        return int(self.picture["height"]), int(self.picture["width"])

    @property
    def area_share(self) -> float:
        """The share of the picture that the object covers, by its annotation."""
        return area_share(self.annotation, *self.size)


def in_split(name: str, split: str) -> bool:
    """Say whether a reference whose split is called `name` belongs to `split`, as in refer.py."""
    if split in ("testA", "testB"):
        return split[-1] in name
    return "test" in name if split == "test" else name == split


def read_references(folder: Path, split_by: str, split: str) -> Sequence[Reference]:
    """Return the references of one split, in the order of their ids; the last ones are kept.

    Raises:
        MissingDataError: a file is missing or damaged, or an entry lacks a part.
    """
    path, instances = folder / f"refs({split_by}).p", folder / "instances.json"
    return _read_once(path, instances, split, (file_state(path), file_state(instances)))


# A hundred megabytes are parsed for a few thousand references, and listed more than once a job.
@lru_cache(maxsize=1)
def _read_once(path: Path, instances_path: Path, split: str, state: object) -> Sequence[Reference]:
    rows = load_plain(path)
    if not isinstance(rows, list):
        raise MissingDataError(f"{path}: a list of references is needed, not {type(rows).__name__}")
    instances = read_instances(instances_path)
    annotations = {annotation.get("id"): annotation for annotation in instances.annotations}
    by_picture: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for annotation in instances.annotations:
        by_picture[annotation.get("image_id")].append(annotation)

    def _reference(row: Mapping[str, Any]) -> Reference | None:
        if not in_split(row["split"], split):
            return None
        picture, annotation = instances.pictures[row["image_id"]], annotations[row["ann_id"]]
        others = (one for one in by_picture[row["image_id"]] if one.get("id") != row["ann_id"])
        return reference_of(row, picture, annotation, tuple(others))

    return collect(path, rows, _reference)


def collect(
    path: Path, rows: Iterable[Any], make: Callable[[Any], Reference | None]
) -> list[Reference]:
    """Return the references that `make` finds in a file's rows, in the order of their ids.

    Raises:
        MissingDataError: a row lacks a part or names an entry that is not there.
    """
    found = []
    for number, row in enumerate(rows):
        try:
            reference = make(row)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MissingDataError(
                f"{path}: reference {number} is not as shipped ({type(error).__name__}: {error}); "
                f"download the file again"
            ) from error
        if reference is not None:
            found.append(reference)
    return sorted(found, key=lambda reference: reference.id)


def reference_of(
    row: Mapping[str, Any],
    picture: Mapping[str, Any],
    annotation: Mapping[str, Any],
    others: tuple[Mapping[str, Any], ...] | None = None,
) -> Reference:
    """Return the reference of a row of refs(...).p or of a mirror.

    Raises:
        KeyError, TypeError, ValueError: a field is missing, or has no such value.
    """
    sentences = sorted(row["sentences"], key=lambda sentence: sentence["sent_id"])
    if not sentences:
        raise ValueError("it has no sentence")
    reference = Reference(
        id=int(row["ref_id"]),
        annotation_id=int(row["ann_id"]),
        image_id=int(row["image_id"]),
        split=str(row["split"]),
        expressions=tuple(
            Expression(int(one["sent_id"]), _text(one["sent"]), _text(one["raw"]))
            for one in sentences
        ),
        picture=picture,
        annotation=annotation,
        others=others,
    )
    # Looked at here, so that a damaged entry is told while the files are read.
    _ = reference.size, str(picture["file_name"])
    _ = [one["segmentation"] for one in (annotation, *(others or ()))]
    return reference


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
