"""Printed table cells: one frozen record each, looked up by model, benchmark, metric and setting.

Names are the paper's own, also where they differ from this project's: `RefCOCO+`, `gIoU`. AbsRel is
in per cent, like gIoU and cIoU; counting errors are plain counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from gensight.errors import GensightError
from gensight.published import files

PAPERS = ("probegen", "genius", "pixelbench")
COLUMNS = (
    "paper",
    "table",
    "row_group",
    "model",
    "benchmark",
    "setting",
    "metric",
    "value",
    "status",
    "higher_is_better",
    "derived",
    "note",
)
# What stands in print where there is no number.
MARKS = {"failed": "×", "unavailable": "–"}
STATUSES = ("ok", "other_protocol", "api_time", *MARKS)
BETTER = {"yes": True, "no": False, "": None}


@dataclass(frozen=True)
class PublishedCell:
    """One printed cell.

    `printed` holds the digits in print with their trailing zeros, or × (failed), or – (not
    available); `value` is the number, None for a mark. `status` is `ok`, `failed`, `unavailable`,
    `other_protocol` (‡: never ranked) or `api_time` (†: the time of a request, not of a model).
    `derived` is `no`, the rule by which other printed numbers give this one, `unprinted_inputs`, or
    `not_printed` (a setting that follows from the print).
    """

    paper: str
    table: int
    row_group: str
    model: str
    benchmark: str
    setting: Mapping[str, str]
    metric: str
    value: Decimal | None
    printed: str
    status: str
    higher_is_better: bool | None
    derived: str
    note: str


def tables(paper: str, root: Path | None = None) -> list[int]:
    """Return the numbers of the tables of a paper that are here, in order."""
    found = files.folder(root).glob(f"{_known(paper)}_table_*.csv")
    return sorted(int(path.stem.rsplit("_", 1)[1]) for path in found)


def load(paper: str, table: int, root: Path | None = None) -> list[PublishedCell]:
    """Return every printed cell of a table, in the order of print.

    Args:
        paper: `probegen`, `genius` or `pixelbench`.
        table: the table's number in the paper.
        root: the checkout; by default the one that the current directory lies in.

    Raises:
        GensightError: no such paper or table, or a file that is damaged.
    """
    path = files.folder(root) / f"{_known(paper)}_table_{table}.csv"
    if not path.is_file():
        here = ", ".join(map(str, tables(paper, root)))
        raise GensightError(f"{path}: {paper} has no Table {table} here; there are {here}")
    return [_cell(path, line, row) for line, row in enumerate(files.read(path, COLUMNS), 2)]


def find(
    paper: str,
    table: int,
    model: str,
    benchmark: str,
    metric: str,
    setting: Mapping[str, str] | None = None,
    root: Path | None = None,
) -> PublishedCell | None:
    """Return one printed cell, or None where the table has none; names as the paper prints them.

    `setting` gives some or all of the cell's key-value pairs.

    Raises:
        GensightError: no such paper or table, or several cells fit (the message says which keys
            of the setting tell them apart).
    """
    fitting = select(
        load(paper, table, root), model=model, benchmark=benchmark, metric=metric, setting=setting
    )
    if len(fitting) > 1:
        raise GensightError(
            f"{paper} Table {table}: {len(fitting)} cells are {model}, {benchmark}, {metric}; "
            f"tell them apart by {_differing(fitting)}"
        )
    return fitting[0] if fitting else None


def select(
    cells: Iterable[PublishedCell],
    *,
    model: str | None = None,
    benchmark: str | None = None,
    metric: str | None = None,
    setting: Mapping[str, str] | None = None,
) -> list[PublishedCell]:
    """Return the cells that have the given names and at least the given pairs of a setting."""
    wanted = (setting or {}).items()
    return [
        cell
        for cell in cells
        if (model is None or cell.model == model)
        and (benchmark is None or cell.benchmark == benchmark)
        and (metric is None or cell.metric == metric)
        and wanted <= cell.setting.items()
    ]


def _known(paper: str) -> str:
    if paper not in PAPERS:
        raise GensightError(f"paper '{paper}' is not known; allowed: {', '.join(PAPERS)}")
    return paper


def _differing(cells: list[PublishedCell]) -> str:
    keys = sorted({key for cell in cells for key in cell.setting})
    values = {key: {cell.setting.get(key) for cell in cells} for key in keys}
    return ", ".join(key for key in keys if len(values[key]) > 1) or "nothing: it is printed twice"


def _cell(path: Path, line: int, row: Mapping[str, str]) -> PublishedCell:
    status, better = row["status"], row["higher_is_better"]
    paper, table = re.fullmatch(r"([a-z]+)_table_(\d+)", path.stem).groups()
    if status not in STATUSES or better not in BETTER or bool(row["value"]) is (status in MARKS):
        raise GensightError(f"{path}: row {line}: status, value and higher_is_better do not fit")
    if (row["paper"], row["table"]) != (paper, table):
        raise GensightError(f"{path}: row {line}: paper and table are not those of the file's name")
    return PublishedCell(
        paper=paper,
        table=int(table),
        row_group=row["row_group"],
        model=row["model"],
        benchmark=row["benchmark"],
        setting=_setting(path, line, row["setting"]),
        metric=row["metric"],
        value=files.number(path, line, row["value"]) if row["value"] else None,
        printed=row["value"] or MARKS[status],
        status=status,
        higher_is_better=BETTER[better],
        derived=row["derived"],
        note=row["note"],
    )


def _setting(path: Path, line: int, text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(";") if part]
    if not all(key and equals for key, equals, _ in pairs):
        raise GensightError(f"{path}: row {line}: setting '{text}' must be key=value;key=value")
    return {key: value for key, _, value in pairs}
