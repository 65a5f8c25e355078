"""`gensight export`: the pictures of any stage's Parquet as files, for people to look at.

Pictures keep their bytes, and get the extension that these bytes deserve (.bin where they are no
picture). Masks become PNG of 0 and 255; palette grids that were read become PNG in which every cell
is a square of equal pixels, 512 px or a little more a side. A row's first picture or mask, in the
order of the columns, is its `file_name`, the others are `{column}_file_name`: the convention of
ImageFolder data sets, by which `datasets` opens the folder. `metadata.parquet` has one row for each
exported row, with every column that holds no picture. Rows without any picture are counted, not
exported; lists of masks (the instances of a counting truth) stay as run lengths in the metadata.

Rows of samples whose licence lets no picture be shown are left out, the answers to them and what
was read from these too (see `gensight.cli.restrictions`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gensight import atomic, images
from gensight.cli.files import make_folder, write_bytes
from gensight.cli.printing import json_option, print_json, print_table
from gensight.cli.restrictions import Restrictions, restrictions_of
from gensight.digests import digest_of
from gensight.errors import GensightError, ImageError, RecordError
from gensight.footers import read_footer
from gensight.pixels.grid_text import stored_grid
from gensight.records.rows import MASK, PICTURE

METADATA = "metadata.parquet"
#: The column that holds a palette grid, where the extractor reads grids.
GRIDS = "text"
#: A side of an exported grid has at least so many pixels.
GRID_PX = 512
# What tells rows of one sample apart: the column, and how it is written into a file's name.
NAME_PARTS = (("variant", ""), ("turn", "t"), ("repeat", "r"), ("severity", "s"))
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
MAX_NAME = 120


@click.command()
@click.argument("result", metavar="RESULT.parquet")
@click.argument("folder", metavar="DIR")
@click.option("--overwrite", is_flag=True, help="Write into a folder that is not empty.")
@click.option(
    "--include-restricted",
    is_flag=True,
    help="Also what may not be shown to others: for your own eyes.",
)
@json_option
def command(
    result: str, folder: str, overwrite: bool, include_restricted: bool, as_json: bool
) -> None:
    """Write the pictures and masks of a result file to DIR, with their metadata.

    Works for samples, generations, predictions: any Parquet of the pipeline that holds pictures.
    Leaves out what the licence of a data set keeps from being shown, and says how much.
    """
    with _opened(result) as file:
        filled = _filled(result, file)
        restrictions = Restrictions() if include_restricted else restrictions_of(result, file)
        held = _held(result, filled, restrictions)
        target = _prepared(folder, overwrite)
        exported = _Exporter(file, target, held, restrictions)
        exported.run()
    facts = {
        "source": result,
        "folder": folder,
        "rows": exported.rows,
        "files": exported.files,
        "without_picture": exported.without_picture,
        "unreadable": exported.unreadable,
        "restricted": restrictions.number,
        "restricted_licences": restrictions.licences,
        "metadata": str(target / METADATA),
    }
    if as_json:
        print_json(facts)
    else:
        print_table((key, value) for key, value in facts.items() if key != "restricted_licences")
        if restrictions.number:
            click.echo(restrictions.told)


def _opened(result: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(result)
    except FileNotFoundError:
        raise GensightError(f"{result}: there is no such file") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).split(".")[0]
        raise GensightError(f"{result}: not a Parquet file that can be read ({reason})") from None


def _filled(result: str, file: pq.ParquetFile) -> dict[str, list[bool]]:
    """Say of each column of pictures or masks which rows have one.

    Raises:
        GensightError: none has.
    """
    filled = {}
    for column in file.schema_arrow:
        if column.type in (PICTURE, MASK):
            # The smallest leaf tells it without the bytes of the pictures.
            leaf = f"{column.name}.{'path' if column.type == PICTURE else 'size'}"
            filled[column.name] = file.read(columns=[leaf]).column(0).is_valid().to_pylist()
    if _holds_grids(result):
        filled[GRIDS] = file.read(columns=[GRIDS]).column(0).is_valid().to_pylist()
    if not any(any(rows) for rows in filled.values()):
        raise GensightError(f"{result}: holds no pictures, masks or grids")
    return filled


def _holds_grids(result: str) -> bool:
    """Say whether the texts of a file are palette grids that an extractor read."""
    try:
        return read_footer(result).determinants.get("extractor") == "palette_grid"
    except RecordError:  # a Parquet of somebody else's
        return False


def _held(result: str, filled: dict[str, list[bool]], restrictions: Restrictions) -> list[str]:
    """Return the columns of which a row that may be shown has a picture or mask.

    Raises:
        GensightError: there is none.
    """
    held = [
        name
        for name, rows in filled.items()
        if any(here and index not in restrictions.rows for index, here in enumerate(rows))
    ]
    if not held:
        raise GensightError(f"{result}: nothing to export: {restrictions.told}")
    return held


def _prepared(folder: str, overwrite: bool) -> Path:
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise GensightError(f"{folder}: is a file, not a folder")
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise GensightError(f"{folder}: is not empty; name another folder, or add --overwrite")
    make_folder(target)
    if not os.access(target, os.W_OK):
        raise GensightError(f"{folder}: nothing can be written there")
    return target


@dataclass
class _Exporter:
    """One export, row group by row group; the numbers are those of the final report."""

    file: pq.ParquetFile
    folder: Path
    held: list[str]
    restrictions: Restrictions
    rows: int = 0
    files: int = 0
    without_picture: int = 0
    unreadable: int = 0
    used: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Write every picture, and the metadata last."""
        kept = [f for f in self.file.schema_arrow if f.type != PICTURE]
        names = ["file_name", *(f"{column}_file_name" for column in self.held[1:])]
        written = pa.schema([*(pa.field(name, pa.string()) for name in names), *kept])
        with (
            atomic.replacing(self.folder / METADATA) as temporary,
            pq.ParquetWriter(temporary, written) as writer,
        ):
            for group in range(self.file.num_row_groups):
                rows = list(self._exported(group))
                writer.write_table(pa.Table.from_pylist(rows, schema=written))

    def _exported(self, group: int) -> Iterator[dict[str, Any]]:
        for row in self.file.read_row_group(group).to_pylist():
            self.rows += 1
            if self.rows - 1 in self.restrictions.rows:
                continue
            names = self._write_row(row)
            if names:
                yield {**row, **names}
            else:
                self.without_picture += 1

    def _write_row(self, row: dict[str, Any]) -> dict[str, str]:
        """Write a row's pictures; return the metadata columns that name them."""
        stem, names = _stem(row, self.rows - 1), {}
        for column in self.held:
            found = _grid(row[column]) if column == GRIDS else self._content(row[column])
            if found is None:
                continue
            data, extension = found
            suffix = f"_{column}" if names else ""
            name = self._unique(f"{stem}{suffix}", extension)
            write_bytes(self.folder / name, data)
            names[f"{column}_file_name" if names else "file_name"] = name
            self.files += 1
        return names

    def _content(self, value: dict[str, Any] | None) -> tuple[bytes, str] | None:
        if value is None:
            return None
        if "counts" in value:
            mask = images.decode_mask(value)
            return images.encode_png(mask.astype(np.uint8) * np.uint8(255)), "png"
        if value["bytes"] is None:
            return None
        try:
            return value["bytes"], images.EXTENSIONS[images.inspect(value["bytes"]).kind]
        except ImageError:
            self.unreadable += 1
            return value["bytes"], "bin"

    def _unique(self, stem: str, extension: str) -> str:
        """Return a name that no other file has, whatever the case of its letters."""
        name, number = f"{stem}.{extension}", 2
        while name.lower() in self.used:
            name, number = f"{stem}_{number}.{extension}", number + 1
        self.used.add(name.lower())
        return name


def _grid(text: str | None) -> tuple[bytes, str] | None:
    if text is None:
        return None
    grid = stored_grid(text)
    return images.encode_png(grid.enlarged(-(-GRID_PX // grid.size))), "png"


def _stem(row: dict[str, Any], position: int) -> str:
    """Return the name of a row: its sample, then what tells rows of one sample apart."""
    ids = row.get("sample_ids") or [row.get("sample_id")]
    known = [str(value) for value in ids if value is not None]
    first = "+".join(known) if known else str(row.get("rank", position))
    parts = [(mark, row.get(column)) for column, mark in NAME_PARTS]
    texts = [f"{mark}{_short(value)}" for mark, value in parts if value is not None]
    return _safe("_".join([first, *texts]))


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _safe(name: str) -> str:
    """Return a name for any file system; a digest stands for what had to be changed."""
    safe = UNSAFE.sub("-", name).lstrip(".-")[:MAX_NAME]
    return safe if safe == name else f"{safe}-{digest_of(name)[:8]}"
