"""Spread over training seeds (PixelBench Table 17): sample SD, standard error, t interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gensight.published.formulas import plain_mean


def sample_sd(values: Sequence[float]) -> float:
    """Return the standard deviation with n - 1 below.

    Raises:
        ValueError: fewer than two values have none.

    >>> sample_sd([1.0, 2.0, 3.0])
    1.0
    """
    if len(values) < 2:
        raise ValueError("a spread needs at least two values")
    mean = plain_mean(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return math.sqrt(squares / (len(values) - 1))


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean, sample SD / sqrt(n); ValueError as `sample_sd`.

    >>> standard_error([1.0, 3.0, 1.0, 3.0, 2.0])
    0.4472135954999579
    """
    return sample_sd(values) / math.sqrt(len(values))


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean by Student's t with n - 1 degrees of freedom.

    With three values the mean stands between 4.302653 standard errors on each side. ValueError as
    `sample_sd`.

    >>> [round(bound, 3) for bound in t_interval([1.0, 2.0, 3.0])]
    [-0.484, 4.484]
    """
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(values) - 1, 0.975))
    mean, margin = plain_mean(values), quantile * standard_error(values)
    return mean - margin, mean + margin
