"""Simultaneous rank intervals of a family of models, and adjusted p-values (PROTOCOLS 2.4, 2.5).

"Not separated" is not transitive, so no tie groups: with d_jk the difference of two models, se_jk
its standard error and d*_jk its replicates, all from the one resampling matrix,

    c = 95 % quantile over replicates of max over pairs of |(d*_jk - d_jk) / se_jk|,

j beats k if d_jk > c se_jk, and the ranks of j are [1 + models that beat it, M - models it beats].
All true ranks lie in their intervals at once with 95 % (Mogstad, Romano, Shaikh, Wilhelm 2024).

The replicates of G clusters are a little too narrow and have the tails of a normal distribution;
with `clusters` given, d / se is read as t with G - 1 degrees of freedom, the correction of
Hesterberg's expanded level. Without it nine equal models of 100 samples are separated too often.

Two models with equal values and equal replicates are never separated. Where the replicates of a
pair do not vary at all but its values differ, every cluster says the same, and it is separated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gensight.statistics.estimates import LEVEL

#: Differences below this share of the largest value are rounding.
ROUNDING = 1e-11
#: With fewer replicates that define every model, nothing is separated.
MIN_REPLICATES = 100


class _Pairs(NamedTuple):
    """Every pair of the family: d, its statistic |d| / se and the replicates of it (pairs, b)."""

    models: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    observed: np.ndarray
    replicates: np.ndarray


def rank_intervals(
    values: Mapping[str, float],
    replicates: Mapping[str, np.ndarray],
    higher_is_better: bool,
    *,
    clusters: int | None = None,
    undecided: Collection[str] = (),
) -> dict[str, tuple[int, int]]:
    """Return the lowest and highest rank of every model, 1 is best; models by name.

    `values` are the statistics, `replicates` the same ones in every replicate, (b,), from one
    resampling matrix. Replicates in which some model is not defined (NaN) are left out. Models in
    `undecided` (those whose statistic has no interval) are never separated from any other.

    >>> rng = np.random.default_rng(0)
    >>> noise = {name: rng.normal(0, 1, 4000) for name in "abc"}
    >>> values = {"a": 50.0, "b": 50.5, "c": 90.0}
    >>> found = {name: values[name] + noise[name] for name in values}
    >>> rank_intervals(values, found, higher_is_better=True)
    {'a': (2, 3), 'b': (2, 3), 'c': (1, 1)}
    """
    pairs = _pairs(values, replicates, clusters, undecided)
    beaten_by, beats = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    sign = 1 if higher_is_better else -1
    for place in np.flatnonzero(pairs.observed > _critical(pairs)):
        winner, loser = pairs.models[pairs.first[place]], pairs.models[pairs.second[place]]
        if sign * pairs.difference[place] < 0:
            winner, loser = loser, winner
        beats[winner] += 1
        beaten_by[loser] += 1
    return {name: (1 + beaten_by[name], len(values) - beats[name]) for name in values}


def best_set(ranks: Mapping[str, tuple[int, int]]) -> set[str]:
    """Return the models that may be the best: those whose lowest rank is 1.

    >>> sorted(best_set({"a": (1, 2), "b": (1, 3), "c": (2, 3)}))
    ['a', 'b']
    """
    return {name for name, (low, _) in ranks.items() if low == 1}


def adjusted_p_values(
    values: Mapping[str, float],
    replicates: Mapping[str, np.ndarray],
    *,
    clusters: int | None = None,
    undecided: Collection[str] = (),
) -> dict[tuple[str, str], float]:
    """Return step-down max-T p-values of all pairs, from the same replicates.

    Two-sided; keys are (name, name), sorted. The probability of any wrong separation in the family
    is held at the level at which p is read (Romano and Wolf 2005). Pairs that are never separated
    have p = 1.
    """
    pairs = _pairs(values, replicates, clusters, undecided)
    order = np.argsort(-pairs.observed, kind="stable")
    # The largest of a pair and all pairs below it, for every replicate.
    largest = np.maximum.accumulate(pairs.replicates[order[::-1]], axis=0)[::-1]
    exceeding = (largest >= pairs.observed[order][:, None]).sum(axis=1)
    stepped = np.maximum.accumulate((1 + exceeding) / (1 + largest.shape[1]))
    if largest.shape[1] < MIN_REPLICATES:
        stepped = np.ones(len(order))
    found = {}
    for place, p in zip(order.tolist(), stepped.tolist(), strict=True):
        names = pairs.models[pairs.first[place]], pairs.models[pairs.second[place]]
        found[names] = p if pairs.observed[place] > 0 else 1.0
    return dict(sorted(found.items()))


def holm(p_values: Iterable[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the given order; for exact tests only.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found = list(p_values)
    order = sorted(range(len(found)), key=lambda place: found[place])
    adjusted, largest = [0.0] * len(found), 0.0
    for step, place in enumerate(order):
        largest = max(largest, min(1.0, (len(found) - step) * found[place]))
        adjusted[place] = largest
    return adjusted


def _pairs(
    values: Mapping[str, float],
    replicates: Mapping[str, np.ndarray],
    clusters: int | None,
    undecided: Collection[str],
) -> _Pairs:
    models = tuple(sorted(values))
    first, second, found = _differences([replicates[name] for name in models])
    observed = np.array([values[name] for name in models])
    difference = observed[first] - observed[second]
    error = _deviation(found)
    smallest = ROUNDING * float(np.abs(observed).max(initial=0.0))
    varies, apart = error > smallest, np.abs(difference) > smallest
    safe = np.where(varies, error, 1.0)
    statistic = np.where(varies, np.abs(difference) / safe, np.where(apart, np.inf, 0.0))
    unsure = np.isin(models, list(undecided))
    unsure = unsure[first] | unsure[second]
    statistic[unsure] = 0.0
    # Pairs that cannot be separated for reasons of their own do not make it harder for others.
    scale = np.where(varies & ~unsure, 1 / safe, 0.0)
    null = found
    null -= difference[:, None]
    np.abs(null, out=null)
    null *= scale[:, None]
    return _Pairs(models, first, second, difference, _as_normal(statistic, clusters), null)


def _differences(replicates: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places of every pair's models and its differences (pairs, b) where all exist."""
    places = np.array(list(itertools.combinations(range(len(replicates)), 2)), np.int64)
    first, second = places.reshape(-1, 2).T
    drawn = np.array(replicates) if replicates else np.empty((0, 0))
    missing = np.isnan(drawn).any(axis=0)
    drawn = drawn[:, ~missing] if missing.any() else drawn
    return first, second, drawn[first] - drawn[second]


def _deviation(differences: np.ndarray) -> np.ndarray:
    if differences.shape[1] < 2:
        return np.zeros(len(differences))
    return differences.std(axis=1, ddof=1)


def typical_error(replicates: Mapping[str, np.ndarray]) -> float | None:
    """Return the root mean square over pairs of the standard errors of their differences.

    None for fewer than two models.
    """
    *_, found = _differences([replicates[name] for name in sorted(replicates)])
    errors = _deviation(found).tolist()
    if not errors:
        return None
    return math.sqrt(math.fsum(error**2 for error in errors) / len(errors))


def _as_normal(statistics: np.ndarray, clusters: int | None) -> np.ndarray:
    """Return the normal quantiles of t statistics of G clusters; unchanged where G is not given."""
    from scipy.special import ndtri, stdtr

    if clusters is None:
        return statistics
    if clusters < 2:
        return np.zeros_like(statistics)
    narrowed = statistics * math.sqrt((clusters - 1) / clusters)
    # Lower tails keep their digits where upper ones would round to 1.
    return np.abs(ndtri(stdtr(clusters - 1, -narrowed)))


def _critical(pairs: _Pairs) -> float:
    """Return c: the smallest value that at least 95 % of the replicates' maxima do not exceed."""
    if pairs.replicates.shape[1] < MIN_REPLICATES:
        return math.inf
    largest = pairs.replicates.max(axis=0, initial=0.0)
    return float(np.quantile(largest, LEVEL, method="higher"))
