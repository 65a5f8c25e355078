"""Agreement of judges: published examples and independent formulas; bias removed by truths."""

from __future__ import annotations

import numpy as np
import pytest

from gensight.errors import GensightError
from gensight.statistics.agreement import (
    icc_average,
    icc_single,
    more_runs_pay,
    ordinal_alpha,
    quadratic_kappa,
)
from gensight.statistics.judgements import confusion, corrected_mean

NAN = np.nan
#: Shrout and Fleiss 1979, table 2: six targets, four judges; ICC(1,1) = .17, ICC(1,4) = .44.
SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
#: Krippendorff 2011, "Computing Krippendorff's alpha-reliability": ordinal alpha = .815.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def names(n, size=1):
    return [f"c{place // size:04}" for place in range(n)]


def test_icc_of_the_textbook():
    assert icc_single(SHROUT, names(6)).value == pytest.approx(0.1657, abs=5e-5)
    assert icc_average(SHROUT, names(6)).value == pytest.approx(0.4428, abs=5e-5)


def test_alpha_of_the_textbook():
    assert ordinal_alpha(KRIPPENDORFF, names(12)).value == pytest.approx(0.815, abs=5e-4)


def simulated(rng, n, runs=3, noise=0.5):
    """Return scores 0, 1, 2 of several runs of a judge on samples that differ."""
    quality = rng.normal(1, 0.7, (n, 1))
    return np.clip(np.rint(quality + noise * rng.normal(size=(n, runs))), 0, 2)


def weighted_kappa(first, second):
    table = np.zeros((3, 3))
    for a, b in zip(first.astype(int), second.astype(int), strict=True):
        table[a, b] += 1
    table /= table.sum()
    weights = (np.arange(3)[:, None] - np.arange(3)) ** 2
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return 1 - (weights * table).sum() / (weights * expected).sum()


def test_kappa_is_that_of_the_confusion_table():
    first, second = simulated(np.random.default_rng(0), 200, 2).T
    found = quadratic_kappa(first, second, names(200))
    assert found.value == pytest.approx(weighted_kappa(first, second))
    assert found.interval.low < found.value < found.interval.high


def test_shifted_scores_agree_less_in_kappa_and_not_at_all_less_in_units():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 50).astype(float)
    assert quadratic_kappa(first, first + 1, names(50)).value < 0.5
    # A coefficient does not change when all scores move together.
    second = np.where(rng.random(50) < 0.8, first, 1 - first)
    moved = quadratic_kappa(first + 7, second + 7, names(50)).value
    assert moved == pytest.approx(quadratic_kappa(first, second, names(50)).value)


COEFFICIENTS = [
    icc_single,
    icc_average,
    ordinal_alpha,
    lambda ratings, clusters: quadratic_kappa(*np.transpose(ratings)[:2], clusters),
]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_perfect_agreement_is_one_and_has_no_width(coefficient):
    scores = np.repeat(np.random.default_rng(1).integers(0, 3, (60, 1)), 3, axis=1)
    found = coefficient(scores, names(60))
    assert found.value == pytest.approx(1)
    assert found.interval[:2] == (pytest.approx(1), pytest.approx(1))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_unrelated_judges_agree_by_chance_alone(coefficient):
    scores = np.random.default_rng(2).integers(0, 3, (400, 3)).astype(float)
    found = coefficient(scores, names(400))
    assert abs(found.value) < 0.15
    assert found.interval.low < 0 < found.interval.high


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("score", [0.1, 2.0])
def test_equal_scores_say_nothing(coefficient, score):
    assert coefficient(np.full((30, 3), score), names(30)) == (None, (None, None, "none"))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_few_clusters_have_a_value_and_no_interval(coefficient):
    scores = simulated(np.random.default_rng(3), 90)
    few = coefficient(scores, names(90, 10))
    assert few.value == pytest.approx(coefficient(scores, names(90)).value)
    assert few.interval == (None, None, "none")


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_copies_of_a_picture_do_not_narrow_the_interval(coefficient):
    scores = simulated(np.random.default_rng(4), 60)
    once = coefficient(scores, names(60)).interval
    thrice = coefficient(np.repeat(scores, 3, axis=0), names(180, 3)).interval
    assert thrice.high - thrice.low == pytest.approx(once.high - once.low, rel=0.05)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_order_changes_no_bit(coefficient):
    scores, clusters = simulated(np.random.default_rng(5), 80), names(80, 2)
    order = np.random.default_rng(6).permutation(80)
    assert coefficient(scores[order], [clusters[p] for p in order]) == coefficient(scores, clusters)


def test_samples_without_all_runs_are_left_out_of_icc():
    scores = simulated(np.random.default_rng(7), 60)
    holes = scores.copy()
    holes[::4, 1] = NAN
    kept = ~np.isnan(holes).any(axis=1)
    assert icc_single(holes, names(60)).value == icc_single(scores[kept], names(45)).value
    # Alpha uses what pairs there are.
    assert ordinal_alpha(holes, names(60)).value != ordinal_alpha(scores[kept], names(45)).value


def test_one_run_cannot_agree_with_itself():
    scores = simulated(np.random.default_rng(8), 60, runs=1)
    assert icc_single(scores, names(60)).value is None
    assert ordinal_alpha(scores, names(60)).value is None
    assert not more_runs_pay(scores)


def test_intervals_of_icc_hold_the_truth():
    # Variances 1 between and 1 within: ICC(1,1) = 1/2, ICC(1,3) = 3/4.
    rng, held = np.random.default_rng(0), []
    for _ in range(300):
        scores = rng.normal(size=(80, 1)) + rng.normal(size=(80, 3))
        for found, truth in (
            (icc_single(scores, names(80)), 1 / 2),
            (icc_average(scores, names(80)), 3 / 4),
        ):
            held.append(found.interval.low <= truth <= found.interval.high)
    assert 100 * np.mean(held) == pytest.approx(94, abs=3)


def test_more_runs_pay_only_where_runs_vary_much():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(500, 1))
    assert more_runs_pay(items + 0.8 * rng.normal(size=(500, 3)))
    assert not more_runs_pay(items + 0.3 * rng.normal(size=(500, 3)))
    # .64 / 8 is less than a tenth of 1.
    assert not more_runs_pay(items + 0.8 * rng.normal(size=(500, 9)))


JUDGED = np.random.default_rng(1).integers(0, 3, 317).astype(float)


def test_a_judge_that_is_right_leaves_the_plain_mean():
    # PROTOCOLS 2.7 g: not one bit may change.
    known = JUDGED[:40]
    found = corrected_mean(JUDGED, known, known)
    assert found.value == sum(JUDGED) / len(JUDGED)
    assert found.bias == 0
    assert found.variance == pytest.approx(JUDGED.var(ddof=1) / 317)


def test_a_biased_judge_is_corrected():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 60).astype(float)
    judge = truth + 0.4 + rng.normal(0, 0.1, 60)
    found = corrected_mean(JUDGED + 0.4, judge, truth)
    rectifier = truth - judge
    assert found.bias == pytest.approx(-rectifier.mean())
    assert found.value == pytest.approx((JUDGED + 0.4).mean() + rectifier.mean())
    assert found.variance == pytest.approx((JUDGED.var(ddof=1) / 317) + rectifier.var(ddof=1) / 60)
    assert found.interval.method == "prediction-powered t"


def test_corrected_intervals_hold_the_truth_where_the_judges_do_not():
    rng, corrected, plain = np.random.default_rng(3), [], []
    for _ in range(600):
        truth = rng.integers(0, 3, 340).astype(float)
        judge = np.clip(truth + (rng.random(340) < 0.3), 0, 2)
        found = corrected_mean(judge[40:], judge[:40], truth[:40])
        corrected.append(found.interval.low <= 1 <= found.interval.high)
        plain.append(abs(judge.mean() - 1) <= 1.96 * judge.std() / np.sqrt(340))
    assert 100 * np.mean(corrected) == pytest.approx(95, abs=2.5)
    assert np.mean(plain) < 0.1


def test_clusters_of_judgements_are_units():
    values = np.random.default_rng(4).normal(1, 0.5, 30)
    once = corrected_mean(values, values[:12], values[:12] + 0.1 * np.arange(12))
    clusters, known = names(90, 3), names(36, 3)
    thrice = corrected_mean(
        np.repeat(values, 3),
        np.repeat(values[:12], 3),
        np.repeat(values[:12] + 0.1 * np.arange(12), 3),
        clusters,
        known,
    )
    assert thrice.variance == pytest.approx(once.variance)


def test_one_known_truth_corrects_without_an_interval():
    found = corrected_mean(JUDGED, [1.0], [2.0])
    assert found.value == pytest.approx(JUDGED.mean() + 1)
    assert (found.variance, found.interval.low) == (None, None)
    with pytest.raises(GensightError, match="at least one of each"):
        corrected_mean(JUDGED, [], [])


def test_confusion_counts_truth_by_row():
    assert confusion([0, 0, 1, 2], [0, 1, 1, 0]).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    with pytest.raises(GensightError, match=r"\(3, 0\) are not among the levels \(0, 1, 2\)"):
        confusion([3], [0])
