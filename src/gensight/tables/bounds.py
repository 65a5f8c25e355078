"""The floor and the ceiling of every column, as a last block of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gensight.errors import RecordError
from gensight.rounding import rounded
from gensight.specs.tables import TableSpec
from gensight.tables.cells import NOT_APPLICABLE, Cell, Column, Group, Row
from gensight.tables.select import SummaryIndex


def bounds_group(spec: TableSpec, columns: Sequence[Column], index: SummaryIndex) -> list[Group]:
    """Return the block of bounds, or no block where none is known or asked for.

    Raises:
        RecordError: the summary rows of a column disagree about its floor or ceiling.
    """
    if not spec.options.show_floor_ceiling or spec.rows.entries:
        return []
    rows = []
    for bound in ("floor", "ceiling"):
        cells = tuple(_bound_cell(column, bound, index) for column in columns)
        if any(cell.kind in ("number", "words") for cell in cells):
            label = bound.capitalize()
            rows.append(Row(model=bound, label=label, group="bounds", role=bound, cells=cells))
    return [Group(name="bounds", label="", rows=tuple(rows))] if rows else []


def _bound_cell(column: Column, bound: str, index: SummaryIndex) -> Cell:
    spec = column.spec
    plain = spec.statistic == "value" and spec.minus_fit is None and spec.average_of is None
    if column.has_words or not plain:
        return NOT_APPLICABLE
    rows = [row for row in index.column_rows(spec) if _usable(getattr(row, bound))]
    if not rows:
        return NOT_APPLICABLE
    numbers = {getattr(row, bound) for row in rows}
    if spec.fit == "native" and len(numbers) > 1:
        # Rows in different spaces have different bounds: all of them are told.
        told = [rounded(number, spec.decimals, spec.scale) for number in sorted(numbers)]
        return Cell(kind="words", printed=" / ".join(dict.fromkeys(told)))
    if len(numbers) > 1:
        raise RecordError(
            f"summaries of {spec.benchmark} disagree about the {bound} of {spec.metric}: "
            f"{sorted(numbers)}; rebuild results/summaries/{spec.benchmark}.parquet"
        )
    number = numbers.pop()
    printed = rounded(number, spec.decimals, spec.scale)
    return Cell(kind="number", number=number, printed=printed, summary=rows[0])


def _usable(number: float | None) -> bool:
    return number is not None and math.isfinite(number)
