"""Two models on the same samples: the difference, its interval, its tests and their size."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gensight import metrics
from gensight.statistics import ColumnParts, compare, minimum_detectable_effect
from gensight.statistics.cells import HEAVY_TAIL
from gensight.statistics.paired import mcnemar, sign_flip

RNG = np.random.default_rng(0)
NAMES = [f"c{place:03}" for place in range(60)]
PAIRED = [f"c{place // 2:03}" for place in range(60)]
IOU = RNG.uniform(0, 1, 60)


def model(parts, clusters=NAMES, samples=NAMES):
    return ColumnParts(parts, samples, clusters)


def ious(values, clusters=NAMES):
    return model({"iou": values}, clusters)


def test_the_interval_is_the_paired_t_interval():
    other = np.clip(IOU + RNG.normal(0.1, 0.1, 60), 0, 1)
    found = compare(metrics.load("giou"), ious(other), ious(IOU), "toy")
    reference = stats.ttest_rel(100 * other, 100 * IOU).confidence_interval()
    assert found.difference == pytest.approx(100 * (other - IOU).mean())
    assert found.interval[:2] == pytest.approx((reference.low, reference.high))
    assert found.interval.method == "paired cluster-t"
    assert found.clusters == 60
    error = 100 * stats.sem(other - IOU)
    assert found.minimum_detectable_effect == pytest.approx(2.8 * error)


def test_clusters_are_the_units():
    other = np.clip(IOU + RNG.normal(0.05, 0.1, 60), 0, 1)
    found = compare(metrics.load("giou"), ious(other, PAIRED), ious(IOU, PAIRED), "toy")
    sums = (100 * (other - IOU)).reshape(30, 2).sum(axis=1)
    reference = stats.ttest_1samp(sums / 2, 0).confidence_interval()
    assert found.interval[:2] == pytest.approx((reference.low, reference.high))
    assert found.clusters == 30


def test_the_second_model_is_subtracted():
    giou = metrics.load("giou")
    better, worse = ious(np.full(60, 0.9)), ious(IOU)
    there, back = compare(giou, better, worse, "toy"), compare(giou, worse, better, "toy")
    assert there.difference == -back.difference > 0
    assert there.p == back.p == 1 / 10_000


def test_equal_models_have_p_one():
    found = compare(metrics.load("giou"), ious(IOU), ious(IOU), "toy")
    assert (found.difference, found.p) == (0, 1)
    assert found.interval[:2] == (0, 0)


def exact_p(differences):
    """Return the sign-flip p over all signs."""
    sums = [
        abs(math.fsum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    return np.mean([found >= abs(math.fsum(differences)) - 1e-9 for found in sums])


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0])
def test_random_flips_approach_all_flips(shift):
    differences = np.random.default_rng(1).normal(shift, 1, 12)
    # The standard error of 9,999 flips is at most half a point.
    assert sign_flip(differences, "toy") == pytest.approx(exact_p(differences), abs=0.02)


def test_flips_belong_to_the_benchmark():
    differences = np.random.default_rng(1).normal(0.3, 1, 40)
    assert sign_flip(differences, "toy") == sign_flip(differences, "toy")
    found = {sign_flip(differences, f"toy{place}") for place in range(5)}
    assert len(found) > 1
    assert max(found) - min(found) < 0.03


@given(st.permutations(range(60)))
@settings(max_examples=8, deadline=None)
def test_shuffled_rows_give_the_same_bits(order):
    giou = metrics.load("giou")
    other = np.clip(IOU + 0.05 * np.sin(np.arange(60)), 0, 1)
    shuffled = [PAIRED[place] for place in order]
    again = compare(
        giou, ious(other[list(order)], shuffled), ious(IOU[list(order)], shuffled), "toy"
    )
    assert again == compare(giou, ious(other, PAIRED), ious(IOU, PAIRED), "toy")


def overlap(rng, quality):
    union = np.exp(rng.normal(8, 0.8, 60))
    return {"intersection": union * rng.beta(4 * quality, 2, 60), "union": union}


def test_a_pooled_ratio_is_compared_by_its_linearised_values():
    rng = np.random.default_rng(4)
    one, two = overlap(rng, 1.0), overlap(rng, 0.5)
    found = compare(metrics.load("ciou"), model(one), model(two), "toy")
    linear, ratios = [], []
    for parts in (one, two):
        ratio = parts["intersection"].sum() / parts["union"].sum()
        ratios.append(ratio)
        linear.append(
            ratio + (parts["intersection"] - ratio * parts["union"]) / parts["union"].mean()
        )
    differences = 100 * (linear[0] - linear[1])
    reference = stats.ttest_1samp(differences, 0).confidence_interval()
    assert found.difference == pytest.approx(100 * (ratios[0] - ratios[1]))
    assert found.interval[:2] == pytest.approx((reference.low, reference.high))
    assert found.p == pytest.approx(sign_flip(differences, "toy"))
    assert found.test == "sign flips by cluster"


def test_samples_that_one_model_lacks_stay_in():
    holes = np.where(np.arange(60) % 6 == 0, np.nan, IOU + 0.2)
    found = compare(metrics.load("giou"), ious(holes), ious(IOU), "toy")
    assert found.clusters == 60
    assert found.difference == pytest.approx(100 * (np.nanmean(holes) - IOU.mean()))
    assert found.interval.low < found.difference < found.interval.high


OVERALL = type(
    "overall",
    (),
    {
        "INTERVAL": "pooled",
        "POOLS": ((0.6, ("rc",), ("rc_most",)), (0.4, ("vc",), ("vc_most",))),
    },
)


def judged(rng):
    # Every third sample has no visual unit, as in a task without references.
    visual = np.arange(60) % 3 > 0
    rc, vc = rng.integers(0, 3, 60).astype(float), rng.integers(0, 3, 60).astype(float)
    return {
        "rc": rc,
        "rc_most": np.full(60, 2.0),
        "vc": np.where(visual, vc, np.nan),
        "vc_most": np.where(visual, 2.0, np.nan),
    }


def test_pooled_scores_are_tested_through_their_contributions():
    rng = np.random.default_rng(5)
    one, two = judged(rng), judged(rng)
    found = compare(OVERALL, model(one), model(two), "toy")
    values, sums = [], []
    for parts in (one, two):
        rc = parts["rc"].sum() / 120
        vc = np.nansum(parts["vc"]) / np.nansum(parts["vc_most"])
        values.append(100 * (0.6 * rc + 0.4 * vc))
        sums.append(60 * parts["rc"] / 120 + 40 * np.nan_to_num(parts["vc"]) / 80)
    assert found.difference == pytest.approx(values[0] - values[1])
    assert found.p == pytest.approx(sign_flip(sums[0] - sums[1], "toy"))


def answers(right, clusters=NAMES):
    return model({"absolute_error": 1.0 - np.asarray(right, float)}, clusters)


def test_single_right_or_wrong_answers_are_tested_by_mcnemar():
    first, second = np.arange(60) < 40, (np.arange(60) >= 5) & (np.arange(60) < 30)
    found = compare(metrics.load("miscounted"), answers(first), answers(second), "toy")
    assert found.test == "McNemar, exact mid-p"
    # 15 only the first has right, none only the second.
    assert found.p == pytest.approx(0.5**15)
    grouped = compare(
        metrics.load("miscounted"), answers(first, PAIRED), answers(second, PAIRED), "toy"
    )
    assert grouped.test == "sign flips by cluster"


@pytest.mark.parametrize(("b", "c"), [(0, 1), (3, 8), (8, 3), (10, 11)])
def test_mcnemar_mid_p_is_the_exact_test_less_half_of_the_observed(b, c):
    exact = stats.binomtest(min(b, c), b + c, 0.5).pvalue
    assert mcnemar(b, c) == pytest.approx(exact - stats.binom.pmf(min(b, c), b + c, 0.5))


def test_no_discordant_pair_is_no_evidence():
    assert mcnemar(0, 0) == mcnemar(5, 5) == 1


def test_few_clusters_compare_samples_of_the_same_scenes():
    scenes = [f"scene{place % 6}" for place in range(60)]
    found = compare(metrics.load("giou"), ious(IOU / 2, scenes), ious(IOU, scenes), "toy")
    assert found.interval.method == "paired cluster-t, fixed scenes"
    reference = compare(metrics.load("giou"), ious(IOU / 2), ious(IOU), "toy")
    assert found.interval[:2] == reference.interval[:2]


def test_errors_that_hang_on_few_samples_are_not_tested():
    errors = np.ones(60)
    errors[7] = 400.0
    one, two = (model({"squared_error": part**2}) for part in (errors, np.ones(60)))
    found = compare(metrics.load("rmse"), one, two, "toy")
    assert found.difference == pytest.approx(math.sqrt((59 + 160_000) / 60) - 1)
    assert (found.interval.low, found.p, found.test) == (None, None, HEAVY_TAIL)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("half_error_items", {"squared_error": IOU}),
        ("giou", {"iou": np.full(60, np.nan)}),
        ("ciou", {"intersection": np.zeros(60), "union": np.zeros(60)}),
    ],
)
def test_what_is_not_defined_is_not_compared(name, parts):
    found = compare(metrics.load(name), model(parts), model(parts), "toy")
    assert (found.difference, found.p, found.test) == (None, None, "none")


def test_one_sample_has_a_difference_and_no_p():
    one, two = (ColumnParts({"iou": [value]}, ["s"], ["c"]) for value in (0.5, 0.25))
    found = compare(metrics.load("giou"), one, two, "toy")
    assert (found.difference, found.p, found.interval.low) == (25, None, None)
    assert found.minimum_detectable_effect is None


@pytest.mark.parametrize(
    ("sd", "correlation", "n", "expected"),
    [(38, 0.5, 500, 4.8), (38, 0.5, 100, 10.6), (38, 0.7, 500, 3.7)],
)
def test_detectable_effects_of_the_protocol(sd, correlation, n, expected):
    of_differences = sd * math.sqrt(2 * (1 - correlation))
    assert round(minimum_detectable_effect(of_differences, n), 1) == expected


def test_such_an_effect_is_found_four_times_in_five():
    rng, found = np.random.default_rng(0), []
    effect = minimum_detectable_effect(1.0, 100)
    for _ in range(400):
        found.append(sign_flip(rng.normal(effect, 1, 100), "power", flips=999) <= 0.05)
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(("n", "repeats"), [(100, 500), (500, 250)])
def test_size_on_heavy_tailed_counts(n, repeats):
    # 4.2 and 6.6 % in the protocol, each known to about a point.
    rng, names, wrong = np.random.default_rng(0), [f"c{place:03}" for place in range(n)], 0
    mae = metrics.load("mae")
    for _ in range(repeats):
        one, two = (
            ColumnParts({"absolute_error": np.rint(np.exp(1.7 * rng.normal(size=n)))}, names, names)
            for _ in range(2)
        )
        wrong += compare(mae, one, two, "size").p <= 0.05
    assert 0.02 <= wrong / repeats <= 0.075
