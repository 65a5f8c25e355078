"""Intervals against textbook formulas, by kind of metric."""

import doctest
import importlib
import math
import pkgutil
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from scipy import stats

from gensight import metrics, statistics
from gensight.statistics import (
    effective_n_of_mean,
    effective_n_of_ratio,
    interval,
    mean_interval,
    ratio_interval,
    wilson_interval,
)

NAN = math.nan
RNG = np.random.default_rng(0)
VALUES = RNG.normal(50, 20, 40)
SINGLE = [f"c{i}" for i in range(40)]
PAIRED = [f"c{i // 2}" for i in range(40)]


def test_single_members_give_the_ordinary_t_interval():
    low, high, method = mean_interval(VALUES, SINGLE)
    expected = stats.t.interval(0.95, 39, VALUES.mean(), stats.sem(VALUES))
    assert (low, high) == pytest.approx(expected)
    assert method == "cluster-t"


def test_equal_clusters_give_the_t_interval_of_their_means():
    means = VALUES.reshape(20, 2).mean(axis=1)
    expected = stats.t.interval(0.95, 19, means.mean(), stats.sem(means))
    assert mean_interval(VALUES, PAIRED)[:2] == pytest.approx(expected)


def test_duplicated_samples_do_not_narrow_the_interval():
    assert mean_interval(np.repeat(VALUES, 3), np.repeat(SINGLE, 3))[:2] == pytest.approx(
        mean_interval(VALUES, SINGLE)[:2]
    )


def test_ratio_is_linearised():
    above, below = RNG.uniform(0, 50, 40), RNG.uniform(50, 90, 40)
    ratio = above.sum() / below.sum()
    z = (above - ratio * below) / below.mean()
    half_width = stats.t.ppf(0.975, 39) * stats.sem(z)
    low, high, method = ratio_interval(above, below, SINGLE)
    assert (low, high) == pytest.approx((ratio - half_width, ratio + half_width))
    assert method == "linearised cluster-t"


def test_ratio_in_clusters_uses_their_sums():
    above, below = RNG.uniform(0, 50, 40), RNG.uniform(50, 90, 40)
    sums = above.reshape(20, 2).sum(axis=1), below.reshape(20, 2).sum(axis=1)
    got, expected = ratio_interval(above, below, PAIRED), ratio_interval(*sums, SINGLE[:20])
    assert got[:2] == pytest.approx(expected[:2])


@pytest.mark.parametrize("clusters", [SINGLE, PAIRED])
def test_wilson_bounds_solve_their_equation(clusters):
    hits = (RNG.random(40) < 0.7).astype(float)
    low, high, _, n_eff = wilson_interval(hits, clusters)
    t = stats.t.ppf(0.975, len(set(clusters)) - 1)
    for bound in (low, high):
        assert abs(hits.mean() - bound) == pytest.approx(t * math.sqrt(bound * (1 - bound) / n_eff))
    assert n_eff <= 40


def test_wilson_sample_size_is_that_of_the_clusters():
    # Every cluster of four agrees with itself, so the forty samples are worth about ten.
    hits = np.repeat([1, 0, 1, 1, 0, 1, 0, 0, 1, 1], 4)
    clusters = np.repeat(SINGLE[:10], 4)
    se_squared = 0.6 * 0.4 / 9
    assert wilson_interval(hits, clusters).n_eff == pytest.approx(0.6 * 0.4 / se_squared)


T_19 = 2.093024


@pytest.mark.parametrize(
    ("hit", "bounds"), [(1, (20 / (20 + T_19**2), 1)), (0, (0, T_19**2 / (20 + T_19**2)))]
)
def test_wilson_where_all_agree_counts_clusters(hit, bounds):
    low, high, _, n_eff = wilson_interval([hit] * 40, PAIRED)
    assert n_eff == 20
    assert (low, high) == pytest.approx(bounds, abs=1e-6)
    assert float(hit) in (low, high)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [([], []), ([1.0], ["a"]), ([1.0, 0.0, 1.0], ["a", "a", "a"]), ([1.0, NAN], ["a", "b"])],
)
def test_fewer_than_two_clusters_give_no_interval(values, clusters):
    assert mean_interval(values, clusters) == (None, None, "none")
    assert ratio_interval(values, values, clusters) == (None, None, "none")
    assert wilson_interval(values, clusters) == (None, None, "none", None)
    assert effective_n_of_mean(values, clusters) is None


def test_missing_samples_are_left_out():
    holes = VALUES.copy()
    holes[::3] = NAN
    kept = ~np.isnan(holes)
    assert mean_interval(holes, SINGLE) == mean_interval(holes[kept], np.array(SINGLE)[kept])


@pytest.mark.parametrize(
    ("below", "expected"),
    [([1, 1, 1, 1], 4), ([1e6, 1, 1], 1.000004), ([0, 0], None), ([], None), ([2, 2, NAN], 2)],
)
def test_effective_n_of_a_ratio(below, expected):
    value = effective_n_of_ratio(below)
    assert value == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        (VALUES, SINGLE, 40),
        (np.repeat(VALUES, 3), np.repeat(SINGLE, 3), 120 / 119 * 39),
        ([5.0] * 40, PAIRED, 20),
    ],
)
def test_effective_n_of_a_mean(values, clusters, expected):
    assert effective_n_of_mean(values, clusters) == pytest.approx(expected)


PARTS = {
    "iou": VALUES / 100,
    "intersection": VALUES,
    "union": VALUES + 30,
    "polarity_contradicts": (VALUES > 60).astype(float),
    "absolute_error": abs(VALUES - 50),
    "squared_error": (VALUES - 50) ** 2,
    "log_error": VALUES / 100,
}


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("giou", "cluster-t"),
        ("ciou", "linearised cluster-t"),
        ("polarity_contradicted", "wilson at n_eff"),
        ("log_count_error", "cluster-t"),
        ("mae", "t of the log"),
        ("rmse", "t of the log"),
        ("half_error_items", "none"),
    ],
)
def test_each_metric_has_its_interval(name, method):
    metric = metrics.load(name)
    low, high, used = statistics.interval(metric, PARTS, PAIRED)
    assert used == method
    n_eff = statistics.effective_n(metric, PARTS, PAIRED)
    if method == "none":
        assert (low, high, n_eff) == (None, None, None)
    else:
        assert low < metric.aggregate(PARTS) < high
        assert 1 < n_eff <= 40


def test_unknown_kind_of_interval_is_refused():
    metric = types.SimpleNamespace(__name__="m", INTERVAL="bootstrap", value=lambda parts: None)
    with pytest.raises(ValueError, match=r"m\.INTERVAL"):
        statistics.interval(metric, PARTS, PAIRED)


def test_metric_without_a_kind_is_a_mean():
    metric = types.SimpleNamespace(value=lambda parts: parts.get("iou"))
    assert statistics.interval(metric, PARTS, PAIRED) == mean_interval(PARTS["iou"], PAIRED)


@given(st.permutations(range(40)))
@run(max_examples=25, deadline=None)
def test_shuffled_rows_give_the_same_bits(order):
    clusters = [PAIRED[i] for i in order]
    parts = {name: column[list(order)] for name, column in PARTS.items()}
    for name in ("giou", "ciou", "polarity_contradicted"):
        metric = metrics.load(name)
        assert statistics.interval(metric, parts, clusters) == statistics.interval(
            metric, PARTS, PAIRED
        )


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(statistics.__path__)]
)
def test_examples_in_the_docstrings_hold(name):
    assert doctest.testmod(importlib.import_module(f"gensight.statistics.{name}")).failed == 0


MANY = [f"c{i:02}" for i in range(50)]


def test_strata_of_a_mean_and_a_rate():
    strata = ["a"] * 25 + ["b"] * 25
    values = np.where(np.arange(50) < 25, 10.0, 20.0) + RNG.normal(0, 1, 50)
    found = mean_interval(values, MANY, strata)
    error = math.sqrt(sum(part.var(ddof=1) / 25 for part in values.reshape(2, 25)) / 4)
    half = stats.t.ppf(0.975, 48) * error
    assert found[:2] == pytest.approx((values.mean() - half, values.mean() + half))
    hits = (np.arange(50) % 25 < np.where(np.arange(50) < 25, 3, 22)).astype(float)
    assert wilson_interval(hits, MANY, strata).low > wilson_interval(hits, MANY).low


def test_a_pooled_score_is_the_weighted_sum_of_its_pools():
    metric = types.SimpleNamespace(
        __name__="overall",
        INTERVAL="pooled",
        POOLS=((0.6, ("rc",), ("rc_most",)), (0.4, ("vc",), ("vc_most",))),
    )
    rc, vc = RNG.integers(0, 3, 50).astype(float), RNG.integers(0, 3, 50).astype(float)
    vc[::5] = NAN
    parts = {
        "rc": rc,
        "rc_most": np.full(50, 2.0),
        "vc": vc,
        "vc_most": np.where(np.isnan(vc), NAN, 2),
    }
    shares = rc.sum() / 100, np.nansum(vc) / 80
    # u of PROTOCOLS 2.6, each pool scaled by its own mean number of units.
    u = 60 * (rc - 2 * shares[0]) / 2 + 40 * np.nan_to_num(vc - 2 * shares[1]) / 1.6
    value = 60 * shares[0] + 40 * shares[1]
    half = stats.t.ppf(0.975, 49) * stats.sem(u)
    found = interval(metric, parts, MANY)
    assert found[:2] == pytest.approx((value - half, value + half))
    assert statistics.effective_n(metric, parts, MANY) == pytest.approx(50)
    assert interval(metric, {**parts, "vc_most": np.full(50, NAN)}, MANY).low is None


def test_fewer_than_ten_clusters_speak_of_the_same_scenes_only():
    values = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    parts = {"iou": [value / 100 for value in values]}
    nine = ["scene_0", "scene_0", *(f"scene_{i}" for i in range(1, 9))]
    ten = [f"scene_{i}" for i in range(10)]
    low, high, method = interval(metrics.load("giou"), parts, nine)
    assert method == "cluster-t, fixed scenes"
    # Samples are then the units: the same interval as for ten clusters of one sample each.
    assert (low, high) == pytest.approx(interval(metrics.load("giou"), parts, ten)[:2])
    assert interval(metrics.load("giou"), parts, ten).method == "cluster-t"


def test_one_sample_has_no_interval():
    assert interval(metrics.load("giou"), {"iou": [0.5]}, ["scene"]) == (None, None, "none")
