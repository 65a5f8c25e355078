"""RefCOCO's references in Parquet, as mirrors of the jxu124 kind hold them, read by column name.

One row is one reference: ref_id, ann_id, image_id, split, `sentences` (a list of records), and
COCO's entries as JSON texts, `raw_anns` and `raw_image_info`. Two things of these mirrors are made
plain here. Their split `test` of RefCOCO and RefCOCO+ is testA alone (1,975 references; testB has
its own files). Their folders can hold one file in two versions, so a reference that comes twice
counts once if both say the same, and is refused if they do not.

A row holds the annotation of its own object alone. So the other objects of a picture are those of
its other references, and where it has no other they are not known. Splits of UNC and UMD share no
picture, so the rows of one split are enough.

Refused with one line: the lmms-lab kind, whose `val` mixes the UNC split with Google's (8,811 rows
for 3,811) and whose masks are one flat list of numbers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gensight.datasets._refer import Reference, collect, in_split, reference_of
from gensight.errors import MissingDataError

COLUMNS = ("ref_id", "ann_id", "image_id", "split", "sentences", "raw_anns", "raw_image_info")
# How a mirror writes the splits that the original files call otherwise.
SPLIT_NAMES = {"validation": "val"}


def mirror_files(folder: Path) -> list[Path]:
    """Return the Parquet files below a folder, sorted by name."""
    return sorted(folder.rglob("*.parquet"))


def read_mirror(folder: Path, split: str, test_name: str) -> list[Reference]:
    """Return the references of one split; rows whose split is called `test` belong to `test_name`.

    Raises:
        MissingDataError: a file has other columns, is damaged, or contradicts another one.
    """
    names = {**SPLIT_NAMES, "test": test_name}
    by_id: dict[int, Reference] = {}
    for path in mirror_files(folder):
        for reference in collect(path, _rows(path, split, names), partial(_reference, names)):
            if by_id.setdefault(reference.id, reference) != reference:
                raise MissingDataError(
                    f"{path}: reference {reference.id} is another one than in the file before it; "
                    f"keep the files of one version"
                )
    return _with_others([by_id[number] for number in sorted(by_id)])


def _with_others(references: Sequence[Reference]) -> list[Reference]:
    """Return references with the objects that the others of their picture refer to."""
    by_picture: dict[int, dict[int, Mapping[str, Any]]] = defaultdict(dict)
    for one in references:
        by_picture[one.image_id][one.annotation_id] = one.annotation

    def _others(reference: Reference) -> tuple[Mapping[str, Any], ...] | None:
        known = by_picture[reference.image_id].items()
        others = tuple(entry for number, entry in known if number != reference.annotation_id)
        return others or None

    return [replace(one, others=_others(one)) for one in references]


def _reference(names: Mapping[str, str], row: Mapping[str, Any]) -> Reference:
    plain = {**row, "split": names.get(row["split"], row["split"])}
    return reference_of(plain, json.loads(row["raw_image_info"]), json.loads(row["raw_anns"]))


def _rows(path: Path, split: str, names: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of one split; the long columns of other rows are never turned into objects."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        check_columns(path, pq.read_schema(path).names)
        table = pq.read_table(path, columns=list(COLUMNS))
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise MissingDataError(
            f"{path}: not a whole Parquet file ({reason}); download it again"
        ) from error
    stored = {str(name) for name in pc.unique(table["split"]).to_pylist()}
    wanted = [name for name in sorted(stored) if in_split(names.get(name, name), split)]
    yield from table.filter(pc.is_in(table["split"], pa.array(wanted, pa.string()))).to_pylist()


def check_columns(path: Path, columns: list[str]) -> None:
    """Refuse a Parquet file that is no mirror of this kind.

    Raises:
        MissingDataError: a column is missing; the known faulty kind is told by its name.
    """
    lacking = [name for name in COLUMNS if name not in columns]
    if not lacking:
        return
    if {"question_id", "answer", "segmentation"} <= set(columns):
        raise MissingDataError(
            f"{path}: a mirror of the lmms-lab kind cannot be used: its val mixes the references "
            f"of UNC and Google, and its masks are flat lists that lose the parts of an object; "
            f"get refs(unc).p and instances.json"
        )
    raise MissingDataError(
        f"{path}: no mirror of RefCOCO that can be read: it lacks {', '.join(lacking)}; get "
        f"refs(unc).p or refs(umd).p and instances.json"
    )
