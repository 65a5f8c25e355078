"""From summary rows to a table of typed cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gensight.records import Summary
from gensight.specs.tables import TableSpec
from gensight.tables.bounds import bounds_group
from gensight.tables.cells import Group, ModelInfo, Row, RunFacts, Table
from gensight.tables.citations import Citations
from gensight.tables.columns import printed_columns
from gensight.tables.notes import table_notes
from gensight.tables.rows import Material, entry_rows, model_rows
from gensight.tables.rules import mark_best, mark_best_set, may_be_best
from gensight.tables.select import SummaryIndex
from gensight.tables.shades import shaded


def build_table(
    spec: TableSpec,
    summaries: Iterable[Summary],
    models: Mapping[str, ModelInfo],
    benchmarks: Mapping[str, str],
    facts: RunFacts,
    subjects: Sequence[str] = (),
    citations: Citations | None = None,
) -> Table:
    """Set summary rows into a table; the same rows in any order give the same table.

    Args:
        spec: the table's YAML.
        summaries: every summary row of the table's benchmarks and sweeps.
        models: display info of every model of the run.
        benchmarks: printed label of each benchmark.
        facts: the run's name, the table's mark and the protocol in words.
        subjects: the models that the table is about, where it is an ablation.
        citations: the numbers that a paper prints in this table, where they are to be shown.

    Raises:
        SpecError: the spec lists a model that is not in the run, or needs a variant's name.
        RecordError: two summary rows are the same cell, or disagree about a floor or ceiling.
    """
    index = SummaryIndex(summaries)
    columns = tuple(printed_columns(spec, index, benchmarks, models, subjects))
    material = Material(spec, index, models, columns, tuple(subjects), citations)
    rows = shaded(_groups(material), columns, spec.options.shades)
    groups = [*rows, *bounds_group(spec, columns, index)]
    return Table(
        title=spec.title,
        caption=spec.caption,
        label=spec.label,
        run=facts.name,
        mark=facts.mark,
        heading=spec.rows.heading,
        columns=columns,
        groups=tuple(groups),
        notes=tuple(table_notes(spec, columns, groups, models, benchmarks, facts)),
    )


def _groups(material: Material) -> list[Group]:
    """Return the blocks of rows in the spec's order, then those it does not name, as they come."""
    spec = material.spec
    rows = list(entry_rows(material) if spec.rows.entries else model_rows(material))
    labels = {group.name: group.label for group in spec.rows.groups}
    order = [name for name in labels if any(row.group == name for row in rows)]
    order = list(dict.fromkeys([*order, *(row.group for row in rows)]))
    groups = []
    for name in order:
        members = _with_best([row for row in rows if row.group == name], material)
        groups.append(Group(name=name, label=labels.get(name, _heading(name)), rows=tuple(members)))
    return groups


def _heading(group: str) -> str:
    """Return the heading of a block that the spec does not name: a table of settings has none."""
    return "" if group == "rows" else group


def _with_best(rows: list[Row], material: Material) -> list[Row]:
    bold = material.spec.options.bold
    if bold == "none" or material.spec.rows.entries:
        return rows
    columns = [
        c.spec if not c.has_words and may_be_best(c.spec) else None for c in material.columns
    ]
    if bold == "best_set":
        return mark_best_set(rows, columns)
    infos = [material.infos[row.model] for row in rows]
    directions = [column.higher_is_better for column in material.columns]
    return mark_best(rows, infos, columns, directions, second=bold == "top_two")
