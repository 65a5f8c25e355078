"""One model's samples under one metric, and the interval of its kind (PROTOCOLS 2.1, 2.2).

| kind | interval |
|---|---|
| mean | cluster-t, G - 1 degrees of freedom |
| ratio, pooled | cluster-t of the linearised contributions |
| rate | Wilson at the effective number of samples |
| log_mean (MAE) | bootstrap-t of the log |
| log_mean_square (RMSE) | bootstrap-t of the log; none where few samples hold most of the error |
| percentile | quantiles of the replicates |

With 10 to 39 clusters the bootstrapped kinds use t with G - 1 degrees of freedom, of the log for
the log kinds. Fewer than ten clusters give the interval of new samples of the same scenes, and its
method says so; fewer than two give none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.statistics.bootstrap import (
    NO_INTERVAL,
    Interval,
    bootstrap_t_interval,
    log_t_interval,
    percentile_interval,
)
from gensight.statistics.estimates import (
    ClusterSums,
    Terms,
    cluster_sums,
    effective_n_of_terms,
    estimate,
    kind_of,
    terms_of,
)
from gensight.statistics.intervals import effective_n_of_ratio, t_interval, wilson_of
from gensight.statistics.resampling import Design

#: PROTOCOLS 2.1: with fewer clusters there is no interval for new scenes.
MIN_CLUSTERS = 10
#: With fewer clusters t replaces the bootstrap.
MIN_BOOTSTRAP_CLUSTERS = 40
#: RMSE: a share of the samples, and the share of the squared error that they must not exceed.
TAIL_SAMPLES, TAIL_SHARE = 0.01, 0.5
#: The method of an RMSE that has no interval because of its tail.
HEAVY_TAIL = "none: 1 % of the samples hold more than half of the squared error"


class ColumnParts(NamedTuple):
    """One model's samples under a measure: what a cell of a table is computed from.

    `parts` as for `metric.aggregate`: arrays (n,) by name, NaN where a part is not defined. The
    lists (n,) name each row's sample (repeats of a sample share its name), cluster and, if clusters
    are resampled by strata, stratum. `population_n` is the size of the whole benchmark, if known.
    """

    parts: Mapping[str, ArrayLike]
    sample_ids: Sequence[str]
    cluster_ids: Sequence[str]
    strata: Sequence[str] | None = None
    population_n: int | None = None


@dataclass(frozen=True)
class Cell:
    """One model's samples under one metric, summed by cluster and by unit of resampling.

    Units are the clusters, or the samples where there are fewer than `MIN_CLUSTERS` clusters;
    either is None where the metric is not defined.
    """

    kind: str
    bounds: tuple[float | None, float | None]
    terms: Terms
    clusters: ClusterSums | None
    units: ClusterSums | None
    fixed_scenes: bool


def cell_of(metric: Any, model: ColumnParts, fixed_scenes: bool | None = None) -> Cell:
    """Return the sums of a model's samples; `fixed_scenes` overrides the number of clusters."""
    terms = terms_of(metric, model.parts)
    fixed = len(set(model.cluster_ids)) < MIN_CLUSTERS if fixed_scenes is None else fixed_scenes
    clusters = units = cluster_sums(terms, model.cluster_ids, model.strata)
    if fixed:
        units = cluster_sums(terms, model.sample_ids)
    bounds = getattr(metric, "BOUNDS", (None, None))
    return Cell(kind_of(metric), bounds, terms, clusters, units, fixed)


def interval(
    metric: Any,
    parts: Mapping[str, ArrayLike],
    cluster_ids: Sequence[str],
    *,
    benchmark: str = "",
    strata: Sequence[str] | None = None,
    sample_ids: Sequence[str] | None = None,
) -> Interval:
    """Return the 95 % interval of a metric module's aggregate, on the metric's own scale.

    `parts`, `cluster_ids`, `strata` and `sample_ids` as in `ColumnParts`; without the last, rows
    are samples, told apart by their numbers. `benchmark` seeds the resampling. The metric's
    `INTERVAL` chooses the kind (top of this module). Samples that do not define the metric are left
    out.
    """
    if kind_of(metric) == "none":
        return NO_INTERVAL
    names = _anonymous(terms_of(metric, parts)) if sample_ids is None else sample_ids
    return interval_of(cell_of(metric, ColumnParts(parts, names, cluster_ids, strata)), benchmark)


def _anonymous(terms: Terms) -> list[str]:
    """Name samples by the order of their numbers, so that shuffled rows stay the same samples."""
    rows = np.hstack([terms.above, terms.below])
    places = np.empty(len(rows), np.int64)
    places[np.lexsort(rows.T)] = np.arange(len(rows))
    return [f"{place:09}" for place in places]


def interval_of(cell: Cell, benchmark: str | Design = "") -> Interval:
    """Return the interval of a cell; a design fixes the clusters that are resampled."""
    if cell.units is None:
        return NO_INTERVAL
    low, high, method = _within(cell.bounds, _interval(cell, cell.units, benchmark))
    told = f"{method}, fixed scenes" if cell.fixed_scenes and low is not None else method
    return Interval(low, high, told)


def _within(bounds: tuple[float | None, float | None], found: Interval) -> Interval:
    """Cut an interval where the metric's scale ends: no IoU lies below 0."""
    (least, most), (low, high, method) = bounds, found
    if low is None or high is None:
        return found
    low = low if least is None else max(low, least)
    return Interval(low, high if most is None else min(high, most), method)


def _interval(cell: Cell, units: ClusterSums, benchmark: str | Design) -> Interval:
    fitted = estimate(units)
    if cell.kind == "rate":
        found = wilson_of(fitted, scale=100.0)
        return Interval(found.low, found.high, found.method)
    if is_heavy_tailed(cell):
        return Interval(None, None, HEAVY_TAIL)
    if cell.kind in ("mean", "ratio", "pooled"):
        return t_interval(fitted, "cluster-t" if cell.kind == "mean" else "linearised cluster-t")
    logarithmic = cell.kind != "percentile"
    if fitted.clusters < MIN_BOOTSTRAP_CLUSTERS:
        return log_t_interval(fitted) if logarithmic else t_interval(fitted, "cluster-t")
    matrix = design_for([units], benchmark, cell.fixed_scenes).matrix()
    if logarithmic:
        return bootstrap_t_interval(units, fitted, matrix)
    return percentile_interval(units.replicates(matrix))


def design_for(
    models: Iterable[ClusterSums], benchmark: str | Design, fixed_scenes: bool
) -> Design:
    """Return the given design, or that of the models' units where it cannot hold them."""
    if isinstance(benchmark, Design) and not fixed_scenes:
        return benchmark
    name = benchmark.benchmark if isinstance(benchmark, Design) else benchmark
    units = [unit for sums in models for unit in zip(sums.clusters, sums.strata, strict=True)]
    return Design.of(name, *zip(*units, strict=True))


def is_heavy_tailed(cell: Cell) -> bool:
    """Say whether a root mean square hangs on a few samples, and so has no honest interval."""
    return cell.kind == "log_mean_square" and tail_share(cell.terms) > TAIL_SHARE


def tail_share(terms: Terms) -> float:
    """Return the share of the sum that the largest 1 % of the samples (at least one) hold."""
    values = np.sort(terms.above[~np.isnan(terms.above)])[::-1]
    largest = max(1, math.ceil(TAIL_SAMPLES * len(values)))
    total = math.fsum(values)
    return math.fsum(values[:largest]) / total if total else 0.0


def effective_n(
    metric: Any, parts: Mapping[str, ArrayLike], cluster_ids: Sequence[str]
) -> float | None:
    """Return how many independent samples a metric's aggregate is worth; None if not known."""
    if kind_of(metric) == "none":
        return None
    names = [""] * len(cluster_ids)
    return effective_n_of(cell_of(metric, ColumnParts(parts, names, cluster_ids)))


def effective_n_of(cell: Cell) -> float | None:
    """Return how many independent samples a cell is worth, None below two clusters.

    (sum U)^2 / sum(U^2) for a ratio (few large samples own it), p (1 - p) / se^2 for a rate, else
    s^2 / se^2 with the variance s^2 of the samples' own contributions; at most n.
    """
    if cell.clusters is None:
        return None
    if cell.kind == "ratio":
        return effective_n_of_ratio(cell.terms.below[:, 0])
    fitted = estimate(cell.clusters)
    if fitted.degrees_of_freedom < 1:
        return None
    if cell.kind == "rate":
        return wilson_of(fitted, scale=100.0).n_eff
    return effective_n_of_terms(cell.terms, cell.clusters, fitted)
