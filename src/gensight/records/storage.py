"""The only writer and reader of the stages' Parquet files.

A file carries in its metadata what determined it (digest and full tree), a digest of its own rows
and those of the files it was made from. Nothing in it depends on when or where it was written, so
equal inputs give equal bytes. Files appear complete or not at all.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from gensight.atomic import replacing
from gensight.digests import canonical_json, digest_of, told_difference
from gensight.errors import RecordError
from gensight.footers import Footer, read_footer, rebuild_command
from gensight.records.rows import ARRAY, FACTS, KNOBS, PICTURE

RowT = TypeVar("RowT")

SMALL_ROW_GROUP, LARGE_ROW_GROUP = 4, 16
LARGE_PICTURE_BYTES = 4 << 20
PLAIN_ROW_GROUP = 65_536


@cache
def schema_of(row: type) -> pa.Schema:
    """Return the one Arrow schema of a stage, with the features by which `datasets` opens it."""
    schema = pa.schema([pa.field(f.name, f.metadata["arrow"]) for f in dataclasses.fields(row)])
    features = {field.name: _feature(field.type) for field in schema}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def _feature(kind: pa.DataType) -> Any:
    """Return the `datasets` feature of an Arrow type; pictures open as images."""
    if kind == PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {kind.field(i).name: _feature(kind.field(i).type) for i in range(kind.num_fields)}
    return {"dtype": {"double": "float64"}.get(str(kind), str(kind)), "_type": "Value"}


@dataclasses.dataclass
class Notes:
    """What a file says of its rows: see `gensight.footers.Footer`."""

    gaps: Counter[str] = dataclasses.field(default_factory=Counter)
    answered: set[str] = dataclasses.field(default_factory=set)


def write_rows(
    path: str | Path,
    row: type[RowT],
    rows: Iterable[RowT],
    determinants: Mapping[str, Any],
    inputs: Iterable[str | Path] = (),
    note: Callable[[RowT, Notes], None] | None = None,
) -> int:
    """Write a stage's file under a temporary name and rename it; return the number of rows.

    `inputs` are the Parquet files that the rows were made from: their content digests are kept,
    so that a later change of one of them shows. Rows are held one row group at a time. `note`
    writes down what the file's metadata say of its rows.
    """
    with replacing(path) as temporary:
        return _write(temporary, row, iter(rows), determinants, inputs, note)


def _write(
    path: Path,
    row: type[RowT],
    rows: Iterator[RowT],
    determinants: Mapping[str, Any],
    inputs: Iterable[str | Path],
    note: Callable[[RowT, Notes], None] | None,
) -> int:
    schema, content, count, notes = schema_of(row), hashlib.sha256(), 0, Notes()
    heavy = [field.name for field in schema if field.type in (PICTURE, ARRAY)]
    with pq.ParquetWriter(path, schema, **_encoding(schema)) as writer:
        for group in _row_groups(rows, heavy):
            batch = pa.RecordBatch.from_pylist([_to_arrow(r) for r in group], schema=schema)
            # Of Arrow's bytes, not of the file's: a new Parquet writer changes no digest.
            content.update(batch.serialize())
            writer.write_batch(batch, row_group_size=len(group))
            count += len(group)
            for one in group if note else ():
                note(one, notes)
        footer = Footer(
            stage=str(determinants.get("stage", row.__name__.lower())),
            digest=digest_of(determinants),
            content=content.hexdigest(),
            rows=count,
            gaps=dict(sorted(notes.gaps.items())),
            answered=sorted(notes.answered),
            inputs={name: read_footer(name).content for name in map(str, inputs)},
            determinants=dict(determinants),
        )
        writer.add_key_value_metadata({"gensight": canonical_json(dataclasses.asdict(footer))})
    return count


def _encoding(schema: pa.Schema) -> dict[str, Any]:
    """Pictures are compressed already: they are stored plainly, all other columns with zstd."""
    leaves = [path for field in schema for path in _leaves(field.name, field.type)]
    stored = {path for path in leaves if path.endswith(".bytes") and _is_picture(schema, path)}
    return {
        "compression": {path: "none" if path in stored else "zstd" for path in leaves},
        "use_dictionary": [path for path in leaves if not path.endswith(".bytes")],
        "write_statistics": False,
        "write_page_checksum": True,
    }


def _is_picture(schema: pa.Schema, leaf: str) -> bool:
    return schema.field(leaf.split(".")[0]).type == PICTURE


def _leaves(name: str, kind: pa.DataType) -> Iterator[str]:
    if pa.types.is_list(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            yield from _leaves(f"{name}.{kind.field(i).name}", kind.field(i).type)
    else:
        yield name


def _row_groups(rows: Iterator[RowT], heavy: list[str]) -> Iterator[list[RowT]]:
    """Cut rows into groups: 16 with pictures, 4 where a picture passes 4 MB, else many."""
    if not heavy:
        while group := list(islice(rows, PLAIN_ROW_GROUP)):
            yield group
        return
    group = []
    while few := list(islice(rows, SMALL_ROW_GROUP)):
        if max(_heaviest(row, heavy) for row in few) > LARGE_PICTURE_BYTES:
            yield from filter(None, (group, few))
            group = []
            continue
        group += few
        if len(group) == LARGE_ROW_GROUP:
            yield group
            group = []
    if group:
        yield group


def _heaviest(row: Any, columns: list[str]) -> int:
    found = (getattr(row, name) for name in columns)
    return max((len(value["bytes"] or b"") for value in found if value), default=0)


def _to_arrow(row: Any) -> dict[str, Any]:
    """Return a row as Arrow takes it: named numbers become lists of name and value."""
    values = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if field.metadata["arrow"] in (FACTS, KNOBS) and value is not None:
            value = [{"name": k, "value": v} for k, v in sorted(value.items())]
        values[field.name] = value
    return values


def _from_arrow(row: type[RowT], values: dict[str, Any]) -> RowT:
    for field in dataclasses.fields(row):  # type: ignore[arg-type]
        if field.metadata["arrow"] in (FACTS, KNOBS) and values.get(field.name) is not None:
            values[field.name] = {pair["name"]: pair["value"] for pair in values[field.name]}
    return row(**values)


class RowFile(Generic[RowT]):
    """A stage's file, checked once when opened, then read one row group at a time."""

    def __init__(
        self,
        path: str | Path,
        row: type[RowT],
        planned: str | Mapping[str, Any] | None = None,
    ) -> None:
        """Open a file; `planned` is what must have determined it, or the digest of that.

        Raises:
            RecordError: missing, not Parquet, another schema, another digest than the plan's, or
                another number of rows than was written.
        """
        self.path, self.row = str(path), row
        self.footer = read_footer(path)
        self.file = pq.ParquetFile(path, page_checksum_verification=True)
        self._check(planned)

    def _check(self, planned: str | Mapping[str, Any] | None) -> None:
        rebuild = rebuild_command(self.path)
        found, wanted = self.file.schema_arrow, schema_of(self.row)
        if not found.equals(wanted):
            names = sorted(set(found.names) ^ set(wanted.names)) or ["types"]
            raise RecordError(
                f"{self.path}: its columns are not this version's "
                f"({', '.join(names[:4])}); {rebuild}"
            )
        if self.file.metadata.num_rows != self.footer.rows:
            raise RecordError(
                f"{self.path}: holds {self.file.metadata.num_rows} rows, "
                f"{self.footer.rows} were written; {rebuild}"
            )
        if planned is None or self.footer.digest in (planned, digest_of(planned)):
            return
        told = f"digest {self.footer.digest[:12]}"
        if not isinstance(planned, str):
            told = told_difference(self.footer.determinants, planned)[1]
        raise RecordError(f"{self.path}: made from other settings ({told}); {rebuild}")

    def __len__(self) -> int:
        return self.footer.rows

    def __iter__(self) -> Iterator[RowT]:
        for group in range(self.file.num_row_groups):
            yield from self.group(group)

    def group(self, index: int) -> list[RowT]:
        """Return the rows of one row group."""
        # Group by group, without pre-buffering: the peak stays at one group (measured).
        with self._readable():
            values = self.file.read_row_group(index).to_pylist()
        return [_from_arrow(self.row, row) for row in values]

    def column(self, name: str) -> list[Any]:
        """Return one column of all rows without touching the others."""
        with self._readable():
            return self.file.read(columns=[name]).column(name).to_pylist()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            advice = rebuild_command(self.path)
            raise RecordError(f"{self.path}: damaged ({reason}); {advice}") from None


class SampleStore:
    """Samples by id, for stages that meet them in rank order: keeps only a few row groups."""

    KEPT_GROUPS = 2

    def __init__(self, samples: RowFile[Any]) -> None:
        self.samples = samples
        self._place: dict[str, int] = {}
        for group in range(samples.file.num_row_groups):
            ids = samples.file.read_row_group(group, columns=["sample_id"]).column(0)
            self._place |= dict.fromkeys(ids.to_pylist(), group)
        self._groups: dict[int, dict[str, Any]] = {}

    def __getitem__(self, sample_id: str) -> Any:
        group = self._place[sample_id]
        if group not in self._groups:
            while len(self._groups) >= self.KEPT_GROUPS:
                self._groups.pop(next(iter(self._groups)))
            self._groups[group] = {row.sample_id: row for row in self.samples.group(group)}
        return self._groups[group][sample_id]


def content_of(path: str | Path) -> str:
    """Return the digest of the rows that a file holds now, to compare with its footer's.

    The rows are built anew, as they were to be written: under a missing value Arrow reads back
    other bytes than it was given.

    Raises:
        RecordError: so damaged that its rows cannot be read.
    """
    content = hashlib.sha256()
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        for index in range(file.num_row_groups):
            rows = file.read_row_group(index).to_pylist()
            batch = pa.RecordBatch.from_pylist(rows, schema=file.schema_arrow)
            # Of Arrow's bytes, not of the file's: a new Parquet writer changes no digest.
            content.update(batch.serialize())
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        advice = rebuild_command(path)
        raise RecordError(f"{path}: its rows cannot be read ({reason}); {advice}") from None
    return content.hexdigest()


def is_intact(path: str | Path, content: str) -> bool:
    """Say whether a file's rows are those that its footer was written for; reads all of them.

    Another version of Arrow may serialise the same rows to other bytes: then only the checksums
    of the pages are compared.

    Raises:
        RecordError: so damaged that its rows cannot be read.
    """
    found = content_of(path)
    writer = pq.read_metadata(path).created_by or ""
    return found == content or not writer.endswith(f"version {pa.__version__}")
