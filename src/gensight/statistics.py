"""Intervals that respect clusters: samples that share a scene are not independent.

Source: PROTOCOLS 2.1 and 2.2; the level is 95 % throughout. With G clusters:

- means: cluster-t with G - 1 degrees of freedom;
- ratios of sums (cIoU): the same on the linearised z = (I - R U) / mean(U);
- rates: Wilson's interval at the effective sample size that the clusters leave;
- MAE and RMSE of counts: none. Their errors are so heavy-tailed that the intervals above would
  cover far less than 95 %; the bootstrap-t on the log that they need is not here yet.

Fewer than ten clusters give an interval for the same scenes only, and it says so. Fewer than two
clusters give none: bounds None, method `none`. Sums are correctly rounded and clusters are taken in
the order of their names, so shuffled rows give the same bits.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.metrics import sums_of, values_of

LEVEL = 0.95
# PROTOCOLS 2.1: G < 10 clusters give no interval for new scenes.
MIN_CLUSTERS = 10


class Interval(NamedTuple):
    """Lower and upper bound, None where there is no interval, and how they were found."""

    low: float | None
    high: float | None
    method: str


class RateInterval(NamedTuple):
    """The interval of a rate between 0 and 1, and the sample size it is worth."""

    low: float | None
    high: float | None
    method: str
    n_eff: float | None


NO_INTERVAL = Interval(None, None, "none")


def interval(metric: Any, parts: Mapping[str, ArrayLike], cluster_ids: Sequence[str]) -> Interval:
    """Return the 95 % interval of a metric module's aggregate, on the metric's own scale.

    `parts` as for `metric.aggregate`; `cluster_ids` (n,) names each sample's cluster. The metric's
    `INTERVAL` chooses: `mean` (the default), `ratio`, `rate` (values 0 to 100) or `none`. Samples
    that do not define the metric are left out. Fewer than `MIN_CLUSTERS` clusters say nothing about
    new scenes: the interval is then that of new samples of the same scenes, and its method says so.
    """
    if len(set(cluster_ids)) >= MIN_CLUSTERS:
        return _within_scale(metric, _interval(metric, parts, cluster_ids))
    samples = [f"{index:09}" for index in range(len(cluster_ids))]
    low, high, method = _within_scale(metric, _interval(metric, parts, samples))
    return Interval(low, high, method if low is None else f"{method}, fixed scenes")


def _within_scale(metric: Any, found: Interval) -> Interval:
    """Cut an interval where the metric's scale ends: no IoU lies below 0."""
    least, most = getattr(metric, "BOUNDS", (None, None))
    low, high, method = found
    if low is None or high is None:
        return found
    low = low if least is None else max(low, least)
    return Interval(low, high if most is None else min(high, most), method)


def _interval(metric: Any, parts: Mapping[str, ArrayLike], cluster_ids: Sequence[str]) -> Interval:
    kind = _kind(metric)
    if kind == "none":
        return NO_INTERVAL
    if kind == "ratio":
        return _percent(ratio_interval(*_summed(metric, parts), cluster_ids))
    values = values_of(metric.value, parts)
    if kind == "mean":
        return mean_interval(values, cluster_ids)
    low, high, method, _ = wilson_interval(values / 100, cluster_ids)
    return _percent(Interval(low, high, method))


def effective_n(
    metric: Any, parts: Mapping[str, ArrayLike], cluster_ids: Sequence[str]
) -> float | None:
    """Return how many independent samples a metric's aggregate is worth; None if not known."""
    kind = _kind(metric)
    if kind == "none":
        return None
    if kind == "ratio":
        return effective_n_of_ratio(_summed(metric, parts)[1])
    values = values_of(metric.value, parts)
    if kind == "mean":
        return effective_n_of_mean(values, cluster_ids)
    return wilson_interval(values / 100, cluster_ids).n_eff


def mean_interval(values: ArrayLike, cluster_ids: Sequence[str]) -> Interval:
    """Return the cluster-t interval of the mean over samples (n,); NaN samples are left out.

    >>> low, high, method = mean_interval([1.0, 2.0, 3.0], ["a", "b", "c"])
    >>> round(low, 3), round(high, 3), method
    (-0.484, 4.484, 'cluster-t')
    """
    return _t_interval(_ratio(values, np.ones(np.shape(values)), cluster_ids), "cluster-t")


def ratio_interval(above: ArrayLike, below: ArrayLike, cluster_ids: Sequence[str]) -> Interval:
    """Return the linearised cluster-t interval of sum(above) / sum(below), both (n,).

    Samples with NaN in either are left out; a sum of 0 below gives no interval.
    """
    return _t_interval(_ratio(above, below, cluster_ids), "linearised cluster-t")


def wilson_interval(hits: ArrayLike, cluster_ids: Sequence[str]) -> RateInterval:
    """Return Wilson's interval of a rate at its effective sample size; hits (n,) are 0 or 1.

    n_eff = min(n, p (1 - p) / se^2) with the clusters' standard error, and G where every sample
    agrees; the normal quantile is replaced by that of t with G - 1 degrees of freedom. NaN samples
    are left out.

    >>> low, high, method, n_eff = wilson_interval([1, 1, 1], ["a", "b", "b"])
    >>> round(low, 3), high, n_eff
    (0.012, 1.0, 2.0)
    """
    fitted = _ratio(hits, np.ones(np.shape(hits)), cluster_ids)
    if fitted is None or fitted.clusters < 2:
        return RateInterval(None, None, "none", None)
    rate = fitted.ratio
    variance = rate * (1 - rate)
    n = _worth(variance, fitted) if variance > 0 else float(fitted.clusters)
    squared = t_quantile(fitted.clusters - 1) ** 2
    centre = (rate + squared / (2 * n)) / (1 + squared / n)
    half_width = math.sqrt(squared * (variance / n + squared / (4 * n * n))) / (1 + squared / n)
    low, high = max(0.0, centre - half_width), min(1.0, centre + half_width)
    # At the ends the formula is exact; rounding would leave 1 - 1e-16.
    return RateInterval(low if rate > 0 else 0.0, high if rate < 1 else 1.0, "wilson at n_eff", n)


def effective_n_of_mean(values: ArrayLike, cluster_ids: Sequence[str]) -> float | None:
    """Return min(n, s^2 / se^2), G where all samples are equal, None below two clusters."""
    fitted = _ratio(values, np.ones(np.shape(values)), cluster_ids)
    if fitted is None or fitted.clusters < 2:
        return None
    kept = np.asarray(values, np.float64)
    kept = kept[~np.isnan(kept)].tolist()
    if min(kept) == max(kept):
        return float(fitted.clusters)
    variance = math.fsum((value - fitted.ratio) ** 2 for value in kept) / (len(kept) - 1)
    return _worth(variance, fitted)


def effective_n_of_ratio(below: ArrayLike) -> float | None:
    """Return (sum U)^2 / sum(U^2), None if it is 0 / 0: few large samples own a pooled ratio.

    >>> effective_n_of_ratio([100.0, 100.0, 0.0])
    2.0
    """
    values = np.asarray(below, np.float64)
    values = values[~np.isnan(values)].tolist()
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / squares if squares else None


@functools.cache
def t_quantile(degrees_of_freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, (1 + LEVEL) / 2))


class _Ratio(NamedTuple):
    ratio: float
    standard_error: float
    clusters: int
    n: int


def _ratio(above: ArrayLike, below: ArrayLike, cluster_ids: Sequence[str]) -> _Ratio | None:
    """Return sum(above) / sum(below) and its cluster standard error (infinite for one cluster)."""
    members = defaultdict(list)
    rows = np.column_stack([np.asarray(above, np.float64), np.asarray(below, np.float64)])
    for cluster_id, row in zip(cluster_ids, rows.tolist(), strict=True):
        if not math.isnan(row[0] + row[1]):
            members[str(cluster_id)].append(row)
    sums = [
        tuple(math.fsum(column) for column in zip(*members[name], strict=True))
        for name in sorted(members)
    ]
    total = math.fsum(down for _, down in sums)
    if not total:
        return None
    count = len(sums)
    ratio = math.fsum(up for up, _ in sums) / total
    squares = math.fsum(((up - ratio * down) * count / total) ** 2 for up, down in sums)
    error = math.sqrt(squares / (count * (count - 1))) if count > 1 else math.inf
    return _Ratio(ratio, error, count, sum(map(len, members.values())))


def _t_interval(fitted: _Ratio | None, method: str) -> Interval:
    if fitted is None or fitted.clusters < 2:
        return NO_INTERVAL
    half_width = t_quantile(fitted.clusters - 1) * fitted.standard_error
    return Interval(fitted.ratio - half_width, fitted.ratio + half_width, method)


def _worth(variance: float, fitted: _Ratio) -> float:
    """Return the number of independent samples with this standard error, at most n."""
    squared = fitted.standard_error**2
    return min(float(fitted.n), variance / squared) if squared else float(fitted.n)


def _kind(metric: Any) -> str:
    kind = getattr(metric, "INTERVAL", "mean")
    if kind not in ("mean", "ratio", "rate", "none"):
        raise ValueError(f"{metric.__name__}.INTERVAL is mean, ratio, rate or none, not {kind!r}")
    return kind


def _summed(metric: Any, parts: Mapping[str, ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    return sums_of(metric.NUMERATOR, parts), sums_of(metric.DENOMINATOR, parts)


def _percent(bounds: Interval) -> Interval:
    low, high, method = bounds
    return bounds if low is None or high is None else Interval(100 * low, 100 * high, method)
