"""Metrics: from the parts of a measure to a number per sample and a number per cell.

A metric is one module of this folder, pure arithmetic on numbers. It declares

- `VERSION`, `MEASURE` (whose parts it reads), `HIGHER_IS_BETTER`, `UNIT`,
- `value(parts)`: the number of one sample, None where its parts do not define it,
- `aggregate(parts)`: the number of many samples, from arrays of parts in which NaN is missing; None
  if no sample defines it,
- `INTERVAL`, how its uncertainty is computed (see `gensight.statistics`; default `mean`), and for
  `ratio` the parts `NUMERATOR` and `DENOMINATOR`.

Sums are correctly rounded (math.fsum), so the order of the samples changes no bit.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np

Value = Callable[[Mapping[str, float]], float | None]
Aggregate = Callable[[Mapping[str, np.ndarray]], float | None]


def names() -> list[str]:
    """List the metrics of this folder."""
    from gensight.specs import declared

    return list(declared.names("metrics"))


def load(name: str) -> ModuleType:
    """Import a metric by name; an unknown name is a SpecError that lists the known ones."""
    from gensight.specs import declared

    declared.constants("metrics", name)
    return importlib.import_module(f"{__name__}.{name}")


def values_of(value: Value, parts: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the value of every sample, float64 (n,), NaN where it is not defined."""
    columns = {name: np.asarray(column, np.float64).tolist() for name, column in parts.items()}
    samples = zip(*columns.values(), strict=True)
    found = [
        value({k: v for k, v in zip(columns, row, strict=True) if not math.isnan(v)})
        for row in samples
    ]
    return np.array([math.nan if v is None else v for v in found], np.float64)


def mean_of(value: Value) -> Aggregate:
    """Return the aggregate that averages the defined values of the samples."""

    def aggregate(parts: Mapping[str, np.ndarray]) -> float | None:
        values = values_of(value, parts)
        kept = values[~np.isnan(values)].tolist()
        return math.fsum(kept) / len(kept) if kept else None

    aggregate.__doc__ = "Average the defined values of the samples, each with equal weight."
    return aggregate


def ratio_of(numerator: str, denominator: str, scale: float = 100.0) -> Aggregate:
    """Return the aggregate that divides the sum of one part by the sum of another."""

    def aggregate(parts: Mapping[str, np.ndarray]) -> float | None:
        above, below = pairs_of(parts, numerator, denominator)
        total = math.fsum(below.tolist())
        return scale * math.fsum(above.tolist()) / total if total else None

    aggregate.__doc__ = f"Divide the summed {numerator} by the summed {denominator}."
    return aggregate


def pairs_of(
    parts: Mapping[str, np.ndarray], numerator: str, denominator: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return two parts of the samples that have both, float64; empty if a part is unknown."""
    if numerator not in parts or denominator not in parts:
        return np.empty(0), np.empty(0)
    both = np.stack([np.asarray(parts[name], np.float64) for name in (numerator, denominator)])
    above, below = both[:, ~np.isnan(both).any(axis=0)]
    return above, below
