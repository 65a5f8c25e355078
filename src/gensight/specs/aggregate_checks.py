"""Checks of aggregates against the benchmarks, models and other aggregates that they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gensight.errors import SpecError
from gensight.specs.aggregates import AggregateSpec
from gensight.specs.correlation_figure import CorrelationFigureSpec
from gensight.specs.words import refuse_unknown

if TYPE_CHECKING:
    from gensight.specs.project import Project


def check_aggregate(
    file: str,
    name: str,
    spec: AggregateSpec,
    project: Project,
    check_number: Callable[..., None],
) -> None:
    """Check that an aggregate's numbers, models and rows of others are there.

    `check_number(file, key, number, benchmark)` checks one number, as a table's column is checked.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    for room, taken in (("benchmark", project.benchmarks), ("sweep", project.sweeps)):
        if name in taken:
            raise SpecError(f"{file}: rename it; there is a {room} of this name")
    for key, number in spec.numbers.items():
        place = f"numbers.{key}."
        refuse_unknown(file, f"{place}benchmark", [number.benchmark], project.benchmarks)
        check_number(file, place, number, project.benchmarks[number.benchmark])
    for key, models in spec.named_models.items():
        refuse_unknown(file, key, models, project.models)
    for place, correlation in enumerate(spec.correlations):
        for axis in ("x", "y"):
            side = getattr(correlation, axis)
            if side.aggregate is not None:
                key = f"correlations.{place}.{axis}"
                refuse_unknown(file, f"{key}.aggregate", [side.aggregate], project.aggregates)
                rows = [row.name for row in project.aggregates[side.aggregate].rows]
                refuse_unknown(file, f"{key}.row", [side.row], rows)
    _check_no_circle(file, name, project, [name])


def check_correlation_figure(file: str, spec: CorrelationFigureSpec, project: Project) -> None:
    """Check that the panels of a figure are correlations that are there, along their sides.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    refuse_unknown(file, "aggregate", [spec.aggregate], project.aggregates)
    known = {one.name: one for one in project.aggregates[spec.aggregate].correlations}
    for place, panel in enumerate(spec.panels):
        key = f"panels.{place}"
        refuse_unknown(file, f"{key}.correlation", [panel.correlation], known)
        for name in ("x", "y"):
            axis, side = getattr(panel, name), getattr(known[panel.correlation], name)
            wanted = (side.aggregate or spec.aggregate, side.row)
            if (axis.aggregate, axis.row) != wanted:
                raise SpecError(
                    f"{file}: {key}.{name}: '{panel.correlation}' has '{wanted[1]}' of "
                    f"'{wanted[0]}' on this side, not '{axis.row}' of '{axis.aggregate}'; write it"
                )


def _check_no_circle(file: str, name: str, project: Project, above: list[str]) -> None:
    for other in project.aggregates[name].aggregates:
        if other in above:
            raise SpecError(
                f"{file}: correlations: {' needs '.join([*above, other])}, which is a circle; "
                f"take a row from an aggregate that needs none of these"
            )
        _check_no_circle(file, other, project, [*above, other])
