"""Intervals from the resampling matrix: percentile, expanded percentile, bootstrap-t of the log.

- **Percentile**: the quantiles of the replicates.
- **Expanded percentile** (Hesterberg 2015): the same at the level that makes it as wide as the
  t interval of a mean over G clusters, so that few clusters are not too narrow.
- **Bootstrap-t of the log**: for means of heavy-tailed errors. The replicates give the distribution
  of t = (log m* - log m) / se(log m*), with each replicate's own standard error; skewness that a
  symmetric interval ignores is thereby corrected.

A bound that would be infinite (too many replicates without any error) gives no interval.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gensight.statistics.estimates import LEVEL, ClusterSums, Estimate, t_quantile
from gensight.statistics.resampling import ResamplingMatrix, collapsed


class Interval(NamedTuple):
    """Lower and upper bound, None where there is no interval, and how they were found."""

    low: float | None
    high: float | None
    method: str


NO_INTERVAL = Interval(None, None, "none")
BOOTSTRAP_T = "bootstrap-t of the log"
#: At least this share of the replicates must be defined.
LEAST_DEFINED = 0.95


def percentile_interval(
    replicates: np.ndarray, method: str = "percentile", level: float = LEVEL
) -> Interval:
    """Return the quantiles of replicates (b,); undefined ones, NaN, are left out.

    No interval where more than a twentieth of them is undefined.

    >>> low, high, method = percentile_interval(np.arange(201.0))
    >>> round(low, 6), round(high, 6), method
    (5.0, 195.0, 'percentile')
    """
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < max(1, LEAST_DEFINED * len(replicates)):
        return NO_INTERVAL
    # With infinite replicates interpolation may be undefined; the next one outwards never is.
    low = np.quantile(defined, (1 - level) / 2, method=_method_of(defined, "lower"))
    high = np.quantile(defined, (1 + level) / 2, method=_method_of(defined, "higher"))
    if not (math.isfinite(low) and math.isfinite(high)):
        return NO_INTERVAL
    return Interval(float(low), float(high), method)


def _method_of(values: np.ndarray, outwards: str) -> str:
    return "linear" if np.isfinite(values).all() else outwards


def expanded_level(degrees_of_freedom: int, clusters: int) -> float:
    """Return the level at which a percentile interval is as wide as the t interval.

    >>> round(expanded_level(9, 10), 4), round(expanded_level(499, 500), 4)
    (0.9829, 0.9508)
    """
    from scipy.special import ndtr

    widened = t_quantile(degrees_of_freedom) * math.sqrt(clusters / (clusters - 1))
    return float(1 - 2 * ndtr(-widened))


def expanded_interval(
    replicates: np.ndarray, degrees_of_freedom: int, clusters: int, method: str
) -> Interval:
    """Return the percentile interval of replicates (b,) at Hesterberg's expanded level."""
    if degrees_of_freedom < 1:
        return NO_INTERVAL
    return percentile_interval(replicates, method, expanded_level(degrees_of_freedom, clusters))


def log_t_interval(fitted: Estimate) -> Interval:
    """Return exp of the t interval of the log of a positive mean, for few clusters."""
    if fitted.degrees_of_freedom < 1 or fitted.value <= 0:
        return NO_INTERVAL
    half = t_quantile(fitted.degrees_of_freedom) * fitted.standard_error / fitted.value
    return Interval(fitted.value * math.exp(-half), fitted.value * math.exp(half), "t of the log")


def bootstrap_t_interval(sums: ClusterSums, fitted: Estimate, matrix: ResamplingMatrix) -> Interval:
    """Return the bootstrap-t interval of the log of a mean, or of the root of one.

    `sums` has one pool over ones. A mean of 0 gives no interval, and equal clusters one without
    width.
    """
    if fitted.degrees_of_freedom < 1 or fitted.value <= 0:
        return NO_INTERVAL
    if not fitted.standard_error:
        return Interval(fitted.value, fitted.value, BOOTSTRAP_T)
    # The relative standard error of a root is half that of its mean.
    power = 0.5 if sums.form.root else 1.0
    mean, error = fitted.value ** (1 / power), fitted.standard_error / fitted.value / power
    means, errors = _replicate_errors(sums, matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (np.log(means) - math.log(mean)) * means / errors
    # A replicate without any error lies infinitely far below.
    found = np.where(means == 0, -np.inf, found)
    low_t, high_t, method = percentile_interval(found, BOOTSTRAP_T)
    if low_t is None or high_t is None:
        return NO_INTERVAL
    with np.errstate(over="ignore"):
        low, high = fitted.value * np.exp(-power * error * np.array([high_t, low_t]))
    return Interval(float(low), float(high), method) if math.isfinite(high) else NO_INTERVAL


def _replicate_errors(sums: ClusterSums, matrix: ResamplingMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error of every replicate, both (replicates,)."""
    above, below = sums.above[:, 0], sums.below[:, 0]
    powers = np.column_stack([np.ones(len(above)), above, below, above**2, above * below, below**2])
    strata = np.array(collapsed(sums.strata))
    by_stratum = []
    for stratum in sorted(set(strata.tolist())):
        places = np.flatnonzero(strata == stratum)
        names = [sums.clusters[place] for place in places]
        by_stratum.append(matrix.sums(names, powers[places]))
    total = np.sum(by_stratum, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(total[:, 2] > 0, total[:, 1] / total[:, 2], np.nan)
        variance = np.sum([_variance_of_sum(part, means) for part in by_stratum], axis=0)
        return means, np.sqrt(variance) / total[:, 2]


def _variance_of_sum(sums: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the variance of sum(above - mean below) over the clusters of one stratum."""
    count, above, below, squares, products, below_squares = sums.T
    first = above - means * below
    second = squares - 2 * means * products + means**2 * below_squares
    spread = np.maximum(second - first**2 / count, 0.0)
    return np.where(count > 1, count / (count - 1) * spread, 0.0)
