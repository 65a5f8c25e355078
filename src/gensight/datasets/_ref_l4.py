"""Which RefCOCO labels a review found wrong: the user's own copy of Ref-L4's files.

Ref-L4 (Chen et al. 2024, JierunChen/Ref-L4, CC BY-NC 4.0, never shipped here) reviewed the
sentences of the val and test splits: `caption_quality` 0 is a wrong label (14 % of RefCOCO, 24 %
of RefCOCO+, 5 % of RefCOCOg). Its reviewed files look like COCO's: each annotation has the quality
and, as `original_id`, COCO's annotation id (its own `id` counts the file's rows), its picture has
the sentence as `caption`. Tables in CSV, Parquet or JSON with these columns are read as well.

A sentence has the flag of its own row. Where a file names no sentences, an annotation whose rows
agree gives its flag to all of them, and one whose rows differ gives none. No row, no flag.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensight.datasets._coco import read_json
from gensight.datasets._segmentation import read_bytes
from gensight.errors import MissingDataError

QUALITY = "caption_quality"
ANNOTATION_ID = ("original_id", "ann_id", "annotation_id", "annotation id", "id")
SENTENCE = ("caption", "sent", "sentence", "expression")
REVIEWED_FOLDER = "refcocos_annotation_reviewed"


@dataclass(frozen=True)
class LabelFlags:
    """True is a wrong label, False a reviewed and right one."""

    by_sentence: Mapping[tuple[int, str], bool]
    by_annotation: Mapping[int, bool]

    def of(self, annotation_id: int, sentences: Iterable[str]) -> bool | None:
        """Return the flag of an annotation named by one of these sentences, None without one."""
        for sentence in sentences:
            flag = self.by_sentence.get((annotation_id, plain(sentence)))
            if flag is not None:
                return flag
        return self.by_annotation.get(annotation_id)


NO_FLAGS = LabelFlags({}, {})


def plain(sentence: str) -> str:
    """Return a sentence as the flags are keyed: lower case, single spaces."""
    return " ".join(sentence.lower().split())


def flag_file(place: Path, benchmark: str, split: str) -> Path:
    """Return the file of one split where `place` is a copy of the data set, else `place` itself."""
    if not place.is_dir():
        return place
    name = f"{benchmark}_{split}_reviewed.json"
    inner = place / REVIEWED_FOLDER / name
    return inner if inner.is_file() else place / name


def read_flags(path: Path) -> LabelFlags:
    """Return the flags of a reviewed file or table.

    Raises:
        MissingDataError: the file is missing, or has no such columns or values.
    """
    wrong_by_sentence: dict[tuple[int, str], bool] = {}
    by_annotation: dict[int, set[bool]] = defaultdict(set)
    for number, row in enumerate(_rows(path)):
        try:
            annotation_id, quality = int(_first(row, ANNOTATION_ID)), float(row[QUALITY])
        except (KeyError, TypeError, ValueError) as error:
            raise MissingDataError(
                f"{path}: row {number}: an annotation id ({', '.join(ANNOTATION_ID)}) and "
                f"{QUALITY} are needed ({type(error).__name__}: {error})"
            ) from error
        if quality not in (0, 1):
            raise MissingDataError(f"{path}: row {number}: {QUALITY} is 0 or 1, not {quality:g}")
        wrong = quality == 0
        sentence = _first(row, SENTENCE, default=None)
        if sentence is None:
            by_annotation[annotation_id].add(wrong)
        else:
            key = (annotation_id, plain(str(sentence)))
            # One sentence typed by two people: a fault found once is a fault.
            wrong_by_sentence[key] = wrong_by_sentence.get(key, False) or wrong
    agreed = {key: flags.pop() for key, flags in by_annotation.items() if len(flags) == 1}
    return LabelFlags(wrong_by_sentence, agreed)


def _first(row: Mapping[str, Any], names: Sequence[str], **default: Any) -> Any:
    for name in names:
        if row.get(name) is not None:
            return row[name]
    if default:
        return default["default"]
    raise KeyError(names[0])


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    kind = path.suffix.lower()
    if kind == ".csv":
        return list(csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8-sig", "replace"))))
    if kind == ".parquet":
        return _parquet_rows(path)
    if kind != ".json":
        raise MissingDataError(f"{path}: label flags are read from .json, .csv or .parquet")
    return _json_rows(path, read_json(path))


def _json_rows(path: Path, document: Any) -> list[Mapping[str, Any]]:
    if isinstance(document, list) and all(isinstance(row, Mapping) for row in document):
        return document
    try:
        captions = {one["id"]: one["caption"] for one in document["images"] if "caption" in one}
        annotations = document["annotations"]
        return [{"caption": captions.get(one.get("image_id")), **one} for one in annotations]
    except (KeyError, TypeError, AttributeError) as error:
        raise MissingDataError(
            f"{path}: label flags are a list of rows, or images and annotations as in Ref-L4"
        ) from error


def _parquet_rows(path: Path) -> list[Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        known = set(pq.read_schema(path).names)
        columns = [name for name in (*ANNOTATION_ID, *SENTENCE, QUALITY) if name in known]
        return pq.read_table(path, columns=columns).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise MissingDataError(f"{path}: not a Parquet file that can be read") from error
