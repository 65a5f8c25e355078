"""Correlations over a handful of models: never a bare r (PROTOCOLS 2.6).

With six or seven models a correlation of 0.9 is compatible with 0.5. Pearson's r gets Fisher's
interval, Spearman's rho an exact p from all n! orders.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.estimates import LEVEL

#: 8! = 40,320 orders; more are not enumerated.
MAX_ENUMERATED = 8


def fisher_interval(correlation: float, n: int) -> Interval:
    """Return Fisher's 95 % interval of Pearson's r over n models.

    None below four models, or at -1 and 1, where the transform has no value.

    >>> low, high, _ = fisher_interval(0.871, 7)
    >>> round(low, 2), round(high, 2)
    (0.34, 0.98)
    """
    from scipy.special import ndtri

    if n < 4 or not -1 < correlation < 1:
        return NO_INTERVAL
    half = float(ndtri((1 + LEVEL) / 2)) / math.sqrt(n - 3)
    centre = math.atanh(correlation)
    return Interval(math.tanh(centre - half), math.tanh(centre + half), "Fisher")


def models_needed(correlation: float, power: float = 0.8) -> int:
    """Return how many models a correlation needs to be told from 0 at 5 % with this power.

    >>> models_needed(0.8)
    10

    Raises:
        GensightError: the correlation is 0, -1 or 1, or beyond.
    """
    from scipy.special import ndtri

    if not 0 < abs(correlation) < 1:
        raise GensightError(f"correlation {correlation}: give one between 0 and 1, or 0 and -1")
    needed = float(ndtri((1 + LEVEL) / 2) + ndtri(power)) / math.atanh(abs(correlation))
    return math.ceil(needed**2 + 3)


def spearman_exact(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """Return Spearman's rho of values (n,) and its exact two-sided p over all n! orders.

    Ties get their mean rank.

    >>> rho, p = spearman_exact([1, 2, 3, 4, 5, 6], [1, 2, 3, 5, 6, 4])
    >>> round(rho, 3), round(p, 3)
    (0.829, 0.058)

    Raises:
        GensightError: fewer than three or more than eight values, or all values of a list equal.
    """
    from scipy.stats import rankdata

    one, two = (rankdata(np.asarray(values, np.float64)) for values in (first, second))
    one, two = one - one.mean(), two - two.mean()
    if not 3 <= len(one) == len(two) <= MAX_ENUMERATED:
        raise GensightError(
            f"{len(one)} and {len(two)} values: an exact p is enumerated for two lists of "
            f"3 to {MAX_ENUMERATED}"
        )
    scale = math.sqrt(float(one @ one) * float(two @ two))
    if not scale:
        raise GensightError("all values of a list are equal, so a rank correlation has no value")
    rho = float(one @ two) / scale
    found = (two[_orders(len(two))] * one).sum(axis=1) / scale
    # Orders with the same rho must count as equal, whatever rounding did.
    return rho, float((np.abs(found) >= abs(rho) - 1e-12).mean())


@functools.cache
def _orders(size: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(size))))
