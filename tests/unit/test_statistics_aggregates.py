"""Aggregates by anchors, and correlations over a handful of models."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from gensight.errors import GensightError
from gensight.statistics.aggregates import aggregate, anchors_of
from gensight.statistics.correlations import fisher_interval, models_needed, spearman_exact
from gensight.statistics.ranks import rank_intervals

#: PixelBench, table 2: averages over three sizes of Top-1 in percent, SigLIP and DINO cosines, Agg.
TABLE = {
    "GPT-6 Astra": (48.0, 0.654, 0.175, 80.45),
    "GPT-5.6 Sol": (56.0, 0.588, 0.094, 57.27),
    "Claude Opus 5": (40.7, 0.561, 0.060, 23.16),
    "Kimi K3": (36.7, 0.541, 0.040, 8.48),
    "Seed-2.1 Pro": (35.0, 0.547, 0.043, 8.52),
    "Gemini 3.6 Flash": (30.7, 0.539, 0.051, 1.98),
    "Nearest + median cut": (33.0, 0.585, 0.194, 44.11),
    "SSIM-optimal + median cut": (39.3, 0.596, 0.225, 61.19),
    "PIA (reduced)": (48.7, 0.617, 0.213, 77.50),
}
COMPONENTS = ("top1", "siglip", "dino")
PRINTED = {name: dict(zip(COMPONENTS, row, strict=False)) for name, row in TABLE.items()}
NAMES = [f"i{place:03}" for place in range(100)]


def drawn(means, seed, spread=0.1):
    rng = np.random.default_rng(seed)
    return {name: mean + spread * rng.normal(size=100) for name, mean in means.items()}


@pytest.mark.parametrize("name", TABLE)
def test_the_printed_aggregates_come_out(name):
    components = {component: [value] for component, value in PRINTED[name].items()}
    found = aggregate(components, ["image"], anchors_of(PRINTED))
    assert found.value == pytest.approx(TABLE[name][3], abs=0.005)


def test_frozen_anchors_give_the_best_row_an_interval():
    components = drawn({"top1": 1.0, "dino": 0.5}, 0)
    means = {name: float(values.mean()) for name, values in components.items()}
    anchors = {name: (0.0, mean) for name, mean in means.items()}
    found = aggregate(components, NAMES, anchors, "i2p")
    assert found.value == pytest.approx(100)
    assert found.interval.low < 100 < found.interval.high
    assert found.interval.method == "joint percentile, anchors frozen"
    # The same as the t interval of each image's own aggregate.
    own = 50 * sum(components[name] / means[name] for name in components)
    reference = stats.t.interval(0.95, 99, own.mean(), stats.sem(own))
    assert found.interval[:2] == pytest.approx(reference, abs=0.05 * own.std())


def test_fixed_anchors_let_models_be_ranked():
    anchors = {"top1": (0.0, 1.0), "dino": (0.0, 0.5)}
    found = {
        name: aggregate(drawn({"top1": top1, "dino": dino}, seed), NAMES, anchors, "i2p")
        for seed, (name, top1, dino) in enumerate(
            [("a", 0.5, 0.2), ("b", 0.51, 0.2), ("c", 0.9, 0.4)]
        )
    }
    ranks = rank_intervals(
        {name: part.value for name, part in found.items()},
        {name: part.replicates for name, part in found.items()},
        True,
        clusters=100,
    )
    assert ranks["c"] == (1, 1)
    assert ranks["a"] == (2, 3)


def test_a_missing_component_of_a_sample_is_left_out_of_it_alone():
    components = drawn({"top1": 1.0, "dino": 0.5}, 0)
    components["dino"][:50] = np.nan
    found = aggregate(components, NAMES, {"top1": (0, 1), "dino": (0, 1)}, "i2p")
    expected = 50 * (components["top1"].mean() + np.nanmean(components["dino"]))
    assert found.value == pytest.approx(expected)
    components["dino"][:] = np.nan
    assert aggregate(components, NAMES, {"top1": (0, 1), "dino": (0, 1)}).value is None


def test_aggregates_without_anchors_or_clusters():
    components = drawn({"top1": 1.0}, 0)
    for anchors in ({}, {"top1": (1.0, 1.0)}):
        with pytest.raises(GensightError, match="component 'top1': its anchors"):
            aggregate(components, NAMES, anchors)
    few = aggregate(components, [name[:2] for name in NAMES], {"top1": (0.0, 1.0)})
    assert (few.clusters, few.interval) == (1, (None, None, "none"))
    assert few.value == pytest.approx(100 * components["top1"].mean())


@pytest.mark.parametrize(("r", "n", "bounds"), [(0.871, 7, (0.34, 0.98)), (0.930, 6, (0.48, 0.99))])
def test_fisher_intervals_of_the_protocol(r, n, bounds):
    low, high, _ = fisher_interval(r, n)
    assert (round(low, 2), round(high, 2)) == bounds
    x = np.arange(n)
    reference = stats.pearsonr(x, x**2).confidence_interval()
    found = fisher_interval(stats.pearsonr(x, x**2)[0], n)
    assert found[:2] == pytest.approx((reference.low, reference.high))


@pytest.mark.parametrize(("r", "n"), [(0.9, 3), (1.0, 7), (-1.0, 7)])
def test_no_fisher_interval_where_there_is_none(r, n):
    assert fisher_interval(r, n) == (None, None, "none")


def test_models_needed_for_power():
    assert models_needed(0.8) == models_needed(-0.8) == 10
    assert models_needed(0.3) == 85
    with pytest.raises(GensightError, match="correlation 0"):
        models_needed(0)


def test_spearman_of_the_protocol():
    # .8286 over six models, as in the paper's table 4.
    rho, p = spearman_exact([1, 2, 3, 4, 5, 6], [10, 20, 30, 50, 60, 40])
    assert rho == pytest.approx(0.8286, abs=5e-5)
    assert round(p, 3) == 0.058


def test_spearman_over_all_orders():
    first, second = [3.0, 1.0, 1.0, 7.0, 5.0], [2.0, 1.0, 4.0, 4.0, 9.0]
    rho, p = spearman_exact(first, second)
    assert rho == pytest.approx(stats.spearmanr(first, second).statistic)
    found = [
        abs(stats.spearmanr(first, order).statistic) for order in itertools.permutations(second)
    ]
    assert p == pytest.approx(np.mean(np.array(found) >= abs(rho) - 1e-9))
    assert spearman_exact([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]) == (1, 2 / 5040)


@pytest.mark.parametrize(
    ("first", "second"),
    [(range(9), range(9)), ([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 1, 1], [1, 2, 3])],
)
def test_spearman_refuses_what_it_cannot_enumerate(first, second):
    with pytest.raises(GensightError, match=r"enumerated|no value"):
        spearman_exact(list(first), list(second))
