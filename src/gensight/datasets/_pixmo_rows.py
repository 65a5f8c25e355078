"""The rows of PixMo-Points on disk: who each is, what is wrong with it, and its content by number.

Rows are numbered through the files in the order of their names. Of each row only its identity, its
count and its number are kept (about 60 bytes), so that the whole set of 2.4 million fits in memory;
the text and the points of the few that are drawn are read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gensight.errors import AbsentDataError, MissingDataError
from gensight.records.rows import POINT

SCHEMA = pa.schema(
    [
        ("image_url", pa.string()),
        ("image_sha256", pa.string()),
        ("points", pa.list_(POINT)),
        ("count", pa.int64()),
        ("label", pa.string()),
        ("collection_method", pa.string()),
    ]
)
#: Needed columns; `count` is not: the truth is the number of listed points.
NEEDED = [name for name in SCHEMA.names if name != "count"]
BATCH_ROWS = 65_536
#: A part of several files, as the hub names them.
PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.parquet")
NO_SHA256 = "0" * 64

FINE, OUTSIDE, NO_LABEL, NO_POINTS, NO_HASH = range(5)
FAULTS = {
    OUTSIDE: "a point lies outside 0 to 100 per cent of the picture",
    NO_LABEL: "the row has no label",
    NO_POINTS: "the row has no list of points, not even an empty one",
    NO_HASH: "the row has no sha256 of its picture",
}
#: Assumed: so many rows may be at fault before the file is taken for another data set.
MAX_OUTSIDE_SHARE = 0.01


@dataclass(frozen=True)
class Rows:
    """Rows by their place in this table; all arrays have the same length.

    `images` is uint8 (n, 32), the sha256 of the pictures; `digests` uint8 (n, 6); `counts` int32;
    `faults` uint8, a key of FAULTS or FINE; `numbers` int64 through all files. `repeats` says of a
    row that equals an earlier one in all but its address how many of them there are up to it.
    """

    files: tuple[Path, ...]
    images: np.ndarray
    digests: np.ndarray
    counts: np.ndarray
    faults: np.ndarray
    numbers: np.ndarray
    repeats: Mapping[int, int]

    def __len__(self) -> int:
        return len(self.numbers)

    def image(self, index: int) -> str:
        """Return the sha256 of a row's picture in 64 hex digits."""
        return self.images[index].tobytes().hex()

    def id(self, index: int) -> str:
        """Return a row's id: 12 hex digits of its picture's sha256, 12 of its own content."""
        name = f"{self.images[index, :6].tobytes().hex()}_{self.digests[index].tobytes().hex()}"
        return f"{name}_{self.repeats[index]}" if index in self.repeats else name

    def ids(self) -> Iterator[str]:
        """Yield the ids of all rows, much faster than one by one."""
        images, digests = self.images[:, :6].tobytes().hex(), self.digests.tobytes().hex()
        for index, at in enumerate(range(0, len(images), 12)):
            name = f"{images[at : at + 12]}_{digests[at : at + 12]}"
            yield f"{name}_{self.repeats[index]}" if index in self.repeats else name


def row_files(root: Path) -> list[Path]:
    """Return the files of rows of a folder: Parquet, or where there is none JSON lines.

    Raises:
        AbsentDataError: there is neither, or a part of several is not there.
    """
    parquet = sorted([*root.glob("*.parquet"), *root.glob("data/*.parquet")])
    files = parquet or sorted([*root.glob("*.jsonl"), *root.glob("data/*.jsonl")])
    if not files:
        raise AbsentDataError(f"{root} holds no .parquet and no .jsonl file of rows")
    for path in parquet:
        part = PART.fullmatch(path.name)
        for number in range(int(part[3])) if part else ():
            name = f"{part[1]}-{number:05d}-of-{part[3]}.parquet"
            if not path.with_name(name).exists():
                raise AbsentDataError(f"{path.with_name(name)} is not there: a partial download")
    return files


def list_rows(files: Iterable[Path], method: str, max_count: int | None) -> Rows:
    """Return every row of the files that the choice of method and count leaves.

    Raises:
        MissingDataError: a file cannot be read or lacks a column, or points are not in per cent.
    """
    files, start, parts = tuple(files), 0, []
    for path in files:
        for batch in _batches(path):
            parts.append(_part(path, batch, start, method, max_count))
            start += batch.num_rows
    if not parts:
        raise MissingDataError(f"{files[0].parent} holds files without any row")
    images, digests, counts, faults, numbers = map(np.concatenate, zip(*parts, strict=True))
    _check_percent(files, faults)
    return Rows(files, images, digests, counts, faults, numbers, _repeats(images, digests))


def _part(
    path: Path, batch: pa.RecordBatch, start: int, method: str, max_count: int | None
) -> tuple[np.ndarray, ...]:
    lengths = pc.fill_null(pc.list_value_length(batch.column("points")), 0)
    keep = np.ones(batch.num_rows, np.bool_)
    if method != "all":
        keep &= np.array(pc.fill_null(pc.equal(batch.column("collection_method"), method), False))
    if max_count is not None:
        keep &= np.asarray(lengths) <= max_count
    kept = batch.filter(pa.array(keep))
    return (*_described(path, kept), start + np.flatnonzero(keep))


def _described(path: Path, batch: pa.RecordBatch) -> tuple[np.ndarray, ...]:
    """Return images, digests, counts and faults of a batch."""
    points = batch.column("points")
    counts = np.asarray(pc.fill_null(pc.list_value_length(points), 0), np.int32)
    ends = np.cumsum(counts, dtype=np.int64)
    percent = _percent(points)
    outside = np.cumsum(~((percent >= 0) & (percent <= 100)).all(axis=1))
    wrong = np.concatenate([[0], outside])
    named = pc.match_substring_regex(batch.column("image_sha256"), "^[0-9a-fA-F]{64}$")
    hashed = np.asarray(pc.fill_null(named, False))
    blank = pc.equal(pc.utf8_trim_whitespace(batch.column("label")), "")
    faults = np.select(
        [
            ~hashed,
            np.asarray(points.is_null()),
            wrong[ends] > wrong[ends - counts],
            np.asarray(pc.fill_null(blank, True)),
        ],
        [NO_HASH, NO_POINTS, OUTSIDE, NO_LABEL],
        FINE,
    ).astype(np.uint8)
    images = pc.utf8_lower(pc.if_else(hashed, batch.column("image_sha256"), NO_SHA256))
    names = images.to_pylist()
    digests = _digests(batch, names, percent.tobytes(), ends * percent.itemsize * 2)
    packed = np.frombuffer(bytes.fromhex("".join(names)), np.uint8)
    return packed.reshape(-1, 32), digests, counts, faults


def _percent(points: pa.Array) -> np.ndarray:
    """Return all points of a batch as little-endian float64 (n, 2); missing numbers are NaN."""
    flat = points.flatten()
    axes = [pc.struct_field(flat, axis).to_numpy(zero_copy_only=False) for axis in ("x", "y")]
    return np.stack(axes, axis=1).astype("<f8")


def _digests(batch: pa.RecordBatch, images: list[str], points: bytes, ends: Any) -> np.ndarray:
    """Return the first six bytes of sha256(picture, label, method, points) of each row."""
    labels = batch.column("label").to_pylist()
    methods = batch.column("collection_method").to_pylist()
    found, start = bytearray(), 0
    for image, label, method, end in zip(images, labels, methods, ends.tolist(), strict=True):
        head = f"{image}\n{label}\n{method}\n".encode()
        found += hashlib.sha256(head + points[start:end]).digest()[:6]
        start = end
    return np.frombuffer(bytes(found), np.uint8).reshape(-1, 6)


def _repeats(images: np.ndarray, digests: np.ndarray) -> dict[int, int]:
    """Return 2, 3, ... for the second, third, ... row of one identity, in the files' order."""
    keys = np.concatenate([images[:, :6], digests, np.zeros((len(images), 4), np.uint8)], axis=1)
    high, low = np.ascontiguousarray(keys).view(np.uint64).T
    order = np.lexsort((low, high))
    same = (high[order][1:] == high[order][:-1]) & (low[order][1:] == low[order][:-1])
    repeats: dict[int, int] = {}
    for at in np.flatnonzero(same):
        first, second = int(order[at]), int(order[at + 1])
        repeats[second] = repeats.get(first, 1) + 1
    return repeats


def _check_percent(files: tuple[Path, ...], faults: np.ndarray) -> None:
    outside = int((faults == OUTSIDE).sum())
    if outside > MAX_OUTSIDE_SHARE * len(faults):
        raise MissingDataError(
            f"{files[0].parent}: {outside} of {len(faults)} rows have a point outside 0 to 100 per "
            f"cent of the picture; per mille and pixels are never guessed: use PixMo-Points as "
            f"shipped"
        )


def read_rows(files: Iterable[Path], numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return the rows of these numbers with the columns of SCHEMA; touches only their row groups.

    Raises:
        MissingDataError: a file cannot be read.
    """
    wanted, found, start = np.unique(np.fromiter(numbers, np.int64)), {}, 0
    for path in files:
        for offset, batch in _batches_with(path, wanted - start):
            local = wanted - start - offset
            local = local[(local >= 0) & (local < batch.num_rows)]
            rows = batch.take(pa.array(local)).to_pylist()
            found |= dict(zip((local + start + offset).tolist(), rows, strict=True))
        start += _length(path)
    return found


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    return (batch for _, batch in _batches_with(path, None))


def _batches_with(path: Path, wanted: np.ndarray | None) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the number of its first row in the file and each batch that has a wanted row."""
    read = _json_batches if path.suffix == ".jsonl" else _parquet_batches
    try:
        for offset, batch in read(path, wanted):
            yield offset, _conformed(path, batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise MissingDataError(f"{path}: cannot be read as PixMo-Points ({reason})") from None


def _parquet_batches(path: Path, wanted: np.ndarray | None) -> Iterator[tuple[int, pa.RecordBatch]]:
    with pq.ParquetFile(path) as file:
        columns = [name for name in SCHEMA.names if name in file.schema_arrow.names]
        offset = 0
        for group in range(file.num_row_groups):
            length = file.metadata.row_group(group).num_rows
            if wanted is None or ((wanted >= offset) & (wanted < offset + length)).any():
                inside = offset
                for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns):
                    yield inside, batch
                    inside += batch.num_rows
            offset += length


def _json_batches(path: Path, wanted: np.ndarray | None) -> Iterator[tuple[int, pa.RecordBatch]]:
    with path.open(encoding="utf-8") as lines:
        offset = 0
        while few := list(islice(lines, BATCH_ROWS)):
            if wanted is None or ((wanted >= offset) & (wanted < offset + len(few))).any():
                rows = [_row(path, offset + at, line) for at, line in enumerate(few, 1)]
                yield offset, pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
            offset += len(few)


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        raise MissingDataError(f"{path}: line {number} is not JSON") from None
    if not isinstance(row, dict) or not set(NEEDED) <= set(row):
        raise MissingDataError(f"{path}: line {number} lacks a column of {', '.join(NEEDED)}")
    return row


def _conformed(path: Path, batch: pa.RecordBatch) -> pa.RecordBatch:
    lacking = [name for name in NEEDED if name not in batch.schema.names]
    if lacking:
        raise MissingDataError(f"{path}: has no column '{lacking[0]}'; these are other files")
    return batch.select(NEEDED).cast(pa.schema([SCHEMA.field(name) for name in NEEDED]))


def _length(path: Path) -> int:
    if path.suffix == ".jsonl":
        with path.open("rb") as lines:
            return sum(1 for _ in lines)
    return pq.read_metadata(path).num_rows
