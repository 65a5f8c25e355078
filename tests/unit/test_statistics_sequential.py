"""Intervals that may be watched while samples are paid for: validity, and where they stop."""

from __future__ import annotations

import numpy as np
import pytest

from gensight.errors import GensightError
from gensight.statistics.sequential import confidence_sequence, stopping_point


def paired(rng, steps, gap):
    """Return differences of two IoUs that pile up at 0 and 1 and share their difficulty."""
    hard = rng.beta(1.2, 0.8, steps)
    one, two = (np.clip(hard + 0.3 * rng.normal(size=steps), 0, 1) for _ in range(2))
    return np.clip(one + gap, 0, 1) - two


def test_the_sequence_holds_at_all_steps_at_once():
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(300):
        low, high = confidence_sequence(paired(rng, 300, 0.0))
        wrong += bool((low > 0).any() or (high < 0).any())
    # At most 5 % of the runs may ever exclude the truth; three standard errors are 3.8 points.
    assert wrong / 300 <= 0.05
    # A t interval that is watched does so far more often.
    peeked = 0
    for _ in range(100):
        found = paired(rng, 300, 0.0)
        count = np.arange(10, 301)
        means = np.cumsum(found)[9:] / count
        errors = np.sqrt((np.cumsum(found**2)[9:] / count - means**2) / count)
        peeked += (np.abs(means) > 1.96 * errors).any()
    assert peeked / 100 > 0.2


@pytest.mark.parametrize(("truth", "low", "high"), [(0.9, 0.0, 1.0), (-0.4, -1.0, -0.1)])
def test_skewed_differences_are_held_too(truth, low, high):
    rng, wrong = np.random.default_rng(1), 0
    chance = (truth - low) / (high - low)
    for _ in range(150):
        values = np.where(rng.random(200) < chance, high, low)
        below, above = confidence_sequence(values)
        wrong += bool(((below > truth) | (above < truth)).any())
    assert wrong / 150 <= 0.06


def test_bounds_never_widen_and_start_with_everything():
    low, high = confidence_sequence(paired(np.random.default_rng(2), 400, 0.1))
    assert (low[0], high[0]) == (-1, 1)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    assert high[-1] - low[-1] < 0.3


def test_bounds_are_mirrored():
    values = paired(np.random.default_rng(3), 200, 0.2)
    low, high = confidence_sequence(values)
    back = confidence_sequence(-values)
    assert back[0] == pytest.approx(-high)
    assert back[1] == pytest.approx(-low)


@pytest.mark.parametrize(("gap", "most"), [(0.35, 45), (0.2, 120)])
def test_clear_differences_stop_early(gap, most):
    rng = np.random.default_rng(4)
    stops = [stopping_point(paired(rng, 400, gap)) or 401 for _ in range(40)]
    assert 5 < np.median(stops) < most


def test_narrow_enough_is_a_reason_to_stop():
    values = paired(np.random.default_rng(5), 400, 0.0)
    assert stopping_point(values) is None
    stop = stopping_point(values, width=0.4)
    low, high = confidence_sequence(values)
    assert high[stop - 1] - low[stop - 1] <= 0.4 < high[stop - 2] - low[stop - 2]
    # What comes later does not move the stop.
    assert stopping_point(values[:stop], width=0.4) == stop


def test_differences_that_are_no_scores_are_refused():
    for values in ([0.1, np.nan], [1.5], [-40.0, 3.0]):
        with pytest.raises(GensightError, match="between -1 and 1"):
            confidence_sequence(values)
    assert stopping_point([]) is None
