"""Correlations over a handful of models: never a bare r (PROTOCOLS 2.6).

With six or seven models a correlation of 0.9 is compatible with 0.5. Pearson's r gets Fisher's
interval, and every coefficient a p from all n! orders of one list; beyond eight models from orders
that are drawn.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.estimates import LEVEL
from gensight.statistics.resampling import bit_stream

#: 8! = 40,320 orders; more are not enumerated.
MAX_ENUMERATED = 8
#: Where they are not, so many orders are drawn; the given one counts as one more.
DRAWN_ORDERS = 9_999
#: Orders with the same coefficient must count as equal, whatever rounding did.
ROUNDING = 1e-12


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
    return rho, float((np.abs(found) >= abs(rho) - ROUNDING).mean())


@functools.cache
def _orders(size: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(size))))


class Coefficient(NamedTuple):
    """A correlation and its two-sided p over orders; both None where it is not defined.

    `orders` says over how many: all n! of them where `exact`.
    """

    value: float | None
    p: float | None
    orders: int
    exact: bool


def coefficients(first: ArrayLike, second: ArrayLike) -> Mapping[str, Coefficient]:
    """Return `pearson`, `spearman` and `kendall` (tau-b) of values (n,), each with its p.

    p is the share of the orders of `second` whose coefficient is at least as far from 0: of all n!
    orders up to eight models, else of 9,999 drawn ones and the given one. Nothing is defined below
    three models, or where all values of a list are equal.

    >>> found = coefficients([1, 2, 3, 4, 5, 6], [1, 2, 3, 5, 6, 4])["spearman"]
    >>> round(found.value, 3), round(found.p, 3), found.orders
    (0.829, 0.058, 720)

    Raises:
        GensightError: the two lists are not equally long, or a value is not finite.
    """
    from scipy.stats import rankdata

    one, two = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != two.shape or one.ndim != 1 or not np.isfinite([one, two]).all():
        raise GensightError("a correlation needs two lists of finite numbers, equally long")
    sides = {
        "pearson": (_off_mean(one), _off_mean(two)),
        "spearman": (_off_mean(rankdata(one)), _off_mean(rankdata(two))),
        "kendall": (_signs(one), _signs(two)),
    }
    orders, exact = _orders_of(len(one))
    found = {}
    for name, (left, right) in sides.items():
        scale = math.sqrt(float((left**2).sum()) * float((right**2).sum()))
        if len(one) < 3 or not scale:
            found[name] = Coefficient(None, None, 0, exact)
            continue
        value = float((left * right).sum()) / scale
        drawn = np.concatenate([_products(left, right, some) for some in _blocks(orders)]) / scale
        extreme = np.abs(drawn) >= abs(value) - ROUNDING
        p = float(extreme.mean()) if exact else float(1 + extreme.sum()) / (1 + len(orders))
        found[name] = Coefficient(min(1.0, max(-1.0, value)), p, len(orders), exact)
    return found


def _off_mean(values: np.ndarray) -> np.ndarray:
    # Of equal values the mean may miss them by a bit, which is no spread.
    is_spread = len(values) > 0 and np.ptp(values) > 0
    return values - values.mean() if is_spread else np.zeros_like(values)


def _signs(values: np.ndarray) -> np.ndarray:
    """Return how every pair is ordered, -1, 0 or 1, (n, n): tau-b is Pearson's r of these."""
    return np.sign(values[:, None] - values[None, :])


def _products(left: np.ndarray, right: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return the sum of products with the right side in every order (b, n), (b,)."""
    if left.ndim == 1:
        return (right[orders] * left).sum(axis=1)
    return (right[orders[:, :, None], orders[:, None, :]] * left).sum(axis=(1, 2))


def _blocks(orders: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(orders), 4096):
        yield orders[start : start + 4096]


def _orders_of(size: int) -> tuple[np.ndarray, bool]:
    """Return all orders of so many, or drawn ones: sorting raw random bits is a fair shuffle."""
    if size <= MAX_ENUMERATED:
        return _orders(size), True
    drawn = bit_stream(f"orders of {size}").random_raw(DRAWN_ORDERS * size)
    return np.argsort(drawn.reshape(DRAWN_ORDERS, size), axis=1, kind="stable"), False
