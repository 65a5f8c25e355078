"""The printed columns of a table: subjects spelled out, and words beside the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gensight.specs.aggregates import CORRELATED
from gensight.specs.tables import ColumnSpec, TableOptionsSpec, TableSpec, selected
from gensight.tables.cells import Column, ModelInfo
from gensight.tables.rules import may_be_best
from gensight.tables.select import SummaryIndex


def printed_columns(
    spec: TableSpec,
    index: SummaryIndex,
    benchmarks: Mapping[str, str],
    infos: Mapping[str, ModelInfo],
    subjects: Sequence[str],
) -> Iterator[Column]:
    """Yield the columns: each number, its gain and ranks, and what was read after each block."""
    options = spec.options
    if not index.has_ranks:
        options = options.model_copy(update={"show_rank": False})
    if not index.has_rows:  # numbers in print alone: nothing was read here
        options = options.model_copy(update={"show_coverage": False, "show_gain": False})
    columns = [c for c in spec.columns if index.has_rows or c.published is not None]
    block: list[Column] = []
    for column in _about_subjects(columns or spec.columns, infos, subjects):
        label = benchmarks.get(column.benchmark, column.benchmark)
        group = label if column.group is None else column.group
        own = Column(
            spec=column,
            group=group,
            header=column.header,
            judged_by="; ".join(_judges(spec, column, index)),
            higher_is_better=_direction(spec, column, index),
        )
        if block and block[-1].block != own.block:
            yield from _closed(block, options)
            block = []
        block += _with_company(own, options)
    yield from _closed(block, options)


def shown_of(spec: TableSpec, column: ColumnSpec) -> ColumnSpec:
    """Return what a column shows in its first row, where rows replace keys of columns."""
    entries = spec.rows.entries
    return selected(column, entries[0]) if entries else column


def _judges(spec: TableSpec, column: ColumnSpec, index: SummaryIndex) -> list[str]:
    """Return who judged in a column, whichever keys of it the rows replace."""
    shown = [selected(column, entry) for entry in spec.rows.entries] or [column]
    found = {row.judged_by for asked in shown for row in index.column_rows(asked)}
    return sorted(found - {None})


def _about_subjects(
    columns: Sequence[ColumnSpec], infos: Mapping[str, ModelInfo], subjects: Sequence[str]
) -> Iterator[ColumnSpec]:
    """Yield the columns with a model where the spec names the place of a subject."""
    for column in columns:
        if column.subject is None:
            yield column
            continue
        places = range(len(subjects)) if column.subject == "each" else [column.subject]
        for place in places:
            if place < len(subjects):
                yield _about(column, subjects[place], infos)


def _about(column: ColumnSpec, model: str, infos: Mapping[str, ModelInfo]) -> ColumnSpec:
    label = infos[model].label if model in infos else model
    header = column.header.replace("{model}", label)
    return column.model_copy(update={"model": model, "subject": None, "header": header})


def _with_company(own: Column, options: TableOptionsSpec) -> list[Column]:
    columns, column = [own], own.spec
    if options.show_gain and column.statistic == "value" and column.minus_fit is None:
        update = {"statistic": "gain", "header": "gain", "scale": 100.0, "decimals": 0}
        # A share between bounds has no place on the scale of the numbers that it is made from.
        gain = column.model_copy(update={**update, "shade": None})
        columns.append(replace(own, spec=gain, header="gain", higher_is_better=True))
    if options.show_rank and column.statistic == "value" and may_be_best(column):
        columns.append(replace(own, header="rank", higher_is_better=None, kind="rank"))
    return columns


def _closed(block: list[Column], options: TableOptionsSpec) -> list[Column]:
    if not options.show_coverage or not any(column.spec.ranked for column in block):
        return block
    counted = replace(block[0], header="valid/n", higher_is_better=None, kind="readable")
    return [*block, counted]


def _direction(spec: TableSpec, column: ColumnSpec, index: SummaryIndex) -> bool | None:
    if not column.has_direction:
        return None
    if any("metric" in entry.select for entry in spec.rows.entries):
        return None  # every row has its own direction
    column = shown_of(spec, column)
    if column.scorer == "aggregate" and column.metric in CORRELATED:
        return None  # of a correlation, its p and its models none is better
    if column.statistic in ("coverage", "format_valid", "gain"):
        return True
    directions = {row.higher_is_better for row in index.column_rows(column)}
    return directions.pop() if len(directions) == 1 else None
