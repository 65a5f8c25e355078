"""Correlations between rows of aggregates: never without p, interval and the number of models."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from aggregate_files import EXACT, Cells, digest_at, made, number
from scipy import stats

from gensight.errors import GensightError
from gensight.specs.aggregates import CORRELATED
from gensight.statistics.correlations import coefficients, fisher_interval

N = 20
#: Right answers of 20, by model: how much is understood, and how well is drawn.
UNDERSTOOD = {"a": 4, "b": 6, "c": 9, "d": 10, "e": 14, "f": 17}
DRAWN = {"a": 5, "b": 4, "c": 11, "d": 9, "e": 12, "f": 19}
READ = {
    "numbers": {"right": number("read/letter", "exact_match")},
    "rows": [{"name": "overall", "mean_of": ["right"]}],
}
BOTH = {
    "numbers": {"right": number("draw/grid", "exact_match")},
    "rows": [{"name": "agg", "mean_of": ["right"]}],
    "correlations": [
        {
            "name": "understanding_drawing",
            "x": {"aggregate": "reading", "row": "overall"},
            "y": {"row": "agg"},
        }
    ],
}


def cells_of(models) -> tuple[Cells, Cells]:
    read, draw = Cells(), Cells()
    for model in models:
        for cells, place, right in ((read, "read/letter", UNDERSTOOD), (draw, "draw/grid", DRAWN)):
            cells.add(model, place, {EXACT: [1.0] * right[model] + [0.0] * (N - right[model])})
    return read, draw


def found(read: Cells, draw: Cells, spec=BOTH, **more):
    made(READ, read.scores, "reading", **more)
    rows = made(spec, draw.scores, "both", aggregates={"reading": digest_at("reading")}, **more)
    return {metric: row for (model, metric), row in rows.items() if model not in DRAWN}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_coefficient_comes_with_its_p_and_the_number_of_models():
    told = found(*cells_of(DRAWN))
    assert set(told) == set(CORRELATED)
    x, y = ([float(v) for v in side.values()] for side in (UNDERSTOOD, DRAWN))
    assert told["models"].value == told["pearson"].n == 6
    assert told["pearson"].value == pytest.approx(stats.pearsonr(x, y).statistic)
    reference = stats.pearsonr(x, y).confidence_interval()
    assert told["pearson"].interval_low == pytest.approx(reference.low)
    assert told["pearson"].interval_high == pytest.approx(reference.high)
    assert told["spearman"].value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert told["kendall"].value == pytest.approx(stats.kendalltau(x, y).statistic)
    assert told["pearson_p"].interval_method == "all orders: 720"
    assert {row.model for row in told.values()} == {"understanding_drawing"}
    assert told["models_needed"].value == 6


def test_reference_rows_and_models_without_one_side_take_no_part():
    read, draw = cells_of(DRAWN)
    roles = {**dict.fromkeys(DRAWN, "measured"), "f": "ceiling"}
    scores = {path: digest for path, digest in draw.scores.items() if "/a/" not in path}
    draw.scores = scores
    told = found(read, draw, roles=roles)
    assert told["models"].value == 4
    names = ["b", "c", "d", "e"]
    expected = stats.pearsonr([UNDERSTOOD[n] for n in names], [DRAWN[n] for n in names])
    assert told["pearson"].value == pytest.approx(expected.statistic)


def test_listed_models_and_sides_as_a_paper_prints_them():
    listed = {**BOTH["correlations"][0], "models": ["a", "b", "c", "d"]}
    listed["y"] = {"row": "agg", "decimals": 0}
    listed["x"] = {**listed["x"], "decimals": 0}
    told = found(*cells_of(DRAWN), spec={**BOTH, "correlations": [listed]})
    sides = ([20.0, 30.0, 45.0, 50.0], [25.0, 20.0, 55.0, 45.0])
    assert told["pearson"].value == pytest.approx(stats.pearsonr(*sides).statistic)


def test_missing_answers_of_a_model_block_the_correlation():
    read, draw = cells_of(DRAWN)
    right = [1.0] * DRAWN["c"] + [0.0] * (N - DRAWN["c"])
    draw.add("c", "draw/grid", {EXACT: right}, lost=[3])
    told = found(read, draw)
    assert {row.infrastructure for row in told.values()} == {1}


def test_two_models_have_a_number_of_models_and_nothing_else():
    told = found(*cells_of(["a", "b"]))
    assert told.pop("models").value == 2
    assert {row.value for row in told.values()} == {None}


def test_all_orders_by_hand_with_ties():
    x, y = [1.0, 2.0, 2.0, 4.0, 7.0], [3.0, 1.0, 3.0, 5.0, 5.0]
    slow = {
        "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
        "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
        "kendall": lambda a, b: stats.kendalltau(a, b).statistic,
    }
    for name, one in coefficients(x, y).items():
        value = slow[name](x, y)
        orders = [slow[name](x, order) for order in itertools.permutations(y)]
        assert one.value == pytest.approx(value)
        assert one.p == pytest.approx(np.mean(np.abs(orders) >= abs(value) - 1e-9))
        assert (one.orders, one.exact) == (120, True)


def test_beyond_eight_models_orders_are_drawn_and_the_given_one_counts():
    rng = np.random.default_rng(5)
    x = rng.normal(size=12)
    y = x + rng.normal(scale=1.2, size=12)
    found = coefficients(x, y)
    reference = stats.pearsonr(x, y, method=stats.PermutationMethod(n_resamples=20_000, rng=1))
    assert found["pearson"].p == pytest.approx(reference.pvalue, abs=0.01)
    assert found["pearson"][2:] == (9999, False)
    assert coefficients(x, x)["kendall"].p == 1 / 10_000
    assert found == coefficients(x, y)


@pytest.mark.parametrize("two", [[1.0, 1.0, 1.0], [0.1, 0.1, 0.1]])
def test_a_constant_has_no_correlation(two):
    assert {c.value for c in coefficients([1.0, 2.0, 3.0], two).values()} == {None}
    assert {c.p for c in coefficients(two, [1.0, 2.0, 3.0]).values()} == {None}


@pytest.mark.parametrize(("one", "two"), [([1.0, 2.0], [1.0]), ([1.0, np.nan], [1.0, 2.0])])
def test_lists_that_do_not_fit_are_refused(one, two):
    with pytest.raises(GensightError, match="two lists of finite numbers"):
        coefficients(one, two)


def test_a_perfect_correlation_has_no_interval_of_fishers():
    found = coefficients(range(6), range(6))["pearson"]
    assert found.value == 1 and fisher_interval(found.value, 6).low is None
