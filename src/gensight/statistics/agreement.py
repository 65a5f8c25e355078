"""Agreement of repeated or rival judgements, with intervals by cluster (PROTOCOLS 2.6).

A judged sample is one unit, however often it was judged; runs of a judge are never n. Every
coefficient is a function of sums over samples, so its interval comes from resampled clusters at
Hesterberg's expanded level. Sources: Shrout and Fleiss 1979 (ICC of the one-way model), Cohen 1968
(weighted kappa), Krippendorff 2019 (ordinal alpha).

Where all judgements are equal the coefficients are 0 / 0: no value, no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.statistics.bootstrap import NO_INTERVAL, Interval, expanded_interval
from gensight.statistics.cells import MIN_CLUSTERS
from gensight.statistics.estimates import Form, Terms, cluster_sums
from gensight.statistics.resampling import Design

#: More runs of a judge pay while they would remove more than this share of the items' variance.
RUN_SHARE = 0.1

Statistic = Callable[[np.ndarray], np.ndarray]


class Coefficient(NamedTuple):
    """An agreement coefficient, 1 for perfect agreement, and its interval."""

    value: float | None
    interval: Interval


NO_COEFFICIENT = Coefficient(None, NO_INTERVAL)


def icc_single(ratings: ArrayLike, cluster_ids: Sequence[str], benchmark: str = "") -> Coefficient:
    """Return ICC(1,1) of ratings (n, runs): how far one run of a judge can be trusted.

    Samples that lack a run (NaN) are left out.

    >>> icc_single([[0, 0], [2, 2], [1, 1]], ["a", "b", "c"]).value
    1.0
    """
    values = _complete(ratings)
    runs = values.shape[1]

    def _statistic(sums: np.ndarray) -> np.ndarray:
        between, within = _mean_squares(sums, runs)
        return _divided(between - within, between + (runs - 1) * within)

    return _coefficient(_one_way(values), _statistic, cluster_ids, benchmark)


def icc_average(ratings: ArrayLike, cluster_ids: Sequence[str], benchmark: str = "") -> Coefficient:
    """Return ICC(1,K) of ratings (n, K runs): how far the mean of all K runs can be trusted."""
    values = _complete(ratings)

    def _statistic(sums: np.ndarray) -> np.ndarray:
        between, within = _mean_squares(sums, values.shape[1])
        return _divided(between - within, between)

    return _coefficient(_one_way(values), _statistic, cluster_ids, benchmark)


def more_runs_pay(ratings: ArrayLike) -> bool:
    """Say whether the runs' variance over K exceeds a tenth of that between items.

    `ratings` are (n, K). False below two samples or two runs, where neither is known.
    """
    values = _complete(ratings)
    values = values[~np.isnan(values).any(axis=1)]
    count, runs = values.shape
    if count < 2 or runs < 2:
        return False
    between, within = _mean_squares(_one_way(values).sum(axis=0), runs)
    return bool(within / runs > RUN_SHARE * max(0.0, (between - within) / runs))


def _complete(ratings: ArrayLike) -> np.ndarray:
    values = _from_least(np.asarray(ratings, np.float64))
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)


def _from_least(values: np.ndarray) -> np.ndarray:
    """Count from the least value: coefficients do not change, and equal ratings are exactly 0."""
    return values - np.nanmin(values) if (~np.isnan(values)).any() else values


def _one_way(values: np.ndarray) -> np.ndarray:
    """Return (n, 4): 1, a sample's mean, its square and the squares around it."""
    means = values.mean(axis=1)
    around = ((values - means[:, None]) ** 2).sum(axis=1)
    return np.column_stack([np.where(np.isnan(means), np.nan, 1.0), means, means**2, around])


def _mean_squares(sums: np.ndarray, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean squares between and within samples from sums (..., 4)."""
    count, total, squares, around = np.moveaxis(sums, -1, 0)
    between = _divided(runs * (squares - _divided(total**2, count)), count - 1)
    return between, _divided(around, count * (runs - 1))


def quadratic_kappa(
    first: ArrayLike, second: ArrayLike, cluster_ids: Sequence[str], benchmark: str = ""
) -> Coefficient:
    """Return quadratic-weighted kappa of two judges' scores (n,); pairs with NaN are left out.

    1 minus the mean squared difference over that of unrelated judges with the same scores.

    >>> quadratic_kappa([0, 1, 2], [0, 1, 2], ["a", "b", "c"]).value
    1.0
    """
    x, y = _from_least(np.array([first, second], np.float64))
    rows = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])

    def _statistic(sums: np.ndarray) -> np.ndarray:
        count = sums[..., :1]
        _, mean_x, mean_y, xx, yy, xy = np.moveaxis(_divided(sums, count), -1, 0)
        return 1 - _divided(xx + yy - 2 * xy, xx + yy - 2 * mean_x * mean_y)

    return _coefficient(rows, _statistic, cluster_ids, benchmark)


def ordinal_alpha(
    ratings: ArrayLike, cluster_ids: Sequence[str], benchmark: str = ""
) -> Coefficient:
    """Return Krippendorff's alpha for ordinal ratings (n, judges); NaN where a judge is missing.

    Samples with fewer than two ratings hold no pair and are left out. The levels are the values
    that occur.

    >>> ordinal_alpha([[0, 0], [2, 2], [1, float("nan")]], ["a", "b", "c"]).value
    1.0
    """
    values = np.asarray(ratings, np.float64)
    levels = np.unique(values[~np.isnan(values)])
    counts = (values[:, :, None] == levels).sum(axis=1).astype(np.float64)
    rated = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(len(levels))
    rows = pairs.reshape(len(values), -1) / np.where(rated > 1, rated - 1, np.nan)[:, None]

    def _statistic(sums: np.ndarray) -> np.ndarray:
        return _alpha(sums.reshape(*sums.shape[:-1], len(levels), len(levels)))

    return _coefficient(rows, _statistic, cluster_ids, benchmark)


def _alpha(coincidences: np.ndarray) -> np.ndarray:
    """Return ordinal alpha from coincidences (..., levels, levels)."""
    found = coincidences.sum(axis=-1)
    middle = np.cumsum(found, axis=-1) - found / 2
    # Between two levels lie all ratings of those between, and half of their own.
    distances = (middle[..., :, None] - middle[..., None, :]) ** 2
    observed = (coincidences * distances).sum(axis=(-2, -1))
    expected = (found[..., :, None] * found[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - _divided(observed * (found.sum(axis=-1) - 1), expected)


def _divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _coefficient(
    rows: np.ndarray, statistic: Statistic, cluster_ids: Sequence[str], benchmark: str
) -> Coefficient:
    """Return a statistic of summed rows (n, k), with its interval over resampled clusters."""
    sums = cluster_sums(Terms(rows, np.ones_like(rows), Form()), cluster_ids)
    value = np.nan if sums is None else float(statistic(sums.above.sum(axis=0)))
    if sums is None or np.isnan(value):
        return NO_COEFFICIENT
    clusters = len(sums.clusters)
    if clusters < MIN_CLUSTERS:
        return Coefficient(value, NO_INTERVAL)
    matrix = Design.of(benchmark, sums.clusters).matrix()
    replicates = statistic(matrix.sums(sums.clusters, sums.above))
    found = expanded_interval(replicates, clusters - 1, clusters, "cluster percentile")
    return Coefficient(value, found)
