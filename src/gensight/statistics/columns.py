"""One column of a table: every model's interval and, by family, its rank interval.

The one entry for the stage that summarises. It takes one metric and all models on one benchmark
and resamples the benchmark's clusters once for all of them, so the rank intervals are paired.

    design = Design.of("refcoco", cluster_ids, strata)     # of the benchmark's samples, any order
    found = column(
        metrics.load("giou"),
        {"model_a": ColumnParts(parts, sample_ids, cluster_ids, population_n=8811), ...},
        design,
        families={"measured": ["model_a", "model_b"]},
    )
    found["model_a"].interval, found["model_a"].ranks["measured"].low

Every model's interval has the bits that it has alone, as long as the design (the clusters) is the
same. Ranks depend on the family by their nature. Models without a defined value are in no family;
neither should be published numbers, reference rows and other protocols: the caller leaves them out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.cells import (
    MIN_CLUSTERS,
    Cell,
    ColumnParts,
    cell_of,
    design_for,
    effective_n_of,
    interval_of,
    is_heavy_tailed,
)
from gensight.statistics.estimates import ClusterSums, estimate, kind_of, replicates_of
from gensight.statistics.intervals import finite
from gensight.statistics.paired import minimum_detectable_effect
from gensight.statistics.ranks import adjusted_p_values, rank_intervals, typical_error
from gensight.statistics.resampling import Design

#: PROTOCOLS 2.2: a pooled ratio of fewer effective samples belongs to a few large ones.
MIN_EFFECTIVE_SAMPLES = 50
#: The name of the family where none are given: all models of the column.
WHOLE_COLUMN = "column"
#: What `ColumnResult.flags` may hold.
FLAGS = {
    "few_effective_samples": "the pooled ratio belongs to few large samples (n_eff below 50)",
    "heavy_tail": "1 % of the samples hold more than half of the squared error: no interval",
    "fixed_scenes": "fewer than 10 clusters: the interval is for new samples of the same scenes",
}


class Rank(NamedTuple):
    """A model's simultaneous rank interval in a family; 1 is best, and low == 1 may be the best.

    `minimum_detectable_effect` is the family's: 2.80 times the root mean square of the standard
    errors of its differences; None for a family of one.
    """

    low: int
    high: int
    family_size: int
    minimum_detectable_effect: float | None


class ColumnResult(NamedTuple):
    """What the statistics say of one model under one metric; see `column`."""

    interval: Interval
    finite_interval: Interval | None
    n_eff: float | None
    ranks: Mapping[str, Rank]
    flags: tuple[str, ...]


def column(
    metric: Any,
    models: Mapping[str, ColumnParts],
    benchmark: str | Design,
    families: Mapping[str, Collection[str]] | None = None,
) -> dict[str, ColumnResult]:
    """Return the interval, effective n, ranks and flags of every model, in the given order.

    `benchmark` is the benchmark's design, or its name; then the clusters are those of these models.
    `families` names groups of models to rank against each other (they may overlap); by default
    `WHOLE_COLUMN` holds all. Names that are not in `models` are ignored. A metric of the kind
    `none` has no interval and no ranks; a model on which it is not defined neither. With fewer than
    ten clusters the units are samples, by `sample_ids`.

    `finite_interval` is None unless the model's `population_n` is known.

    Raises:
        GensightError: a cluster lies in two strata or outside the design; more samples were scored
            than the population has.
    """
    if kind_of(metric) == "none":
        without = ColumnResult(NO_INTERVAL, None, None, {}, ())
        return dict.fromkeys(models, without)
    cells = {name: cell_of(metric, model) for name, model in models.items()}
    groups = {WHOLE_COLUMN: list(models)} if families is None else families
    ranks = {
        family: _ranks(metric, {n: models[n] for n in names if n in models}, cells, benchmark)
        for family, names in groups.items()
    }
    results = {}
    for name, cell in cells.items():
        own = {family: found[name] for family, found in ranks.items() if name in found}
        results[name] = _result(models[name], cell, benchmark, own)
    return results


def _result(
    model: ColumnParts, cell: Cell, benchmark: str | Design, ranks: Mapping[str, Rank]
) -> ColumnResult:
    found, n_eff = interval_of(cell, benchmark), effective_n_of(cell)
    whole = None
    if model.population_n is not None and cell.clusters is not None:
        value, n = estimate(cell.clusters).value, len(set(model.sample_ids))
        whole = finite(found, value, n, model.population_n)
    return ColumnResult(found, whole, n_eff, ranks, tuple(_flags(cell, n_eff)))


def _flags(cell: Cell, n_eff: float | None) -> Sequence[str]:
    few = cell.kind == "ratio" and n_eff is not None and n_eff < MIN_EFFECTIVE_SAMPLES
    raised = {
        "few_effective_samples": few,
        "heavy_tail": is_heavy_tailed(cell),
        "fixed_scenes": cell.fixed_scenes and cell.clusters is not None,
    }
    return [name for name in FLAGS if raised[name]]


class Family(NamedTuple):
    """The models that are ranked together, their sums by common units of resampling."""

    sums: Mapping[str, ClusterSums]
    fixed_scenes: bool
    undecided: frozenset[str]


def family_of(
    metric: Any,
    models: Mapping[str, ColumnParts],
    cells: Mapping[str, Cell] | None = None,
) -> Family:
    """Return the models on which the metric is defined, over the units of all of them.

    `cells` may hold what `cell_of` gave for these models.
    """
    fixed = len({name for model in models.values() for name in model.cluster_ids}) < MIN_CLUSTERS
    found = {}
    for name, model in models.items():
        cell = None if cells is None else cells[name]
        if cell is None or cell.fixed_scenes != fixed:
            cell = cell_of(metric, model, fixed)
        found[name] = cell
    sums = {name: cell.units for name, cell in found.items() if cell.units is not None}
    undecided = frozenset(name for name, cell in found.items() if is_heavy_tailed(cell))
    return Family(sums, fixed, undecided)


def _ranks(
    metric: Any,
    models: Mapping[str, ColumnParts],
    cells: Mapping[str, Cell],
    benchmark: str | Design,
) -> dict[str, Rank]:
    family = family_of(metric, models, cells)
    if not family.sums:
        return {}
    values, drawn, units = _drawn(family, benchmark)
    found = rank_intervals(
        values,
        drawn,
        metric.HIGHER_IS_BETTER,
        clusters=units,
        undecided=family.undecided,
    )
    error = typical_error(drawn)
    effect = None if error is None else minimum_detectable_effect(error)
    return {name: Rank(low, high, len(found), effect) for name, (low, high) in found.items()}


def _drawn(
    family: Family, benchmark: str | Design
) -> tuple[dict[str, float], dict[str, np.ndarray], int]:
    """Return every model's value and replicates, and the number of units that hold samples."""
    matrix = design_for(family.sums.values(), benchmark, family.fixed_scenes).matrix()
    drawn = replicates_of(list(family.sums.values()), matrix)
    values = {name: estimate(sums).value for name, sums in family.sums.items()}
    units = len({name for sums in family.sums.values() for name in sums.clusters})
    return values, dict(zip(family.sums, drawn.T, strict=True)), units


def separations(
    metric: Any, models: Mapping[str, ColumnParts], benchmark: str | Design
) -> dict[tuple[str, str], float]:
    """Return the step-down adjusted p-value of every pair of a family, keys sorted by name."""
    if kind_of(metric) == "none" or not models:
        return {}
    family = family_of(metric, models)
    if not family.sums:
        return {}
    values, drawn, units = _drawn(family, benchmark)
    return adjusted_p_values(values, drawn, clusters=units, undecided=family.undecided)
