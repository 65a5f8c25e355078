"""The printed columns of a table: subjects spelled out, and words beside the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gensight.specs.tables import ColumnSpec, TableOptionsSpec, TableSpec
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
    if not index.has_rows:  # numbers in print alone: nothing was read here, and nothing is ranked
        update = {"show_coverage": False, "show_rank": False, "show_gain": False}
        options = options.model_copy(update=update)
    block: list[Column] = []
    for column in _about_subjects(spec.columns, infos, subjects):
        label = benchmarks.get(column.benchmark, column.benchmark)
        group = label if column.group is None else column.group
        if block and block[-1].group != group:
            yield from _closed(block, options)
            block = []
        block += _with_company(column, group, options, _direction(column, index))
    yield from _closed(block, options)


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


def _with_company(
    column: ColumnSpec, group: str, options: TableOptionsSpec, direction: bool | None
) -> list[Column]:
    columns = [Column(spec=column, group=group, header=column.header, higher_is_better=direction)]
    if options.show_gain and column.statistic == "value" and column.minus_fit is None:
        update = {"statistic": "gain", "header": "gain", "scale": 100.0, "decimals": 0}
        gain = column.model_copy(update=update)
        columns.append(Column(spec=gain, group=group, header="gain", higher_is_better=True))
    if options.show_rank and column.statistic == "value" and may_be_best(column):
        columns.append(Column(spec=column, group=group, header="rank", kind="rank"))
    return columns


def _closed(block: list[Column], options: TableOptionsSpec) -> list[Column]:
    if not options.show_coverage or not any(column.spec.ranked for column in block):
        return block
    first = block[0]
    return [*block, Column(spec=first.spec, group=first.group, header="valid/n", kind="readable")]


def _direction(column: ColumnSpec, index: SummaryIndex) -> bool | None:
    if column.statistic in ("coverage", "format_valid", "gain"):
        return True
    directions = {row.higher_is_better for row in index.column_rows(column)}
    return directions.pop() if len(directions) == 1 else None
