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
    if column.crosses and column.statistic not in _SHARES and is_failed(summary, failed_above):
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
    return Cell(kind="words", printed=", ".join(f"{read}/{n}" for read, n in pairs))


def rank_cell(cell: Cell) -> Cell:
    """Return the interval of ranks of a number within its group: `1-3`, or `2` where it is one."""
    row = cell.summary
    if cell.kind != "number" or row is None or row.group_rank_low is None:
        return NOT_APPLICABLE
    low, high = row.group_rank_low, row.group_rank_high
    return Cell(kind="words", printed=str(low) if low == high else f"{low}–{high}", summary=row)


def average_cell(column: ColumnSpec, cells: Sequence[Cell]) -> Cell:
    """Return the plain mean of a row's other numbers, from unrounded ones; none if one is missing.

    ProbeGen Tables 5 and 7. A failed cell is never averaged.
    """
    numbers = [cell.number for cell in cells if cell.kind == "number"]
    if not numbers or len(numbers) < len(cells):
        return NOT_APPLICABLE
    mean = math.fsum(n for n in numbers if n is not None) / len(numbers)
    return Cell(kind="number", number=mean, printed=rounded(mean, column.decimals, column.scale))


def may_be_best(column: ColumnSpec) -> bool:
    """Whether a best cell means anything: not for shares, valid-only numbers or differences.

    A valid-only number rises when a model refuses the hard items (PROTOCOLS 1.4).
    """
    alone = column.ranked and column.minus_fit is None and column.average_of is None
    return alone and column.statistic in ("value", "gain")


def mark_best(
    rows: Sequence[Row],
    infos: Sequence[ModelInfo],
    columns: Sequence[ColumnSpec | None],
    directions: Sequence[bool | None],
    second: bool = False,
) -> list[Row]:
    """Mark the best cells of one group of rows, column by column; with `second`, the second too.

    Only measured rows with a number compete, and one competitor alone is not called best. Cells
    that print the same number as the best one share the mark, and so do seconds. `columns` holds
    None where a column has no best cell.
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
        printed = _printed_in_order([line[place] for line in rivals], higher)
        for line in rivals:
            cell = line[place]
            is_second = second and cell.printed in printed[1:2]
            line[place] = replace(cell, best=cell.printed == printed[0], leading=is_second)
    return [replace(row, cells=tuple(line)) for row, line in zip(rows, marked, strict=True)]


def _printed_in_order(cells: Sequence[Cell], higher: bool) -> list[str]:
    """Return what the cells print, the best first, each once."""
    known = [(cell.number, cell.printed) for cell in cells if cell.number is not None]
    known.sort(key=lambda pair: -pair[0] if higher else pair[0])
    return list(dict.fromkeys(printed for _, printed in known))


def mark_best_set(rows: Sequence[Row], columns: Sequence[ColumnSpec | None]) -> list[Row]:
    """Mark the cells that may be best of their group, and the best number among them.

    A model may be best if the lower end of its simultaneous rank interval is 1 (PROTOCOLS 2.4). A
    group of one is not called best.
    """
    marked = [list(row.cells) for row in rows]
    for place, column in enumerate(columns):
        if column is None or column.statistic != "value":
            continue
        rivals = [line[place] for line in marked if _is_ranked(line[place])]
        if len(rivals) < 2:
            continue
        higher = all(cell.summary.higher_is_better for cell in rivals if cell.summary)
        lead = (max if higher else min)(cell.number for cell in rivals if cell.number is not None)
        for line in marked:
            cell = line[place]
            if _is_ranked(cell) and cell.summary is not None:
                best = cell.summary.group_rank_low == 1
                line[place] = replace(cell, best=best, leading=cell.number == lead)
    return [replace(row, cells=tuple(line)) for row, line in zip(rows, marked, strict=True)]


def _is_ranked(cell: Cell) -> bool:
    row = cell.summary
    return cell.kind == "number" and row is not None and row.group_rank_low is not None
