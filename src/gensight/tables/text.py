"""A table as comma-separated values and as Markdown."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from gensight.tables.cells import Cell, Column, Group, Row, Table
from gensight.tables.notes import ROLE_MARKS, note_marks

_ARROWS = {True: " ↑", False: " ↓", None: ""}
_WORDS = {"failed": "×", "incomplete": "incomplete", "undefined": "–", "not_applicable": "–"}

# What a cell's summary row adds to its line, in this order and unrounded.
SUMMARY_FIELDS = (
    "variant",
    "unit",
    "higher_is_better",
    "value",
    "valid_only",
    "common_valid",
    "common_n",
    "interval_low",
    "interval_high",
    "interval_method",
    "n",
    "n_valid",
    "coverage",
    "infrastructure",
    "no_ground_truth",
    "degenerate",
    "aspect_changed",
    "format_valid",
    "format_valid_low",
    "format_valid_high",
    "clusters",
    "n_eff",
    "population_n",
    "finite_low",
    "finite_high",
    "uncertainty_flag",
    "family_size",
    "rank_low",
    "rank_high",
    "group_size",
    "group_rank_low",
    "group_rank_high",
    "smallest_difference",
    "floor",
    "floor_model",
    "ceiling",
    "ceiling_model",
)
_COLUMN_FIELDS = ("benchmark", "prompt", "scorer", "fit", "minus_fit", "stratum", "metric")
CSV_FIELDS = (
    "group",
    "model",
    "label",
    "role",
    "severity",
    "column_group",
    "column",
    *_COLUMN_FIELDS,
    "statistic",
    "scale",
    "decimals",
    "printed",
    "status",
    "best",
    "number",
    *SUMMARY_FIELDS,
    "run",
    "mark",
)


def render_csv(table: Table) -> str:
    """Return the table in long form: one line per cell, as `pandas.read_csv` likes it.

    `number` is what the column shows, unrounded and before `scale`; `printed` is the token of the
    printed table, rounded and scaled. Everything else is the summary row, unrounded, with floats
    written so that they read back exactly. Missing is empty. The columns that count read answers
    are left out: `n` and `n_valid` stand on every line. The last column holds
    the mark (`gensight-digest:<hex> ...`).
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_FIELDS)
    for group in table.groups:
        for row in group.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if not column.has_words:
                    writer.writerow(_csv_line(table, group, row, column, cell))
    return buffer.getvalue()


def _csv_line(table: Table, group: Group, row: Row, column: Column, cell: Cell) -> list[str]:
    spec = column.spec
    values: list[Any] = [group.label or group.name, row.model, row.label, row.role, row.severity]
    values += [column.block, column.header]
    # A row of settings replaces keys of its columns; the summary row says what it shows.
    shown = cell.summary or spec
    values += [getattr(shown, name, getattr(spec, name)) for name in _COLUMN_FIELDS]
    values += [spec.statistic, float(spec.scale), spec.decimals]
    values += [printed_token(cell), cell.kind, cell.best, cell.number]
    bound = row.role if group.name == "bounds" else None
    values += [_summary_value(cell, name, bound) for name in SUMMARY_FIELDS]
    values += [table.run, table.mark]
    return ["" if value is None else _exact(value) for value in values]


def _summary_value(cell: Cell, name: str, bound: str | None) -> Any:
    """Return a field of the cell's summary; a floor or ceiling row has its own bound alone."""
    if cell.summary is None:
        return None
    shared = ("unit", "variant", "higher_is_better", bound, f"{bound}_model")
    if bound is not None and name not in shared:
        return None
    return getattr(cell.summary, name)


def _exact(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def printed_token(cell: Cell) -> str:
    """Return what the printed table shows as its main token, with an ASCII minus and no marks."""
    return cell.printed if cell.kind in ("number", "words", "text") else _WORDS[cell.kind]


def render_markdown(table: Table) -> str:
    """Return the table as GitHub Markdown whose first line is the mark in a comment."""
    marks = note_marks(table.groups)
    names = [_escaped(table.heading), *(_column_name(column) for column in table.columns)]
    lines = [
        f"<!-- {table.mark} -->",
        f"## {_escaped(table.title)}",
        "",
        _escaped(table.caption),
        "",
        _line(names),
        _line([":--", *(":--" if c.kind == "text" else "--:" for c in table.columns)]),
    ]
    for group in table.groups:
        if group.label:
            lines.append(_line([f"*{_escaped(group.label)}*", *[""] * len(table.columns)]))
        for row in group.rows:
            lines.append(_line([_row_name(row, marks), *map(markdown_cell, row.cells)]))
    lines += ["", *(f"- {_escaped(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _column_name(column: Column) -> str:
    block = f"{_escaped(column.block)}: " if column.block else ""
    return block + _escaped(column.header) + _ARROWS[column.higher_is_better]


def _row_name(row: Row, marks: dict[str, str]) -> str:
    signs = (ROLE_MARKS.get(row.role, ""), marks[row.note] if row.note else "")
    return _escaped(row.label) + "".join(f"<sup>{sign}</sup>" for sign in signs if sign)


def markdown_cell(cell: Cell) -> str:
    """Return one cell as Markdown."""
    printed = cell.printed.replace("-", "−")
    if cell.kind == "failed":
        return f"× <sup>{printed}</sup>" if printed else "×"
    if cell.kind == "incomplete":
        return f"*incomplete* (n = {cell.summary.n if cell.summary else 0})"
    if cell.kind == "text":
        return _escaped(cell.printed)
    if cell.kind == "words":
        return printed
    if cell.kind != "number":
        return "–"
    text = f"**{printed}**" if cell.best else printed
    text = f"<u>{text}</u>" if cell.leading else text
    text += "".join(f"<sup>{mark[0]}</sup>" for mark in cell.marks)
    if cell.interval is not None:
        low, high = (bound.replace("-", "−") for bound in cell.interval)
        text += f" [{low}, {high}]"
    return text


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    """Return the text with everything escaped that Markdown or a table row would act on."""
    return re.sub(r"([\\`*_|<>\[\]#~])", r"\\\1", " ".join(text.split()))
