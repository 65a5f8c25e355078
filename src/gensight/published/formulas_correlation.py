"""Correlations over models (PixelBench Table 4), of two equally long lists of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Pearson's r.

    Raises:
        ValueError: the lengths differ, there are fewer than two pairs, or one side is constant.

    >>> round(pearson([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]), 6)
    0.981981
    """
    _check(x, y)
    x_off, y_off = _off_mean(x), _off_mean(y)
    product = math.fsum(a * b for a, b in zip(x_off, y_off, strict=True))
    return product / math.sqrt(_squares(x_off) * _squares(y_off))


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Spearman's rho: Pearson's r of the ranks; ties share their mean rank.

    Raises:
        ValueError: as `pearson`.

    >>> spearman([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
    0.5
    """
    _check(x, y)
    return pearson(_ranks(x), _ranks(y))


def kendall(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Kendall's tau-b: (concordant - discordant) over pairs, corrected for ties.

    Raises:
        ValueError: as `pearson`.

    >>> kendall([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0])
    0.6666666666666666
    """
    _check(x, y)
    signs = [
        (_sign(a[0] - b[0]), _sign(a[1] - b[1])) for a, b in combinations(zip(x, y, strict=True), 2)
    ]
    untied = [sum(pair[side] != 0 for pair in signs) for side in (0, 1)]
    return sum(a * b for a, b in signs) / math.sqrt(untied[0] * untied[1])


def _check(x: Sequence[float], y: Sequence[float]) -> None:
    if len(x) != len(y) or len(x) < 2:
        raise ValueError("a correlation needs two lists of the same length, two or more")
    if len(set(x)) == 1 or len(set(y)) == 1:
        raise ValueError("a correlation with a constant is not defined")


def _off_mean(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]


def _squares(values: Sequence[float]) -> float:
    return math.fsum(value * value for value in values)


def _ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1; equal values share the mean of the places that they take."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
