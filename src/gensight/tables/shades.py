"""Shades behind numbers: white for the worst of a family of columns, blue for the best.

The columns of a family share one scale, so that equal shades mean equal numbers. Its ends are
stated, or the worst and the best number of the measured rows; published rows then have ends of
their own, for they are not compared with measured ones. Other rows are shaded on the measured
scale, and end where it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gensight.errors import SpecError
from gensight.specs.tables import ShadeSpec
from gensight.tables.cells import COMPETING_ROLES, Cell, Column, Group, Row

WHITE, BLUE = (255, 255, 255), (117, 170, 219)
PUBLISHED = "published"


def shaded(
    groups: Sequence[Group], columns: Sequence[Column], stated: Mapping[str, ShadeSpec]
) -> list[Group]:
    """Return the groups with every number of a shaded column in its shade.

    A family with less than two distinct numbers on a scale is not shaded. Where lower is better,
    the lowest number is blue.

    Raises:
        SpecError: more is better in one column of a family, and less in another.
    """
    for family in families(columns):
        _refuse_both_directions(columns, family)
    rows = [row for group in groups for row in group.rows]
    ends = {
        (family, is_published): _ends(rows, columns, family, is_published, stated.get(family))
        for family in families(columns)
        for is_published in (False, True)
    }
    return [
        replace(group, rows=tuple(_shaded(row, columns, ends) for row in group.rows))
        for group in groups
    ]


def families(columns: Sequence[Column]) -> list[str]:
    """Return the families of the shaded columns, each once."""
    named = (_family(column) for column in columns)
    return list(dict.fromkeys(family for family in named if family is not None))


def colour(shade: float) -> str:
    """Return a shade in [0, 1] as RRGGBB.

    >>> colour(0.0), colour(1.0)
    ('FFFFFF', '75AADB')
    """
    mixed = (white + (blue - white) * shade for white, blue in zip(WHITE, BLUE, strict=True))
    return "".join(f"{round(channel):02X}" for channel in mixed)


def _refuse_both_directions(columns: Sequence[Column], family: str) -> None:
    of_family = [column for column in columns if column.spec.shade == family]
    directions = {column.higher_is_better for column in of_family} - {None}
    if len(directions) > 1:
        raise SpecError(
            f"columns with shade: {family} ({', '.join(c.header for c in of_family)}): more is "
            f"better in some and less in others; give them names of their own"
        )


def _ends(
    rows: Sequence[Row],
    columns: Sequence[Column],
    family: str,
    is_published: bool,
    stated: ShadeSpec | None,
) -> tuple[float, float] | None:
    """Return the numbers of white and of blue, in printed units, if there is such a scale."""
    if stated is not None:
        return stated.white, stated.blue
    roles = {PUBLISHED} if is_published else COMPETING_ROLES
    found = [
        (number, column.higher_is_better)
        for row in rows
        if row.role in roles
        for cell, column in zip(row.cells, columns, strict=True)
        if _family(column) == family and (number := _number(cell, column)) is not None
    ]
    numbers = {number for number, _ in found}
    if len(numbers) < 2:
        return None
    worst, best = min(numbers), max(numbers)
    return (best, worst) if any(higher is False for _, higher in found) else (worst, best)


def _family(column: Column) -> str | None:
    return column.spec.shade if column.kind == "number" else None


def _number(cell: Cell, column: Column) -> float | None:
    """Return the number of a cell in printed units, if it is one."""
    if cell.kind != "number" or cell.number is None:
        return None
    return cell.number * column.spec.scale


def _shaded(
    row: Row,
    columns: Sequence[Column],
    ends: Mapping[tuple[str, bool], tuple[float, float] | None],
) -> Row:
    cells = []
    for cell, column in zip(row.cells, columns, strict=True):
        family, number = _family(column), _number(cell, column)
        scale = ends.get((family, row.role == PUBLISHED)) if family is not None else None
        if scale is not None and number is not None:
            white, blue = scale
            share = (number - white) / (blue - white)
            cell = replace(cell, shade=min(max(share, 0.0), 1.0))
        cells.append(cell)
    return replace(row, cells=tuple(cells))


def shade_notes(
    columns: Sequence[Column], groups: Sequence[Group], stated: Mapping[str, ShadeSpec]
) -> list[str]:
    """Return what the shades of a table mean, of the families that have any."""
    seen = {
        column.spec.shade
        for group in groups
        for row in group.rows
        for cell, column in zip(row.cells, columns, strict=True)
        if cell.shade is not None
    }
    free, fixed = [], []
    for family in families(columns):
        if family not in seen:
            continue
        if family in stated:
            fixed.append(f"{family}: {stated[family].white:g} to {stated[family].blue:g}")
        else:
            free.append(family)
    notes = []
    if free:
        notes.append(
            f"Shades ({', '.join(free)}): white is the worst, blue the best measured number of "
            f"such columns; published rows have a scale of their own."
        )
    if fixed:
        notes.append(f"Shades, white to blue: {'; '.join(fixed)}.")
    return notes
