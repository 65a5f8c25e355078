"""Correlations over models: a coefficient with its p, its interval and the number of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gensight.records import RowFile, Summary
from gensight.rounding import rounded
from gensight.specs.aggregates import CorrelationSpec, SideSpec
from gensight.statistics.bootstrap import NO_INTERVAL
from gensight.statistics.correlations import (
    Coefficient,
    coefficients,
    fisher_interval,
    models_needed,
)

#: Row of an aggregate: by model, its summary.
RowsByName = Mapping[str, Mapping[str, Summary]]


def by_row(rows: Iterator[Summary] | list[Summary] | RowFile[Summary]) -> RowsByName:
    """Return the aggregates among summary rows by their name, then by model."""
    found: dict[str, dict[str, Summary]] = {}
    for row in rows:
        if row.scorer == "aggregate":
            found.setdefault(row.metric, {})[row.model] = row
    return found


def correlated(
    spec: CorrelationSpec,
    own: RowsByName,
    others: Mapping[str, RowsByName],
    roles: Mapping[str, str],
    facts: Mapping[str, Any],
) -> Iterator[Summary]:
    """Yield what is told of one correlation: `model` is its name, `metric` what the number is.

    Models that lack a side are left out; while a model has answers missing, `infrastructure` counts
    it. `facts` are the columns that all rows of the file share.
    """
    x, y = (_side(side, own, others) for side in (spec.x, spec.y))
    names = sorted(set(x) & set(y))
    if spec.models == "measured":
        names = [name for name in names if roles.get(name) == "measured"]
    else:
        names = [name for name in names if name in spec.models]
    missing = sum(bool(x[name].infrastructure or y[name].infrastructure) for name in names)
    pairs = [
        (left, right)
        for name in names
        if (left := _number(x[name], spec.x)) is not None
        and (right := _number(y[name], spec.y)) is not None
    ]
    found = coefficients([left for left, _ in pairs], [right for _, right in pairs])
    for metric, value, interval, method in _told(found, len(pairs)):
        yield Summary(
            **facts,
            model=spec.name,
            variant="",
            metric=metric,
            higher_is_better=True,
            unit="",
            value=value,
            n=len(pairs),
            n_valid=len(pairs),
            infrastructure=missing,
            clusters=0,
            interval_low=interval[0],
            interval_high=interval[1],
            interval_method=method,
        )


Told = tuple[str, float | None, tuple[float | None, float | None], str]


def _told(found: Mapping[str, Coefficient], models: int) -> Iterator[Told]:
    none = (None, None)
    yield "models", float(models), none, NO_INTERVAL.method
    for name, one in found.items():
        interval = NO_INTERVAL
        if name == "pearson" and one.value is not None:
            interval = fisher_interval(one.value, models)
        orders = f"{'all' if one.exact else 'drawn'} orders: {one.orders}"
        yield name, one.value, interval[:2], interval.method
        yield f"{name}_p", one.p, none, orders
    r = found["pearson"].value
    needed = None if r is None or not 0 < abs(r) < 1 else float(models_needed(r))
    yield "models_needed", needed, none, NO_INTERVAL.method


def _side(side: SideSpec, own: RowsByName, others: Mapping[str, RowsByName]) -> Mapping[str, Any]:
    rows = own if side.aggregate is None else others[side.aggregate]
    return rows.get(side.row, {})


def _number(row: Summary, side: SideSpec) -> float | None:
    if row.value is None or side.decimals is None:
        return row.value
    return float(rounded(row.value, side.decimals))
