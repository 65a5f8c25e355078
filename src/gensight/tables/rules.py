"""The rules of a cell: number, x, incomplete or nothing; and which cell of a group is best.

Source: PROTOCOLS 1.3. x is a failure of format, not of quality: a cell fails when even the upper
Wilson bound of its format-valid share lies below what `failed_above` leaves. The number stays in
the table, small, because a cell that vanishes is the cheapest way to look better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gensight.records import Summary
from gensight.rounding import rounded
from gensight.specs.tables import ColumnSpec, TableOptionsSpec
from gensight.tables.cells import FAILING_ROLES, NOT_APPLICABLE, Cell, ModelInfo, Row

# Shares of readable or well-formed answers are what x is decided from; they never print x.
_SHARES = ("coverage", "format_valid")


def failing_share(info: ModelInfo, options: TableOptionsSpec) -> float | None:
    """Return the share of format-invalid answers beyond which this model's cells print x."""
    if info.role not in FAILING_ROLES or info.failed_above is None:
        return None
    return info.failed_above if options.failed_above is None else options.failed_above


def is_failed(summary: Summary, failed_above: float | None) -> bool:
    """Whether more than `failed_above` of the answers are surely in another format."""
    if failed_above is None or summary.format_valid_high is None:
        return False
    return summary.format_valid_high < 1.0 - failed_above


def gain(summary: Summary) -> float | None:
    """Return (value - floor) / (ceiling - floor): 0 for blind, 1 for the truth (PROTOCOLS 1.7).

    None where a part is missing or the ceiling is no better than the floor. It has the same meaning
    whether higher or lower values are better.
    """
    if summary.value is None or summary.floor is None or summary.ceiling is None:
        return None
    span = summary.ceiling - summary.floor
    if (span if summary.higher_is_better else -span) <= 0:
        return None
    return (summary.value - summary.floor) / span


def number_of(column: ColumnSpec, summary: Summary, subtracted: Summary | None) -> float | None:
    """Return the unrounded, unscaled number a column shows of a summary; None if undefined."""
    number = gain(summary) if column.statistic == "gain" else getattr(summary, column.statistic)
    if number is not None and column.minus_fit is not None:
        known = subtracted is not None and subtracted.value is not None
        number = number - subtracted.value if known else None
    return number if number is not None and math.isfinite(number) else None


def make_cell(
    column: ColumnSpec,
    summary: Summary | None,
    subtracted: Summary | None,
    failed_above: float | None,
    show_interval: bool,
) -> Cell:
    """Return the cell of a column for a model's summary row (`subtracted`: under minus_fit)."""
    if summary is None or (column.minus_fit is not None and subtracted is None):
        return NOT_APPLICABLE
    number = number_of(column, summary, subtracted)
    printed = "" if number is None else rounded(number, column.decimals, column.scale)
    marks = _marks(column, summary)
    if summary.infrastructure or (subtracted is not None and subtracted.infrastructure):
        return Cell(kind="incomplete", number=number, printed=printed, summary=summary)
    if column.statistic not in _SHARES and is_failed(summary, failed_above):
        return Cell(kind="failed", number=number, printed=printed, summary=summary)
    if number is None:
        return Cell(kind="undefined", summary=summary)
    interval = _interval(column, summary) if show_interval else None
    return Cell(
        kind="number",
        number=number,
        printed=printed,
        interval=interval,
        marks=marks,
        summary=summary,
    )


def _interval(column: ColumnSpec, summary: Summary) -> tuple[str, str] | None:
    low, high = summary.interval_low, summary.interval_high
    if column.statistic != "value" or column.minus_fit is not None:
        return None
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return (
        rounded(low, column.decimals, column.scale),
        rounded(high, column.decimals, column.scale),
    )


def _marks(column: ColumnSpec, summary: Summary) -> tuple[str, ...]:
    if column.statistic != "value" or column.minus_fit is not None:
        return ()
    setters = {"floor": summary.floor_model, "ceiling": summary.ceiling_model}
    if summary.severity is not None:
        return ()
    return tuple(mark for mark, model in setters.items() if model == summary.model)


def readable_cell(cells: Sequence[Cell]) -> Cell:
    """Return `read/scored` answers of neighbouring cells, each distinct pair once."""
    rows = [cell.summary for cell in cells if cell.summary is not None]
    pairs = sorted({(row.n_valid, row.n) for row in rows})
    if not pairs:
        return NOT_APPLICABLE
    return Cell(kind="readable", printed=", ".join(f"{read}/{n}" for read, n in pairs))


def may_be_best(column: ColumnSpec) -> bool:
    """Whether a best cell means anything: not for shares, valid-only numbers or differences.

    A valid-only number rises when a model refuses the hard items (PROTOCOLS 1.4).
    """
    return column.statistic in ("value", "gain") and column.minus_fit is None


def mark_best(
    rows: Sequence[Row],
    infos: Sequence[ModelInfo],
    columns: Sequence[ColumnSpec | None],
    directions: Sequence[bool | None],
) -> list[Row]:
    """Mark the best cells of one group of rows, column by column.

    Only measured rows with a number compete, and one competitor alone is not called best. Cells
    that print the same number as the best one share the mark. `columns` holds None where a column
    has no best cell.
    """
    marked = [list(row.cells) for row in rows]
    for place, (column, higher) in enumerate(zip(columns, directions, strict=True)):
        if column is None or higher is None:
            continue
        rivals = [
            line
            for line, info in zip(marked, infos, strict=True)
            if info.competes and line[place].kind == "number"
        ]
        if len(rivals) < 2:
            continue
        pick = max if higher else min
        best = pick((line[place] for line in rivals), key=lambda cell: cell.number)
        for line in rivals:
            if line[place].printed == best.printed:
                line[place] = replace(line[place], best=True)
    return [replace(row, cells=tuple(line)) for row, line in zip(rows, marked, strict=True)]
