"""A manifest: which items a benchmark samples, in rank order, frozen in a CSV file.

One row for each rank: rank, sample_id, cluster_id, stratum, then the same in every row: dataset,
seed, population_n (items of the whole data set) and ids_sha256. What holds for the whole file
stands in columns, not in a comment or a second file: every reader of CSV opens it as it is, a row
cut out of it still says where it belongs, and nothing can be separated from it.

`ids_sha256` is the sha256 of the ids in rank order, each ended by a line feed: a manifest that was
cut, sorted anew under other ranks or edited by hand is refused.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gensight.datasets._disk import Item
from gensight.errors import SpecError

COLUMNS = (
    "rank",
    "sample_id",
    "cluster_id",
    "stratum",
    "dataset",
    "seed",
    "population_n",
    "ids_sha256",
)
RANK = re.compile("[0-9]{1,9}")


def digest_of_ids(names: Iterable[str]) -> str:
    """Return the sha256 (64 hex digits) of ids in their order, each ended by a line feed."""
    return hashlib.sha256("".join(f"{name}\n" for name in names).encode()).hexdigest()


def manifest_text(items: Sequence[Item], *, dataset: str, seed: int, population_n: int) -> str:
    """Return the manifest of these items, which are in rank order from rank 0."""
    whole = (dataset, seed, population_n, digest_of_ids(item.id for item in items))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for rank, item in enumerate(items):
        writer.writerow((rank, item.id, item.cluster_id, item.stratum, *whole))
    return stream.getvalue()


def read_manifest(path: str | Path) -> list[str]:
    """Return the ids of a manifest in rank order; its rows may stand in any order.

    Raises:
        SpecError: it cannot be read, lacks a column, has a gap, a rank or id twice, or holds other
            ids than its sha256 says.
    """
    rows = _rows(Path(path))
    by_rank: dict[int, str] = {}
    for number, row in rows:
        rank = row["rank"]
        if not RANK.fullmatch(rank):
            raise SpecError(f"{path}: line {number}: rank {rank!r} is no whole number")
        if int(rank) in by_rank:
            raise SpecError(f"{path}: line {number}: rank {rank} stands there twice; {_ADVICE}")
        by_rank[int(rank)] = row["sample_id"]
    gap = next((rank for rank in range(len(by_rank)) if rank not in by_rank), None)
    if gap is not None:
        raise SpecError(f"{path}: rank {gap} is missing; {_ADVICE}")
    names = [by_rank[rank] for rank in range(len(by_rank))]
    _check_ids(path, names, {row["ids_sha256"] for _, row in rows})
    return names


_ADVICE = "restore the file, or write it anew: gensight data manifest"


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        # utf-8-sig: spreadsheets put a mark before the first column.
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            columns = reader.fieldnames or ()
            rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: is no CSV file: {error}") from None
    for column in ("rank", "sample_id", "ids_sha256"):
        if column not in columns:
            raise SpecError(f"{path}: has no column '{column}'; {_ADVICE}")
        for number, row in rows:
            if not row[column]:
                raise SpecError(f"{path}: line {number}: {column} is empty; {_ADVICE}")
    if not rows:
        raise SpecError(f"{path}: lists no sample; {_ADVICE}")
    return rows


def _check_ids(path: str | Path, names: Sequence[str], digests: set[str]) -> None:
    seen: set[str] = set()
    for rank, name in enumerate(names):
        if name in seen:
            raise SpecError(f"{path}: rank {rank}: '{name}' stands there twice; {_ADVICE}")
        seen.add(name)
    if digests != {digest_of_ids(names)}:
        raise SpecError(f"{path}: its ids are not those that ids_sha256 was made of; {_ADVICE}")
