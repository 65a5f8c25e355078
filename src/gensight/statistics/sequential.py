"""Spending to a precision: an interval that may be looked at after every sample (PROTOCOLS 5.4).

An ordinary interval that is watched until it excludes 0 does so, sooner or later, for equal models
too. A confidence sequence holds at all steps at once with 95 %, so a run in the order of manifest
ranks may stop as soon as two models differ, or as soon as the interval is narrow enough.

The sequence is the hedged betting sequence of Waudby-Smith and Ramdas (2024): for every candidate
mean m, capital is bet against m, up and down, with predictable bets that fit the variance seen so
far; m is excluded once the capital has grown twentyfold. It assumes scores in [0, 1] and that every
step has the same mean difference given those before: one difference per cluster, in random order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.estimates import LEVEL

#: Candidate differences per unit of difference; bounds are rounded outwards to the next one.
CANDIDATES_PER_UNIT = 500
#: Bets never risk more than this share of what a step can lose (Waudby-Smith and Ramdas 2024).
MOST_RISKED = 0.5


def confidence_sequence(
    differences: ArrayLike, level: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (t,) of the mean difference after every step.

    `differences` (t,) are paired differences of scores in [0, 1], hence in [-1, 1], in the order in
    which they were paid for. Bounds never widen.

    >>> low, high = confidence_sequence([0.5] * 40)
    >>> bool(low[-1] > 0), bool(low[0] == -1)
    (True, True)

    Raises:
        GensightError: a difference is missing or outside [-1, 1].
    """
    found = np.asarray(differences, np.float64)
    if not (np.abs(found) <= 1).all():
        raise GensightError(
            "a confidence sequence needs differences between -1 and 1: scale scores to 0 to 1, "
            "and give no missing ones"
        )
    scaled = (found + 1) / 2
    steps = 2 * CANDIDATES_PER_UNIT
    candidates = np.arange(steps + 1) / steps
    kept = _log_capital(scaled, candidates, 1 - level) < -np.log(1 - level)
    low = np.where(kept.any(axis=1), np.argmax(kept, axis=1), steps // 2)
    high = np.where(kept.any(axis=1), steps - np.argmax(kept[:, ::-1], axis=1), steps // 2)
    # One candidate further out, for the truth may lie between two.
    low = np.maximum.accumulate(np.maximum(low - 1, 0))
    high = np.minimum.accumulate(np.minimum(high + 1, steps))
    return low / CANDIDATES_PER_UNIT - 1, high / CANDIDATES_PER_UNIT - 1


def stopping_point(
    differences: ArrayLike, width: float | None = None, level: float = LEVEL
) -> int | None:
    """Return after how many steps to stop: 0 is excluded, or the bounds are at most `width` apart.

    None where neither has happened yet. Scale and errors as `confidence_sequence`.
    """
    low, high = confidence_sequence(differences, level)
    done = (low > 0) | (high < 0)
    if width is not None:
        done |= high - low <= width
    return int(np.argmax(done)) + 1 if done.any() else None


def _log_capital(values: np.ndarray, candidates: np.ndarray, alpha: float) -> np.ndarray:
    """Return the log of the hedged capital (t, candidates) against each mean; values in [0, 1]."""
    bets = _bets(values, alpha)[:, None]
    with np.errstate(divide="ignore"):
        up = np.minimum(bets, MOST_RISKED / candidates)
        down = np.minimum(bets, MOST_RISKED / (1 - candidates))
    gains = values[:, None] - candidates
    rising = np.cumsum(np.log1p(up * gains), axis=0)
    falling = np.cumsum(np.log1p(-down * gains), axis=0)
    # Half of the capital bets each way.
    return np.maximum(rising, falling) - np.log(2)


def _bets(values: np.ndarray, alpha: float) -> np.ndarray:
    """Return the bets (t,), each from the values before it alone."""
    steps = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (steps + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (steps + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.sqrt(2 * np.log(2 / alpha) / (before * steps * np.log1p(steps)))
