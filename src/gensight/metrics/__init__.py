"""Metrics: from the parts of a measure to a number per sample and a number per cell.

A metric is one module of this folder, pure arithmetic on numbers. It declares

- `VERSION`, `MEASURE` (whose parts it reads), `HIGHER_IS_BETTER`, `UNIT`,
- `value(parts)`: the number of one sample, None where its parts do not define it,
- `aggregate(parts)`: the number of many samples, from arrays of parts in which NaN is missing; None
  if no sample defines it,
- `BOUNDS`, where its scale ends, if it ends (intervals are cut there),
- `INTERVAL`, how its uncertainty is computed: `mean` (the default), `percentile`, `ratio`,
  `pooled`, `rate`, `log_mean`, `log_mean_square` or `none` (see `gensight.statistics.cells`). For
  `ratio` it names the parts summed above (`NUMERATOR`) and below (`DENOMINATOR`), for
  `log_mean_square` the squares (`NUMERATOR`), for `pooled` each (weight, parts above, parts below)
  in `POOLS`. Resampling never calls `aggregate`: that is what the kind says, or the kind is `none`,
- `RANKED = False`, where it is a diagnosis and no score: models are then not ranked by it.

Sums are correctly rounded (math.fsum), so the order of the samples changes no bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from gensight import modules
from gensight.specs import declared

Value = Callable[[Mapping[str, float]], float | None]
Aggregate = Callable[[Mapping[str, ArrayLike]], float | None]


def names() -> tuple[str, ...]:
    """Return the names of the metrics of this folder."""
    return declared.names("metrics")


def load(name: str) -> ModuleType:
    """Import a metric by name; an unknown name is a SpecError that lists the known ones."""
    return modules.load("metrics", name)


def part_of(name: str, scale: float = 1) -> Value:
    """Return the value of a metric that is one part of a sample, times `scale`."""

    def _value(parts: Mapping[str, float]) -> float | None:
        return scale * parts[name] if name in parts else None

    factor = "" if scale == 1 else f", times {scale}"
    _value.__doc__ = f"Return {name} of one sample{factor}, None where it is not defined."
    return _value


def share_of(numerator: Sequence[str], denominator: Sequence[str]) -> Value:
    """Return the value, in percent, of one sample's parts over its parts; None over nothing."""

    def _value(parts: Mapping[str, float]) -> float | None:
        total = sum(parts.get(name, 0.0) for name in denominator)
        return 100 * sum(parts.get(name, 0.0) for name in numerator) / total if total else None

    _value.__doc__ = f"Return {' + '.join(numerator)} over {' + '.join(denominator)} of one sample."
    return _value


def values_of(value: Value, parts: Mapping[str, ArrayLike]) -> np.ndarray:
    """Return the value of every sample, float64 (n,), NaN where it is not defined."""
    columns = {name: np.asarray(column, np.float64).tolist() for name, column in parts.items()}
    found = [
        value({k: v for k, v in zip(columns, row, strict=True) if not math.isnan(v)})
        for row in zip(*columns.values(), strict=True)
    ]
    return np.array([math.nan if v is None else v for v in found], np.float64)


def mean_of(value: Value) -> Aggregate:
    """Return the aggregate that averages the defined values of the samples."""

    def _aggregate(parts: Mapping[str, ArrayLike]) -> float | None:
        values = values_of(value, parts)
        kept = values[~np.isnan(values)].tolist()
        return math.fsum(kept) / len(kept) if kept else None

    _aggregate.__doc__ = "Average the defined values of the samples, each with equal weight."
    return _aggregate


def ratio_of(numerator: Sequence[str], denominator: Sequence[str]) -> Aggregate:
    """Return the aggregate, in percent, of summed parts over summed parts."""

    def _aggregate(parts: Mapping[str, ArrayLike]) -> float | None:
        tops, bottoms = sums_of(numerator, parts), sums_of(denominator, parts)
        kept = ~np.isnan(tops + bottoms)
        total = math.fsum(bottoms[kept].tolist())
        return 100 * math.fsum(tops[kept].tolist()) / total if total else None

    _aggregate.__doc__ = (
        f"Divide {' + '.join(numerator)} by {' + '.join(denominator)}, each summed."
    )
    return _aggregate


def sums_of(names: Sequence[str], parts: Mapping[str, ArrayLike]) -> np.ndarray:
    """Return the sum of some parts for every sample, float64 (n,), NaN where one is missing."""
    size = len(np.asarray(next(iter(parts.values())))) if parts else 0
    missing = np.full(size, math.nan)
    return sum((np.asarray(parts.get(name, missing), np.float64) for name in names), np.zeros(size))
