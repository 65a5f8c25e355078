"""Every metric as a function of sums by cluster, with its linearised contributions.

A statistic is offset + sum over pools m of weight_m * sum(above_m) / sum(below_m), or the root of
that: a mean is one pool over ones, a pooled ratio is one pool, GENIUS's Overall and PixelBench's
Agg are weighted sums of pools. One formula then serves them all (PROTOCOLS 2.2, 2.6):

    u_g = sum over m of weight_m (above_gm - ratio_m below_gm) / mean(below_m)

is what cluster g contributes to the error, and the statistic's variance is that of the mean of u.
Sums are correctly rounded (math.fsum) and clusters are sorted by name, so the order of rows changes
no bit.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.metrics import sums_of, values_of
from gensight.statistics.resampling import ResamplingMatrix, collapsed, strata_of

LEVEL = 0.95
#: What a metric's `INTERVAL` may be; see `gensight.statistics.intervals`.
KINDS = ("mean", "percentile", "ratio", "pooled", "rate", "log_mean", "log_mean_square", "none")


class Form(NamedTuple):
    """How pools make a statistic: offset + sum of weight times ratio, or the root of that."""

    weights: tuple[float, ...] = (1.0,)
    offset: float = 0.0
    root: bool = False

    def of(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """Return the statistic from sums (..., pools); NaN where a sum below is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(below != 0, above / below, np.nan)
        # Pools are few; added one by one, their order is fixed.
        value = self.offset + sum(w * ratios[..., m] for m, w in enumerate(self.weights))
        return np.sqrt(value) if self.root else value


class Terms(NamedTuple):
    """What every sample adds above and below, float64 (n, pools); NaN where it adds nothing."""

    above: np.ndarray
    below: np.ndarray
    form: Form


def kind_of(metric: Any) -> str:
    """Return a metric's kind of interval, `mean` where it declares none.

    Raises:
        ValueError: the metric declares a kind that does not exist.
    """
    kind = getattr(metric, "INTERVAL", "mean")
    if kind not in KINDS:
        raise ValueError(f"{metric.__name__}.INTERVAL is one of {', '.join(KINDS)}, not {kind!r}")
    return kind


def terms_of(metric: Any, parts: Mapping[str, ArrayLike]) -> Terms:
    """Return the terms of a metric's aggregate, on its own scale (ratios are in percent).

    `ratio` and `log_mean_square` name their parts in `NUMERATOR` (and `DENOMINATOR`), `pooled` in
    `POOLS`, a tuple of (weight, numerator parts, denominator parts); the other kinds average
    `metric.value`.
    """
    kind = kind_of(metric)
    if kind == "ratio":
        pool = (1.0, metric.NUMERATOR, metric.DENOMINATOR)
        return _pooled([pool], parts)
    if kind == "pooled":
        return _pooled(metric.POOLS, parts)
    if kind == "log_mean_square":
        return mean_terms(sums_of(metric.NUMERATOR, parts), Form(root=True))
    return mean_terms(values_of(metric.value, parts))


def mean_terms(values: ArrayLike, form: Form | None = None) -> Terms:
    """Return the terms of a mean over samples (n,)."""
    above = np.asarray(values, np.float64)[:, None]
    return Terms(above, np.ones_like(above), form or Form())


def _pooled(pools: Sequence[tuple[float, Any, Any]], parts: Mapping[str, ArrayLike]) -> Terms:
    above = [sums_of(numerator, parts) for _, numerator, _ in pools]
    below = [sums_of(denominator, parts) for _, _, denominator in pools]
    weights = tuple(100.0 * weight for weight, _, _ in pools)
    return Terms(np.column_stack(above), np.column_stack(below), Form(weights))


@dataclass(frozen=True)
class ClusterSums:
    """Sums above and below by cluster, float64 (clusters, pools), clusters sorted by name."""

    clusters: tuple[str, ...]
    strata: tuple[str, ...]
    above: np.ndarray
    below: np.ndarray
    form: Form
    n: int

    def replicates(self, matrix: ResamplingMatrix) -> np.ndarray:
        """Return the statistic of every replicate, (replicates,); NaN where it has no samples."""
        return replicates_of([self], matrix)[:, 0]

    def on(self, clusters: tuple[str, ...]) -> ClusterSums:
        """Return the sums on more clusters, sorted, to which the others add nothing."""
        if clusters == self.clusters:
            return self
        places = {name: place for place, name in enumerate(clusters)}
        rows = [places[name] for name in self.clusters]
        above, below = (np.zeros((len(clusters), len(self.form.weights))) for _ in range(2))
        above[rows], below[rows] = self.above, self.below
        strata = ("",) * len(clusters)
        return replace(self, clusters=clusters, strata=strata, above=above, below=below)


def replicates_of(models: Sequence[ClusterSums], matrix: ResamplingMatrix) -> np.ndarray:
    """Return the statistics of several models in every replicate, (replicates, models).

    Each model's column has the bits that it has alone.
    """
    columns = []
    for clusters in {sums.clusters: None for sums in models}:
        of_same = [place for place, sums in enumerate(models) if sums.clusters == clusters]
        blocks = [part for place in of_same for part in (models[place].above, models[place].below)]
        summed = matrix.sums(clusters, np.hstack(blocks))
        for place in of_same:
            pools = models[place].above.shape[1]
            above, below, summed = np.split(summed, [pools, 2 * pools], axis=1)
            columns.append((place, models[place].form.of(above, below)))
    return np.column_stack([column for _, column in sorted(columns, key=lambda entry: entry[0])])


def cluster_sums(
    terms: Terms, cluster_ids: Sequence[str], strata: Sequence[str] | None = None
) -> ClusterSums | None:
    """Return the sums by cluster of the samples that add anything; None if nothing is defined.

    That is the case where no sample is left, a sum below is 0, or a number is not finite.
    """
    added = np.isfinite(terms.above) & np.isfinite(terms.below)
    missing = np.isnan(terms.above) | np.isnan(terms.below)
    if not (added | missing).all():
        return None
    rows = np.hstack([np.where(added, terms.above, 0.0), np.where(added, terms.below, 0.0)])
    names = strata_of(cluster_ids, strata)
    members: dict[str, list[list[float]]] = defaultdict(list)
    for name, row, kept in zip(cluster_ids, rows.tolist(), added.any(axis=1), strict=True):
        if kept:
            members[str(name)].append(row)
    clusters = tuple(sorted(members))
    if not clusters:
        return None
    sums = np.array([_summed(members[name]) for name in clusters])
    above, below = np.split(sums, 2, axis=1)
    if not _column_sums(below).all():
        return None
    used = tuple(names[name] for name in clusters)
    return ClusterSums(clusters, used, above, below, terms.form, int(added.any(axis=1).sum()))


def _summed(rows: list[list[float]]) -> list[float]:
    if len(rows) == 1:
        return rows[0]
    return [math.fsum(column) for column in zip(*rows, strict=True)]


@dataclass(frozen=True)
class Estimate:
    """A statistic with the contributions u (clusters,) to its error and its standard error.

    With one cluster (or one per stratum and nothing to join) the standard error is infinite.
    """

    value: float
    contributions: np.ndarray
    standard_error: float
    degrees_of_freedom: int
    clusters: int
    n: int


def estimate(sums: ClusterSums) -> Estimate:
    """Return the statistic of summed clusters, linearised."""
    above, below = (_column_sums(part) for part in (sums.above, sums.below))
    value = float(sums.form.of(above, below))
    contributions = linearised(sums.above, sums.below, above / below, below, sums.form, value)
    error, freedom = standard_error_of(contributions, sums.strata)
    return Estimate(value, contributions, error, freedom, len(sums.clusters), sums.n)


def _column_sums(numbers: np.ndarray) -> np.ndarray:
    return np.array([math.fsum(column) for column in numbers.T.tolist()])


def linearised(
    above: np.ndarray,
    below: np.ndarray,
    ratios: np.ndarray,
    total_below: np.ndarray,
    form: Form,
    value: float,
) -> np.ndarray:
    """Return u of every row (k, pools), scaled so that their mean is an error of the statistic."""
    slopes = np.array(form.weights) * len(above) / total_below
    pools = (above - ratios * below) * slopes
    summed = sum((pools[:, m] for m in range(pools.shape[1])), np.zeros(len(above)))
    if not form.root:
        return summed
    return summed / (2 * value) if value else np.zeros(len(above))


def standard_error_of(contributions: np.ndarray, strata: Sequence[str]) -> tuple[float, int]:
    """Return the standard error of the mean of u (clusters,) and its degrees of freedom."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, value in zip(collapsed(strata), contributions.tolist(), strict=True):
        groups[name].append(value)
    count = len(contributions)
    if count < 2:
        return math.inf, 0
    variance = math.fsum(_variance_of_sum(group, len(groups) > 1) for group in groups.values())
    return math.sqrt(variance) / count, count - len(groups)


def _variance_of_sum(group: list[float], centred: bool) -> float:
    # All contributions together sum to 0 by construction, those of a stratum need not.
    mean = math.fsum(group) / len(group) if centred else 0.0
    size = len(group)
    return size / (size - 1) * math.fsum((value - mean) ** 2 for value in group)


def effective_n_of_terms(terms: Terms, sums: ClusterSums, fitted: Estimate) -> float:
    """Return min(n, s^2 / se^2), s^2 the variance of the samples' own contributions.

    G where all samples are equal, and so no spread tells anything.
    """
    kept = ~(np.isnan(terms.above) | np.isnan(terms.below)).all(axis=1)
    above, below = (np.nan_to_num(part[kept]) for part in (terms.above, terms.below))
    if (above == above[0]).all() and (below == below[0]).all():
        return float(fitted.clusters)
    totals = _column_sums(sums.above), _column_sums(sums.below)
    # Under a root both variances carry the same factor, which cancels.
    form = sums.form._replace(root=False)
    found = linearised(above, below, totals[0] / totals[1], totals[1], form, fitted.value)
    slope = 2 * fitted.value if sums.form.root else 1.0
    squares = math.fsum(value**2 for value in found.tolist())
    return worth(squares / (len(found) - 1), (slope * fitted.standard_error) ** 2, fitted.n)


def worth(variance: float, squared_error: float, n: int) -> float:
    """Return the number of independent samples with this standard error, at most n."""
    return min(float(n), variance / squared_error) if squared_error else float(n)


@functools.cache
def t_quantile(degrees_of_freedom: int, level: float = LEVEL) -> float:
    """Return the two-sided quantile of Student's t, by default of 95 %."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, (1 + level) / 2))
