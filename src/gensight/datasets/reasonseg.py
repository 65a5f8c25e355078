"""ReasonSeg: one target on a photograph, asked for by a sentence that must be thought about.

Protocol (ProbeGen table 1; LISA, dvlab-research/LISA). One sample is a photograph, a text and the
mask of the target, painted as LISA does (`_reasonseg`); ignored pixels leave intersection and
union. The split is not named in the paper: 500 samples cannot come from val (200), so it is test
(779), assumed; `val_test` takes both. LISA scores the first text of each file (`assumed_text:
first`); `drawn` draws one by the seed, `all` makes a sample of each. Files are taken by name.

Two files of test have no shape (LISA issue 157). They are samples without a target, counted and
scored as `no_ground_truth`. The stratum is `long` (sentences) or `short` (phrases).

Files below `root`: train/, val/ and test/ with <name>.jpg and <name>.json. The picture's size is
that of the stored raster: the benchmark sets `exif: ignore`. The mirror in Parquet of the
Ricky06662 kind is refused: it turned the ignored pixels into target, so its scores are no
ReasonSeg scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gensight.datasets._disk import (
    DISK_DEFAULTS,
    Item,
    Parameters,
    check_count,
    item_told,
    missing_by,
    population_of,
    root_of,
    samples_of,
)
from gensight.datasets._reasonseg import IGNORED, TARGET, Annotation, paint, read_annotation
from gensight.datasets._segmentation import (
    read_picture,
    segmentation_sample,
    stable_index,
)
from gensight.errors import GensightError, MissingDataError
from gensight.records import Sample

VERSION = 1
# `split` is assumed too: the paper names none.
DEFAULTS = {**DISK_DEFAULTS, "split": "test", "assumed_text": "first"}
CHOICES = {
    "split": ["train", "val", "test", "val_test"],
    "assumed_text": ["first", "drawn", "all"],
}
# What tables print beside the numbers of a task.
FACTS = {
    "segmentation": "split test (assumed) unless the benchmark says otherwise; unit: a photograph "
    "with the first text of its file (assumed); masks painted as in LISA, whose ignored pixels "
    "leave intersection and union; files without a target are not scored; orientation tags not "
    "applied",
}
FOLDER = "reasonseg"
LICENCE = "reasonseg"
SOURCE = (
    "get ReasonSeg's train, val and test as github.com/dvlab-research/LISA says and unpack them as "
    "train/, val/ and test/, each with <name>.jpg and <name>.json"
)

# Files as shipped (LISA's README).
COUNTS = {"train": 239, "val": 200, "test": 779}
MIRROR_COLUMNS = {"text", "mask", "image_id", "img_height", "img_width"}


@dataclass(frozen=True)
class Asked:
    """One annotation file, and which of its texts is asked."""

    path: Path
    text: int


def list_items(parameters: Parameters) -> list[Item]:
    """Return the samples of the split: a text of each annotation file, or all of them.

    A file that cannot be read is one sample, which says so when it is read.

    Raises:
        MissingDataError: a folder is missing, the download is partial, or it is the mirror.
    """
    items = []
    for split in _splits(parameters):
        folder = _folder(parameters, split)
        paths = sorted(folder.glob("*.json"), key=lambda path: path.name)
        check_count(parameters, len(paths), COUNTS[split], f"annotations in {split}/")
        items += [item for path in paths for item in _items(parameters, split, path)]
    return items


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return one sample; the picture's bytes are the file's.

    Raises:
        MissingDataError: picture or annotation is missing or damaged.
        ImageError: the picture cannot be read.
    """
    with item_told(item):
        annotation = read_annotation(item.place.path)
        picture = read_picture(_picture_path(parameters, item))
        painted = paint(annotation, *picture.shape)
        return segmentation_sample(
            item,
            picture,
            painted == TARGET,
            ignored=painted == IGNORED,
            query=annotation.texts[item.place.text],
            query_kind="reasoning",
            licence=LICENCE,
        )


def expected_count(parameters: Parameters) -> int | None:
    """Return the number of samples as shipped; None for a twin, and for every text of a file."""
    if parameters["twin"] or parameters["assumed_text"] == "all":
        return None
    return sum(COUNTS[split] for split in _splits(parameters))


def _picture_path(parameters: Parameters, item: Item) -> Path:
    return item.place.path.with_suffix(".jpg")


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items, _picture_path)


def _splits(parameters: Parameters) -> list[str]:
    return parameters["split"].split("_")


def _folder(parameters: Parameters, split: str) -> Path:
    root = root_of(parameters)
    if not (root / split).is_dir():
        _refuse_mirror(root)
    return root_of(parameters, split) / split


def _refuse_mirror(root: Path) -> None:
    """Name the mirror where it lies in place of the data set; say nothing of other files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in sorted(root.rglob("*.parquet")):
        try:
            columns = pq.read_schema(path).names
        except (pa.ArrowException, OSError):
            continue
        if MIRROR_COLUMNS.issubset(columns):
            raise MissingDataError(
                f"{path}: a mirror of the Ricky06662 kind, which counts the ignored pixels as "
                f"target, cannot be used"
            )


def _items(parameters: Parameters, split: str, path: Path) -> Iterable[Item]:
    name = f"{split}/{path.stem}"
    try:
        annotation = read_annotation(path)
    except GensightError:
        return [Item(name, name, place=Asked(path, 0))]
    if parameters["assumed_text"] == "all":
        texts = range(len(annotation.texts))
        return [_item(f"{name}/{text}", name, annotation, text) for text in texts]
    return [_item(name, name, annotation, _text(parameters, annotation, name))]


def _item(name: str, cluster: str, annotation: Annotation, text: int) -> Item:
    return Item(name, cluster, annotation.length, Asked(annotation.path, text))


def _text(parameters: Parameters, annotation: Annotation, name: str) -> int:
    """Return which text is asked: the first, or one that follows from the seed and the name."""
    if parameters["assumed_text"] == "first":
        return 0
    return stable_index(len(annotation.texts), parameters["seed"], name)
