"""The formulas of the papers' derived numbers: hand values, properties, degenerate cases."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gensight.published import (
    formulas,
    formulas_correlation,
    formulas_genius,
    formulas_pixelbench,
    formulas_spread,
)
from gensight.published.formulas import (
    optimizer_steps,
    percent_of,
    plain_mean,
    total,
    weighted_mean,
)
from gensight.published.formulas_correlation import kendall, pearson, spearman
from gensight.published.formulas_genius import (
    REFERENCES,
    SAMPLES,
    overall,
    pooled_percent,
    score_sum_of,
)
from gensight.published.formulas_pixelbench import (
    image_to_pixel_aggregates,
    reciprocal_rank_bounds,
    text_to_pixel_aggregate,
)
from gensight.published.formulas_spread import sample_sd, standard_error, t_interval

MODULES = (
    formulas,
    formulas_correlation,
    formulas_genius,
    formulas_pixelbench,
    formulas_spread,
)
small = st.integers(-50, 50)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_are_right(module):
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0


def test_a_mean_weighted_by_equal_weights_is_the_plain_mean():
    assert weighted_mean([1.0, 2.0, 6.0], [5, 5, 5]) == plain_mean([1.0, 2.0, 6.0]) == 3.0


def test_the_column_over_all_quantities_by_hand():
    """Runs 2, 4, 2, 2: (2*1.8 + 4*0.9 + 2*1.5 + 2*1.0) / 10 = 1.22 (CV-Bench, Table 12)."""
    assert weighted_mean([1.8, 0.9, 1.5, 1.0], [2, 4, 2, 2]) == pytest.approx(1.22)


def test_a_total_of_nothing_is_nothing():
    assert total([]) == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: plain_mean([]),
        lambda: weighted_mean([1.0], [1, 2]),
        lambda: weighted_mean([], []),
        lambda: weighted_mean([1.0, 2.0], [0, 0]),
        lambda: weighted_mean([1.0, 2.0], [3, -1]),
        lambda: percent_of(1, 0),
        lambda: optimizer_steps(10, 0),
        lambda: optimizer_steps(-1, 8),
        lambda: pooled_percent(0, 0),
        lambda: overall({"RC": 1, "VC": 0, "AQ": 1}, {"RC": 1, "VC": 0, "AQ": 1}),
        lambda: text_to_pixel_aggregate([80.0], [70.0, 60.0]),
        lambda: text_to_pixel_aggregate([], []),
        lambda: image_to_pixel_aggregates({}),
        lambda: image_to_pixel_aggregates({"only": [1.0]}),
        lambda: image_to_pixel_aggregates({"a": [1.0, 2.0], "b": [2.0, 2.0]}),
        lambda: image_to_pixel_aggregates({"a": [1.0], "b": [2.0, 3.0]}),
        lambda: reciprocal_rank_bounds(1.01),
        lambda: sample_sd([1.0]),
        lambda: standard_error([]),
        lambda: t_interval([1.0]),
        lambda: pearson([1.0], [1.0]),
        lambda: pearson([1.0, 2.0], [1.0, 2.0, 3.0]),
        lambda: spearman([1.0, 1.0], [1.0, 2.0]),
        lambda: kendall([1.0, 2.0], [3.0, 3.0]),
    ],
)
def test_what_has_no_value_is_an_error(call):
    with pytest.raises(ValueError, match=r"."):
        call()


def test_steps_of_no_examples_are_none():
    assert optimizer_steps(0, 64) == 0


def test_overall_pools_units_and_not_tasks():
    """10 units of RC at 2 and 90 at 0 are 10 %, whatever tasks they come from."""
    units = {"RC": 100, "VC": 50, "AQ": 100}
    assert overall({"RC": 20, "VC": 50, "AQ": 200}, units) == pytest.approx(
        (6 * 10 + 3.5 * 50 + 0.5 * 100) / 10
    )


def test_units_of_all_tasks():
    """86 + 213 + 211 samples in the paper's three dimensions, 275 references."""
    assert sum(SAMPLES.values()) == 510
    assert SAMPLES["Symbolic Constraint"] + SAMPLES["Visual Constraint"] == 213
    assert SAMPLES["Prior-Conflicting"] + SAMPLES["Multi-Semantic"] == 211
    assert sum(REFERENCES.values()) == 275
    assert set(REFERENCES) == set(SAMPLES)


@given(st.integers(0, 306), st.integers(1, 153))
def test_a_percentage_gives_back_its_sum(score_sum, units):
    assert score_sum_of(pooled_percent(score_sum, units), units) == pytest.approx(score_sum)


def test_a_row_that_is_best_in_everything_has_100():
    rows = {"best": [3.0, 0.9, 0.5], "middle": [2.0, 0.5, 0.3], "worst": [1.0, 0.1, 0.1]}
    scores = image_to_pixel_aggregates(rows)
    assert (scores["best"], scores["worst"]) == (100.0, 0.0)
    assert scores["middle"] == pytest.approx(50.0)


def test_another_row_moves_every_score():
    rows = {"a": [1.0], "b": [2.0]}
    assert image_to_pixel_aggregates({**rows, "c": [5.0]})["b"] == 25.0
    assert image_to_pixel_aggregates(rows)["b"] == 100.0


@given(st.lists(st.integers(1, 12), min_size=1, max_size=40))
def test_every_set_of_ranks_lies_within_the_bounds(ranks):
    top1 = sum(rank == 1 for rank in ranks) / len(ranks)
    mean = sum(1 / rank for rank in ranks) / len(ranks)
    low, high = reciprocal_rank_bounds(top1)
    assert low - 1e-12 <= mean <= high + 1e-12


@settings(max_examples=60)
@given(st.lists(st.tuples(small, small), min_size=2, max_size=9))
def test_correlations_are_those_of_scipy(pairs):
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


def test_the_interval_over_three_seeds_by_hand():
    """1.455, 1.746, 1.534: mean 1.57833, SD 0.15048, SEM 0.08688, half-width 4.302653 SEM."""
    seeds = [1.455, 1.746, 1.534]
    assert sample_sd(seeds) == pytest.approx(0.15048, abs=5e-6)
    assert standard_error(seeds) == pytest.approx(0.08688, abs=5e-6)
    low, high = t_interval(seeds)
    assert (low, high) == pytest.approx((1.20452, 1.95215), abs=5e-6)
    assert (high - low) / 2 == pytest.approx(4.302653 * standard_error(seeds), rel=1e-6)
