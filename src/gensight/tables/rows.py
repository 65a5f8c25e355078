"""The rows of a table: models at their severities, settings of an ablation, and printed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gensight.errors import SpecError
from gensight.records import Summary
from gensight.specs.tables import ColumnSpec, EntrySpec, TableSpec, elsewhere, selected
from gensight.specs.words import nearest
from gensight.tables.cells import API_TIME, NOT_APPLICABLE, Cell, Column, ModelInfo, Row
from gensight.tables.citations import Citations
from gensight.tables.rules import (
    average_cell,
    failing_share,
    make_cell,
    rank_cell,
    readable_cell,
)
from gensight.tables.select import SummaryIndex


@dataclass(frozen=True)
class Material:
    """What every step of the building reads."""

    spec: TableSpec
    index: SummaryIndex
    infos: Mapping[str, ModelInfo]
    columns: tuple[Column, ...]
    subjects: tuple[str, ...] = ()
    citations: Citations | None = None


def model_rows(material: Material) -> Iterator[Row]:
    """Yield a row for each model and severity, then the row of its printed numbers."""
    for model in _models(material):
        yield from _measured(model, material)
        yield from _printed(model, material)


def _measured(model: str, material: Material) -> Iterator[Row]:
    info, spec = material.infos[model], material.spec
    severities = material.index.severities(model, _places(spec.columns))
    if spec.options.severity == "hide":
        severities = [severity for severity in severities if severity is None]
    named = spec.rows.models != "run" and info.role != "published"
    if not severities and named and material.index.has_rows:
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
        cells = [
            _cell_of_model(model, severity, column.spec, info, material)
            for column in material.columns
            if not column.has_words
        ]
        yield replace(row, cells=_with_words(material.columns, cells))


def _printed(model: str, material: Material) -> Iterator[Row]:
    if material.citations is None:
        return
    info = material.infos[model]
    columns = [column.spec for column in material.columns if not column.has_words]
    cells = material.citations.of_model(info, columns)
    if cells is not None:
        yield Row(
            model=model,
            label=info.label,
            group=info.group,
            role="published",
            note=info.note,
            cells=_with_words(material.columns, cells),
        )


def entry_rows(material: Material) -> Iterator[Row]:
    """Yield a row for each setting of an ablation, then the row of its printed numbers."""
    columns = [column for column in material.columns if not column.has_words]
    specs = [column.spec for column in columns]
    for entry in material.spec.rows.entries:
        row = Row(
            model=entry.label,
            label=entry.label,
            group=entry.group,
            role="setting",
            highlight=entry.highlight,
        )
        if material.index.has_rows:
            cells: list[Cell] = []
            for spec in specs:
                cells.append(_cell_of_entry(entry, spec, cells, material))
            yield replace(row, cells=_with_words(material.columns, cells))
        if material.citations is not None:
            printed = material.citations.of_entry(entry, specs, material.infos)
            if printed is not None:
                cells_in_full = _with_words(material.columns, printed)
                yield replace(row, role="published", cells=cells_in_full)


def _cell_of_entry(
    entry: EntrySpec, column: ColumnSpec, before: Sequence[Cell], material: Material
) -> Cell:
    if column.average_of is not None:
        return average_cell(column, before)
    column = selected(column, entry)
    model = column.model or ""
    info = material.infos.get(model, ModelInfo(label=model, role="setting"))
    # Bounds belong to models: each row of settings has its own.
    return replace(_cell_of_model(model, None, column, info, material), marks=())


def _cell_of_model(
    model: str, severity: float | None, column: ColumnSpec, info: ModelInfo, material: Material
) -> Cell:
    """Return the cell of a model in a column, from the column's first place that has it."""
    if info.hosted and column.hosted == "nothing":
        return NOT_APPLICABLE
    options, index = material.spec.options, material.index
    summary: Summary | None = None
    for place in _places([column]):
        summary = index.find(model, severity, place, place.fit)
        if summary is not None:
            break
    subtracted = None
    if column.minus_fit is not None:
        subtracted = index.find(model, severity, column, column.minus_fit)
    wanted = options.show_interval if column.show_interval is None else column.show_interval
    cell = make_cell(column, summary, subtracted, failing_share(info, options), wanted)
    if info.hosted and column.hosted == "dagger" and cell.kind == "number":
        return replace(cell, marks=(*cell.marks, API_TIME))
    return cell


def _places(columns: Sequence[ColumnSpec]) -> list[ColumnSpec]:
    """Return where the numbers of columns may be: at their own place, then elsewhere."""
    others = [elsewhere(column, column.otherwise) for column in columns if column.otherwise]
    return [column for column in columns if column.average_of is None] + others


def _with_words(columns: Sequence[Column], cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells of all columns, with the words about the numbers before them."""
    row: list[Cell] = []
    block: list[Cell] = []
    numbers = iter(cells)
    for column in columns:
        if column.kind == "number":
            block.append(next(numbers))
            row.append(block[-1])
        elif column.kind == "rank":
            row.append(rank_cell(block[-1]))
        else:
            row.append(readable_cell(block))
            block = []
    return tuple(row)


def _models(material: Material) -> list[str]:
    """Return the models in printing order: the spec's list, or the run's by display order."""
    infos, wanted = material.infos, material.spec.rows.models
    if wanted == "run":
        return sorted(infos, key=lambda name: (infos[name].order, name))
    if wanted == "subjects":
        return [name for name in material.subjects if name in infos]
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
