"""Intervals by cluster of plain arrays: means, ratios of sums, rates, finite populations.

Samples that share a scene are not independent, so every interval is that of independent clusters
(PROTOCOLS 2.1); the level is 95 % throughout. Fewer than two clusters give none: bounds None,
method `none`. Two estimands: new clusters, and the whole finite benchmark (`finite`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.estimates import (
    Estimate,
    Form,
    Terms,
    cluster_sums,
    effective_n_of_terms,
    estimate,
    mean_terms,
    t_quantile,
    worth,
)


class RateInterval(NamedTuple):
    """The interval of a rate between 0 and 1, and the sample size it is worth."""

    low: float | None
    high: float | None
    method: str
    n_eff: float | None


NO_RATE = RateInterval(None, None, "none", None)


def t_interval(fitted: Estimate, method: str) -> Interval:
    """Return the t interval of an estimate."""
    if fitted.degrees_of_freedom < 1:
        return NO_INTERVAL
    half_width = t_quantile(fitted.degrees_of_freedom) * fitted.standard_error
    return Interval(fitted.value - half_width, fitted.value + half_width, method)


def mean_interval(
    values: ArrayLike, cluster_ids: Sequence[str], strata: Sequence[str] | None = None
) -> Interval:
    """Return the cluster-t interval of the mean over samples (n,); NaN samples are left out.

    >>> low, high, method = mean_interval([1.0, 2.0, 3.0], ["a", "b", "c"])
    >>> round(low, 3), round(high, 3), method
    (-0.484, 4.484, 'cluster-t')
    """
    sums = cluster_sums(mean_terms(values), cluster_ids, strata)
    return NO_INTERVAL if sums is None else t_interval(estimate(sums), "cluster-t")


def ratio_interval(
    above: ArrayLike,
    below: ArrayLike,
    cluster_ids: Sequence[str],
    strata: Sequence[str] | None = None,
) -> Interval:
    """Return the linearised cluster-t interval of sum(above) / sum(below), both (n,).

    Samples with NaN in either are left out; a sum of 0 below gives no interval.
    """
    columns = (np.asarray(part, np.float64)[:, None] for part in (above, below))
    sums = cluster_sums(Terms(*columns, Form()), cluster_ids, strata)
    return NO_INTERVAL if sums is None else t_interval(estimate(sums), "linearised cluster-t")


def wilson_interval(
    hits: ArrayLike, cluster_ids: Sequence[str], strata: Sequence[str] | None = None
) -> RateInterval:
    """Return Wilson's interval of a rate at its effective sample size; hits (n,) are 0 or 1.

    n_eff = min(n, p (1 - p) / se^2) with the clusters' standard error, and G where every sample
    agrees; the normal quantile is replaced by that of t with G - 1 degrees of freedom. NaN samples
    are left out.

    >>> low, high, method, n_eff = wilson_interval([1, 1, 1], ["a", "b", "b"])
    >>> round(low, 3), high, n_eff
    (0.012, 1.0, 2.0)
    """
    sums = cluster_sums(mean_terms(hits), cluster_ids, strata)
    return NO_RATE if sums is None else wilson_of(estimate(sums))


def wilson_of(fitted: Estimate, scale: float = 1.0) -> RateInterval:
    """Return Wilson's interval of an estimated rate between 0 and `scale`, on that scale."""
    if fitted.degrees_of_freedom < 1:
        return NO_RATE
    rate = fitted.value / scale
    variance = rate * (1 - rate)
    squared_error = (fitted.standard_error / scale) ** 2
    n = worth(variance, squared_error, fitted.n) if variance > 0 else float(fitted.clusters)
    squared = t_quantile(fitted.degrees_of_freedom) ** 2
    centre = (rate + squared / (2 * n)) / (1 + squared / n)
    half_width = math.sqrt(squared * (variance / n + squared / (4 * n * n))) / (1 + squared / n)
    # At the ends the formula is exact; rounding would leave 1 - 1e-16.
    low = max(0.0, centre - half_width) if rate > 0 else 0.0
    high = min(1.0, centre + half_width) if rate < 1 else 1.0
    return RateInterval(scale * low, scale * high, "wilson at n_eff", n)


def effective_n_of_mean(values: ArrayLike, cluster_ids: Sequence[str]) -> float | None:
    """Return min(n, s^2 / se^2), G where all samples are equal, None below two clusters."""
    terms = mean_terms(values)
    sums = cluster_sums(terms, cluster_ids)
    if sums is None or len(sums.clusters) < 2:
        return None
    return effective_n_of_terms(terms, sums, estimate(sums))


def effective_n_of_ratio(below: ArrayLike) -> float | None:
    """Return (sum U)^2 / sum(U^2), None if it is 0 / 0: few large samples own a pooled ratio.

    >>> effective_n_of_ratio([100.0, 100.0, 0.0])
    2.0
    """
    values = np.asarray(below, np.float64)
    values = values[~np.isnan(values)].tolist()
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / squares if squares else None


def finite(
    found: Interval, value: float | None, n: int, population_n: int | None
) -> Interval | None:
    """Return the interval for the whole benchmark of N samples, of which n were drawn.

    Half-widths shrink by sqrt(1 - n/N), so with n = N the interval is the value itself
    (PROTOCOLS 2.1). None where N is not known.

    >>> finite(Interval(0.0, 4.0, "cluster-t"), 1.0, 75, 100)
    Interval(low=0.5, high=2.5, method='cluster-t, finite population')

    Raises:
        GensightError: more samples were drawn than there are.
    """
    if population_n is None:
        return None
    if n > population_n:
        raise GensightError(
            f"population_n is {population_n}, but {n} samples were scored; give the number of "
            f"samples of the whole benchmark"
        )
    if value is None or found.low is None or found.high is None:
        return NO_INTERVAL
    factor = math.sqrt(1 - n / population_n)
    low, high = value - (value - found.low) * factor, value + (found.high - value) * factor
    return Interval(low, high, f"{found.method}, finite population")
