"""Metrics by hand: every module's declaration and examples, missing parts, the order of samples."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight import measures, metrics
from gensight.errors import SpecError
from gensight.statistics.estimates import KINDS

NAN = math.nan


@pytest.mark.parametrize("name", metrics.names())
def test_module_declares_what_a_metric_needs(name):
    module = metrics.load(name)
    assert isinstance(module.VERSION, int)
    assert module.MEASURE in measures.names()
    assert isinstance(module.HIGHER_IS_BETTER, bool)
    assert isinstance(module.UNIT, str)
    assert module.INTERVAL in KINDS
    assert module.value({}) is None
    assert module.aggregate({}) is None
    assert module.value.__doc__
    assert module.aggregate.__doc__


@pytest.mark.parametrize("name", metrics.names())
def test_example_in_the_docstring_holds(name):
    result = doctest.testmod(metrics.load(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", measures.names())
def test_measure_declares_what_a_measure_needs(name):
    module = measures.load(name)
    assert isinstance(module.VERSION, int)
    assert module.DEFAULTS["failure"] in module.FAILURE_POLICIES
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("room", "typo", "nearest"), [(metrics, "giuo", "giou"), (measures, "overlp", "overlap")]
)
def test_unknown_name_shows_the_nearest(room, typo, nearest):
    with pytest.raises(SpecError, match=f"{typo}.*{nearest}"):
        room.load(typo)


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        # PROTOCOLS SEG-1: A 100 of 100, B 0 of 10 000.
        ("giou", {"iou": [1, 0]}, 50),
        ("ciou", {"intersection": [100, 0], "union": [100, 10_000]}, 0.990099),
        # Both masks empty: IoU 1, nothing added to the sums.
        ("giou", {"iou": [1, 0, 1]}, 200 / 3),
        ("ciou", {"intersection": [100, 0, 0], "union": [100, 10_000, 0]}, 0.990099),
        ("ciou", {"intersection": [0], "union": [0]}, None),
        ("query_sensitivity", {"iou": [0.9, 0.5], "iou_twin": [0.1, NAN]}, 80),
        # PROTOCOLS DEP-4: per picture, never pooled pixels.
        ("absrel", {"absrel": [0.1, 0.3], "n_valid": [100, 10_000]}, 20),
        ("absrel", {"absrel": [NAN, 0.3]}, 30),
        ("absrel", {"absrel": [NAN, NAN]}, None),
        ("delta1", {"delta1": [0.5, 1]}, 75),
        ("rmse_m", {"rmse_m": [0.5, 1.5]}, 1),
        ("polarity_contradicted", {"polarity_contradicts": [1, 0, 0, NAN]}, 100 / 3),
        # PROTOCOLS CNT-4: truths 10, 5, 0; predictions 12, 5, 3.
        ("mae", {"absolute_error": [2, 0, 3]}, 1.6667),
        ("rmse", {"squared_error": [4, 0, 9]}, 2.0817),
        ("log_count_error", {"log_error": [math.log(13 / 11), 0, math.log(4)]}, 0.5178),
        ("localised_f1", {"localised_f1": [1, 0.5, NAN]}, 75),
        ("mark_precision", {"matched": [3, 1], "false_points": [1, 3]}, 50),
        ("mark_recall", {"matched": [3, 0], "missed": [1, 4]}, 37.5),
        ("mean_angle", {"mean_angle_deg": [10, 30]}, 20),
        ("median_angle", {"median_angle_deg": [10, 30]}, 20),
        ("within_11", {"within_11": [0.25]}, 25),
        ("within_22", {"within_22": [0.5]}, 50),
        ("within_30", {"within_30": [0.75]}, 75),
    ],
)
def test_hand_values(name, parts, expected):
    value = metrics.load(name).aggregate({k: np.array(v, float) for k, v in parts.items()})
    assert value == (None if expected is None else pytest.approx(expected, abs=5e-5))


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        ("ciou", {"intersection": 1.0, "union": 4.0}, 25),
        ("ciou", {"intersection": 0.0, "union": 0.0}, None),
        ("query_sensitivity", {"iou": 1.0}, None),
        ("rmse", {"squared_error": 9.0}, 3),
        ("mark_precision", {"matched": 0.0, "false_points": 0.0, "missed": 2.0}, None),
        ("mark_recall", {"matched": 1.0, "false_points": 0.0, "missed": 1.0}, 50),
    ],
)
def test_value_of_one_sample(name, parts, expected):
    assert metrics.load(name).value(parts) == expected


errors = st.lists(st.floats(0, 1e6), min_size=1, max_size=30)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
@settings(deadline=None)
def test_rmse_is_at_least_mae(absolute):
    parts = {"absolute_error": absolute, "squared_error": [error**2 for error in absolute]}
    rmse, mae = (metrics.load(name).aggregate(parts) for name in ("rmse", "mae"))
    assert rmse >= mae * (1 - 1e-12)


@given(errors, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_samples_changes_no_bit(values, random):
    shuffled = random.sample(values, len(values))
    for name, part in (("mae", "absolute_error"), ("rmse", "squared_error")):
        aggregate = metrics.load(name).aggregate
        assert aggregate({part: values}) == aggregate({part: shuffled})
    ciou = metrics.load("ciou").aggregate
    pairs = list(zip(values, [value + 1 for value in values], strict=True))
    mixed = random.sample(pairs, len(pairs))
    first, second = (
        ciou({"intersection": [row[0] for row in rows], "union": [row[1] for row in rows]})
        for rows in (pairs, mixed)
    )
    assert first == second


def test_modules_are_plain_functions_for_outsiders():
    from gensight.metrics import giou

    assert giou.value({"iou": 0.5}) == 50
