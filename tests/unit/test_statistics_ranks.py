"""Rank intervals: against a plain reimplementation, and their error rates in simulated columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gensight import metrics
from gensight.statistics import ColumnParts, best_set, column, holm, rank_intervals, separations
from gensight.statistics.ranks import adjusted_p_values
from gensight.statistics.resampling import resampling_matrix

GIOU = metrics.load("giou")
RNG = np.random.default_rng(0)
#: Six models on 200 samples, from clearly worst to clearly best, with two in between alike.
VALUES = {
    name: mean + 5 * RNG.normal(0, 1, 200)
    for name, mean in zip("abcdef", (10, 12, 12.2, 15, 15.1, 20), strict=True)
}
MATRIX = resampling_matrix("ranks", [f"c{place:03}" for place in range(200)])
MEANS = {name: float(values.mean()) for name, values in VALUES.items()}
DRAWN = {
    name: MATRIX.sums(MATRIX.clusters, values[:, None])[:, 0] / 200
    for name, values in VALUES.items()
}


def slowly(values, drawn, higher):
    """Return rank intervals and single-step statistics by the formulas, pair by pair."""
    pairs = list(itertools.combinations(sorted(values), 2))
    differences = {(j, k): values[j] - values[k] for j, k in pairs}
    errors = {(j, k): np.std(drawn[j] - drawn[k], ddof=1) for j, k in pairs}
    largest = np.zeros(4000)
    for j, k in pairs:
        found = abs(drawn[j] - drawn[k] - differences[j, k]) / errors[j, k]
        largest = np.maximum(largest, found)
    c = np.sort(largest)[int(np.ceil(0.95 * 3999))]
    ranks = {}
    for j in values:
        signed = [
            (values[j] - values[k]) / errors[min(j, k), max(j, k)] * (1 if higher else -1)
            for k in values
            if k != j
        ]
        beaten, beats = sum(t < -c for t in signed), sum(t > c for t in signed)
        ranks[j] = (1 + beaten, len(values) - beats)
    return ranks


@pytest.mark.parametrize("higher", [True, False])
def test_ranks_are_those_of_the_formula(higher):
    found = rank_intervals(MEANS, DRAWN, higher)
    assert found == slowly(MEANS, DRAWN, higher)
    assert len(set(found.values())) > 2


def test_a_lower_value_is_better_where_the_metric_says_so():
    high, low = (rank_intervals(MEANS, DRAWN, higher) for higher in (True, False))
    assert {name: (7 - b, 7 - a) for name, (a, b) in high.items()} == low
    assert best_set(high) == {"f"}
    assert best_set(low) <= {"a", "b", "c"}


def test_few_clusters_separate_less():
    names = ["a", "b", "d"]
    values, drawn = ({n: table[n] for n in names} for table in (MEANS, DRAWN))
    many, few = (rank_intervals(values, drawn, True, clusters=count) for count in (200, 3))
    assert all(few[n][0] <= many[n][0] and few[n][1] >= many[n][1] for n in names)
    assert few != many


def test_identical_models_are_never_separated():
    twins = {"a": MEANS["a"], "twin": MEANS["a"], "f": MEANS["f"]}
    drawn = {"a": DRAWN["a"], "twin": DRAWN["a"], "f": DRAWN["f"]}
    assert rank_intervals(twins, drawn, True) == {"a": (2, 3), "twin": (2, 3), "f": (1, 1)}
    assert adjusted_p_values(twins, drawn)["a", "twin"] == 1
    # Nor where all are equal, so that no pair varies.
    same = dict.fromkeys("xyz", 3.0)
    assert rank_intervals(same, dict.fromkeys("xyz", DRAWN["a"]), True) == dict.fromkeys(
        "xyz", (1, 3)
    )


def test_a_difference_that_every_cluster_shows_alike_separates():
    values = {"a": 0.1, "b": 0.3}
    drawn = {name: np.full(4000, value) for name, value in values.items()}
    assert rank_intervals(values, drawn, True) == {"a": (2, 2), "b": (1, 1)}
    # A shift that only rounding made is none.
    values, shifted = {"a": 0.3, "b": 0.1 + 0.2}, DRAWN["a"] + 1e-16
    assert rank_intervals(values, {"a": DRAWN["a"], "b": shifted}, True) == {
        "a": (1, 2),
        "b": (1, 2),
    }


def test_undecided_models_are_separated_from_none_and_change_no_other():
    found = rank_intervals(MEANS, DRAWN, True, undecided={"f"})
    assert found["f"] == (1, 6)
    without = {name: MEANS[name] for name in "abcde"}
    alone = rank_intervals(without, DRAWN, True)
    assert {name: found[name] for name in "abcde"} == {n: (a, b + 1) for n, (a, b) in alone.items()}
    assert adjusted_p_values(MEANS, DRAWN, undecided={"f"})["a", "f"] == 1


def test_one_model_has_rank_one_and_none_has_none():
    assert rank_intervals({"a": 1.0}, {"a": DRAWN["a"]}, True) == {"a": (1, 1)}
    assert rank_intervals({}, {}, True) == {}


def test_replicates_that_lack_a_model_are_left_out():
    holes = {name: drawn.copy() for name, drawn in DRAWN.items()}
    holes["a"][:100] = np.nan
    cut = {name: drawn[100:] for name, drawn in DRAWN.items()}
    assert rank_intervals(MEANS, holes, True) == rank_intervals(MEANS, cut, True)
    holes["a"][:3950] = np.nan
    assert set(rank_intervals(MEANS, holes, True).values()) == {(1, 6)}


def test_adjusted_p_steps_down():
    found = adjusted_p_values(MEANS, DRAWN)
    pairs = sorted(found)
    statistic, null = {}, {}
    for j, k in pairs:
        d, drawn = MEANS[j] - MEANS[k], DRAWN[j] - DRAWN[k]
        statistic[j, k] = abs(d) / np.std(drawn, ddof=1)
        null[j, k] = abs(drawn - d) / np.std(drawn, ddof=1)
    order, largest = sorted(pairs, key=lambda pair: -statistic[pair]), 0.0
    for step, pair in enumerate(order):
        rest = np.max([null[other] for other in order[step:]], axis=0)
        largest = max(largest, (1 + (rest >= statistic[pair]).sum()) / 4001)
        assert found[pair] == pytest.approx(largest)
    assert min(found.values()) == 1 / 4001
    assert max(found.values()) > 0.05


def test_p_below_five_percent_wherever_ranks_are_apart():
    ranks, p = rank_intervals(MEANS, DRAWN, True), adjusted_p_values(MEANS, DRAWN)
    for (j, k), value in p.items():
        if ranks[j][1] < ranks[k][0] or ranks[k][1] < ranks[j][0]:
            assert value <= 0.05


def test_holm_against_a_hand_example():
    # 4 x .005, 3 x .01 and so on, never falling, never above 1.
    assert holm([0.01, 0.005, 0.6, 0.04]) == pytest.approx([0.03, 0.02, 0.6, 0.08])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


NAMES = [f"c{place:03}" for place in range(100)]


def simulated(rng, means):
    """Return a column of models on 100 pictures whose difficulty they share."""
    shared = rng.normal(0, 0.2, 100)
    return {
        f"m{place}": ColumnParts(
            {"iou": np.clip(mean + shared + rng.normal(0, 0.2, 100), 0, 1)}, NAMES, NAMES
        )
        for place, mean in enumerate(means)
    }


def test_equal_models_are_rarely_separated():
    # PROTOCOLS 2.7 b: in a column of nine.
    rng, separated = np.random.default_rng(0), []
    for _ in range(400):
        found = column(GIOU, simulated(rng, [0.5] * 9), "null")
        separated.append(any(result.ranks["column"][:2] != (1, 9) for result in found.values()))
    assert np.mean(separated) <= 0.06


def test_all_true_ranks_lie_in_their_intervals_at_once():
    # PROTOCOLS 2.7 c: three ties, three small steps, three large ones. Clipping keeps the order.
    means = [0.40, 0.40, 0.40, 0.45, 0.47, 0.50, 0.60, 0.70, 0.75]
    low = [1 + sum(other > mean for other in means) for mean in means]
    high = [9 - sum(other < mean for other in means) for mean in means]
    rng, held, widths = np.random.default_rng(0), [], []
    for _ in range(250):
        found = column(GIOU, simulated(rng, means), "ranks")
        ranks = [found[f"m{place}"].ranks["column"] for place in range(9)]
        # A tied model has any of its ranks: the interval must hold them all.
        held.append(
            all(r.low <= a and b <= r.high for r, a, b in zip(ranks, low, high, strict=True))
        )
        widths.append(np.mean([rank.high - rank.low for rank in ranks]))
    assert np.mean(held) >= 0.94
    # The intervals are worth printing: nine ranks shrink to about four.
    assert np.mean(widths) < 4


def test_twins_in_a_real_column_are_not_separated():
    models = simulated(np.random.default_rng(3), [0.3, 0.5, 0.7])
    models["twin"] = models["m1"]
    found = column(GIOU, models, "twins")
    assert found["twin"].ranks == found["m1"].ranks
    assert found["twin"].ranks["column"].high - found["twin"].ranks["column"].low >= 1
    assert separations(GIOU, models, "twins")["m1", "twin"] == 1
    assert separations(GIOU, models, "twins")["m0", "m2"] < 0.01
