"""From summary rows to a table of typed cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gensight.errors import RecordError, SpecError
from gensight.records import Summary
from gensight.rounding import rounded
from gensight.specs.tables import ColumnSpec, TableOptionsSpec, TableSpec
from gensight.specs.words import nearest
from gensight.tables.cells import (
    NOT_APPLICABLE,
    Cell,
    Column,
    Group,
    ModelInfo,
    Row,
    RunFacts,
    Table,
)
from gensight.tables.notes import table_notes
from gensight.tables.rules import (
    failing_share,
    make_cell,
    mark_best,
    may_be_best,
    readable_cell,
)
from gensight.tables.select import SummaryIndex


@dataclass(frozen=True)
class _Material:
    """What every step of the building reads."""

    spec: TableSpec
    index: SummaryIndex
    infos: Mapping[str, ModelInfo]
    columns: tuple[Column, ...]


def build_table(
    spec: TableSpec,
    summaries: Iterable[Summary],
    models: Mapping[str, ModelInfo],
    benchmarks: Mapping[str, str],
    facts: RunFacts,
) -> Table:
    """Set summary rows into a table; the same rows in any order give the same table.

    Args:
        spec: the table's YAML.
        summaries: every summary row of the table's benchmarks.
        models: display info of every model of the run.
        benchmarks: printed label of each benchmark.
        facts: the run's name, the table's mark and the protocol in words.

    Raises:
        SpecError: the spec lists a model that is not in the run, or needs a variant's name.
        RecordError: two summary rows are the same cell, or disagree about a floor or ceiling.
    """
    index = SummaryIndex(summaries)
    columns = tuple(_columns(spec, index, benchmarks))
    material = _Material(spec, index, models, columns)
    groups = [*_groups(material), *_bounds(material)]
    return Table(
        title=spec.title,
        caption=spec.caption,
        label=spec.label,
        run=facts.name,
        mark=facts.mark,
        columns=columns,
        groups=tuple(groups),
        notes=tuple(table_notes(spec, columns, groups, models, benchmarks, facts)),
    )


def _columns(
    spec: TableSpec, index: SummaryIndex, benchmarks: Mapping[str, str]
) -> Iterable[Column]:
    """Yield the printed columns: each metric, its gain, and the answers read after each block."""
    block: list[Column] = []
    for column in spec.columns:
        label = benchmarks.get(column.benchmark, column.benchmark)
        group = label if column.group is None else column.group
        if block and block[-1].group != group:
            yield from _closed(block, spec.options)
            block = []
        direction = _direction(column, index)
        block.append(
            Column(spec=column, group=group, header=column.header, higher_is_better=direction)
        )
        if spec.options.show_gain and column.statistic == "value" and column.minus_fit is None:
            update = {"statistic": "gain", "header": "gain", "scale": 100.0, "decimals": 0}
            gain = column.model_copy(update=update)
            block.append(Column(spec=gain, group=group, header="gain", higher_is_better=True))
    yield from _closed(block, spec.options)


def _closed(block: list[Column], options: TableOptionsSpec) -> list[Column]:
    if not options.show_coverage:
        return block
    first = block[0]
    return [*block, Column(spec=first.spec, group=first.group, header="valid/n", readable=True)]


def _direction(column: ColumnSpec, index: SummaryIndex) -> bool | None:
    if column.statistic in ("coverage", "format_valid", "gain"):
        return True
    directions = {row.higher_is_better for row in index.column_rows(column)}
    return directions.pop() if len(directions) == 1 else None


def _groups(material: _Material) -> list[Group]:
    """Return the blocks of rows in the spec's order, then those it does not name by model order."""
    spec, infos = material.spec, material.infos
    rows = list(_rows(material))
    labels = {group.name: group.label for group in spec.rows.groups}
    ranks = {name: place for place, name in enumerate(labels)}
    present = {row.group for row in rows}
    first = {g: min(infos[r.model].order for r in rows if r.group == g) for g in present}
    order = sorted(present, key=lambda g: (ranks.get(g, len(ranks)), first[g], g))
    groups = []
    for name in order:
        members = [row for row in rows if row.group == name]
        if spec.options.bold == "best_per_group":
            members = _with_best(members, material)
        groups.append(Group(name=name, label=labels.get(name, name), rows=tuple(members)))
    return groups


def _with_best(rows: list[Row], material: _Material) -> list[Row]:
    columns = material.columns
    candidates = [
        None if column.readable or not may_be_best(column.spec) else column.spec
        for column in columns
    ]
    directions = [column.higher_is_better for column in columns]
    return mark_best(rows, [material.infos[row.model] for row in rows], candidates, directions)


def _rows(material: _Material) -> Iterable[Row]:
    for model in _models(material):
        info = material.infos[model]
        severities = material.index.severities(model, material.spec.columns)
        if material.spec.options.severity == "hide":
            severities = [severity for severity in severities if severity is None]
        if not severities and material.spec.rows.models != "run":
            severities = [None]
        for severity in severities:
            row = Row(
                model=model,
                label=_label(info, severity),
                group=info.group,
                role=info.role,
                severity=severity,
                note=info.note,
            )
            yield replace(row, cells=tuple(_cells(row, info, material)))


def _models(material: _Material) -> list[str]:
    """Return the models in printing order: the spec's list, or the run's by display order."""
    infos, wanted = material.infos, material.spec.rows.models
    if wanted == "run":
        return sorted(infos, key=lambda name: (infos[name].order, name))
    for name in wanted:
        if name not in infos:
            known = ", ".join(sorted(infos))
            raise SpecError(
                f"table '{material.spec.title}': rows.models: '{name}' is not a model of the run"
                f"{nearest(name, infos)}; allowed: {known}"
            )
    return list(wanted)


def _label(info: ModelInfo, severity: float | None) -> str:
    if severity is None:
        return info.label
    gap = "" if info.severity_unit in ("", "°") else " "
    return f"{info.label}, {severity:g}{gap}{info.severity_unit}"


def _cells(row: Row, info: ModelInfo, material: _Material) -> Iterable[Cell]:
    options = material.spec.options
    failed_above = failing_share(info, options)
    block: list[Cell] = []
    for column in material.columns:
        if column.readable:
            yield readable_cell(block)
            block = []
            continue
        spec = column.spec
        summary = material.index.find(row.model, row.severity, spec, spec.fit)
        subtracted = None
        if spec.minus_fit is not None:
            subtracted = material.index.find(row.model, row.severity, spec, spec.minus_fit)
        wanted = options.show_interval if spec.show_interval is None else spec.show_interval
        block.append(make_cell(spec, summary, subtracted, failed_above, wanted))
        yield block[-1]


def _bounds(material: _Material) -> list[Group]:
    """Return the floor and the ceiling of every column as a last block, if any is known."""
    if not material.spec.options.show_floor_ceiling:
        return []
    rows = []
    for bound in ("floor", "ceiling"):
        cells = tuple(_bound_cell(column, bound, material) for column in material.columns)
        if any(cell.kind == "number" for cell in cells):
            label = bound.capitalize()
            rows.append(Row(model=bound, label=label, group="bounds", role=bound, cells=cells))
    return [Group(name="bounds", label="", rows=tuple(rows))] if rows else []


def _bound_cell(column: Column, bound: str, material: _Material) -> Cell:
    spec = column.spec
    if column.readable or spec.statistic != "value" or spec.minus_fit is not None:
        return NOT_APPLICABLE
    rows = [row for row in material.index.column_rows(spec) if _usable(getattr(row, bound))]
    if not rows:
        return NOT_APPLICABLE
    numbers = {getattr(row, bound) for row in rows}
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
