"""One column of a table: what changes no bit, families, finite populations, flags."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight import metrics
from gensight.errors import GensightError
from gensight.statistics import (
    FLAGS,
    ColumnParts,
    Design,
    Interval,
    column,
    finite,
    interval,
)
from gensight.statistics.ranks import rank_intervals

KINDS = ("giou", "ciou", "mae", "rmse", "log_count_error", "miscounted")
N = 120
SAMPLES = [f"s{place:03}" for place in range(N)]
#: Two samples of each of 60 pictures.
PICTURES = [f"p{place // 2:03}" for place in range(N)]
HALVES = ["left" if place < N // 2 else "right" for place in range(N)]
DESIGN = Design.of("toy", PICTURES)


def parts(seed, better=0.0):
    rng = np.random.default_rng(seed)
    iou = np.clip(rng.beta(2, 1, N) + better, 0, 1)
    union = np.exp(rng.normal(8, 1, N))
    error = np.rint(np.exp(rng.normal(0.5 - better, 1, N)))
    return {
        "iou": iou,
        "intersection": iou * union,
        "union": union,
        "absolute_error": error,
        "squared_error": error**2,
        "log_error": np.log1p(error),
    }


def rows(found, order, clusters=PICTURES, strata=None, population_n=None):
    pick = list(order)
    return ColumnParts(
        {name: column[pick] for name, column in found.items()},
        [SAMPLES[place] for place in pick],
        [clusters[place] for place in pick],
        None if strata is None else [strata[place] for place in pick],
        population_n,
    )


MODELS = {f"m{seed}": rows(parts(seed, 0.05 * seed), range(N)) for seed in range(4)}


@pytest.mark.parametrize("name", KINDS)
def test_a_model_has_the_interval_that_it_has_alone(name):
    metric = metrics.load(name)
    found = column(metric, MODELS, DESIGN)
    for model, given_parts in MODELS.items():
        alone = column(metric, {model: given_parts}, DESIGN)[model]
        assert (alone.interval, alone.n_eff, alone.flags) == (
            found[model].interval,
            found[model].n_eff,
            found[model].flags,
        )
        assert found[model].interval == interval(
            metric, given_parts.parts, PICTURES, benchmark="toy"
        )


@pytest.mark.parametrize("name", KINDS)
@given(st.permutations(range(N)), st.integers(1, N - 1))
@settings(max_examples=4, deadline=None)
def test_shuffled_rows_and_shards_change_no_bit(name, order, cut):
    metric = metrics.load(name)
    # Shards come in any order, and each in its own.
    shuffled = {
        model: rows(parts(seed, 0.05 * seed), [*order[cut:], *order[:cut]])
        for seed, model in enumerate(MODELS)
    }
    assert column(metric, shuffled, DESIGN) == column(metric, MODELS, DESIGN)


@pytest.mark.parametrize("name", KINDS)
def test_what_another_model_lacks_changes_no_bit(name):
    metric = metrics.load(name)
    # A model without the samples of a third of the pictures.
    lacking = rows(parts(9), [place for place in range(N) if place // 2 % 3])
    more = column(metric, {"first": lacking, **MODELS}, DESIGN)
    fewer = column(metric, MODELS, DESIGN)
    assert [more[model].interval for model in MODELS] == [fewer[m].interval for m in MODELS]


@pytest.mark.parametrize("name", KINDS)
def test_sentences_of_one_picture_are_no_new_evidence(name):
    # PROTOCOLS 2.7 d: every sentence three times, once as more rows of its picture.
    metric = metrics.load(name)
    once = rows(parts(1), range(N))
    thrice = rows(parts(1), np.repeat(np.arange(N), 3))
    thrice = thrice._replace(sample_ids=[f"{s}_{i}" for i, s in enumerate(thrice.sample_ids)])
    one, three = (column(metric, {"m": m}, DESIGN)["m"] for m in (once, thrice))
    width = one.interval.high - one.interval.low
    assert three.interval.high - three.interval.low >= width * (1 - 1e-9)
    # Pictures may be worth a little more than their samples, never three times as much.
    assert three.n_eff < 1.2 * N or name == "ciou"


def test_intervals_by_sentence_would_shrink():
    metric, order = metrics.load("giou"), np.repeat(np.arange(N), 3)
    thrice = {name: values[order] for name, values in parts(1).items()}
    by_sentence = interval(metric, thrice, [f"s{place}" for place in range(3 * N)])
    by_picture = interval(metric, parts(1), SAMPLES)
    assert by_sentence.high - by_sentence.low < 0.6 * (by_picture.high - by_picture.low)


@pytest.mark.parametrize("name", KINDS)
def test_the_whole_benchmark_has_no_uncertainty(name):
    # PROTOCOLS 2.7 f.
    metric = metrics.load(name)
    whole = rows(parts(1), range(N), population_n=N)
    low, high, method = column(metric, {"m": whole}, DESIGN)["m"].finite_interval
    value = metric.aggregate(whole.parts)
    assert (low, high) == (pytest.approx(value), pytest.approx(value))
    assert high == low
    assert method.endswith("finite population")


@pytest.mark.parametrize(
    ("n", "population", "factor"), [(500, 652, 0.48), (500, 654, 0.49), (500, 771, 0.59)]
)
def test_half_widths_shrink_as_the_protocol_says(n, population, factor):
    low, high, _ = finite(Interval(8.0, 14.0, "t"), 10.0, n, population)
    assert 10 - low == pytest.approx(2 * factor, abs=0.01)
    assert high - 10 == pytest.approx(4 * factor, abs=0.02)


def test_an_unknown_population_has_no_such_interval():
    assert finite(Interval(8.0, 14.0, "t"), 10.0, 5, None) is None
    assert finite(Interval(None, None, "none"), 10.0, 5, 10) == (None, None, "none")
    assert column(metrics.load("giou"), MODELS, DESIGN)["m1"].finite_interval is None


def test_more_samples_than_there_are_is_an_error():
    many = rows(parts(1), range(N), population_n=N - 1)
    with pytest.raises(GensightError, match="population_n is 119, but 120 samples"):
        column(metrics.load("giou"), {"m": many}, DESIGN)


def test_repeats_of_a_sample_are_not_more_of_the_population():
    twice = rows(parts(1), [*range(N), *range(N)], population_n=N)
    assert column(metrics.load("giou"), {"m": twice}, DESIGN)["m"].finite_interval is not None


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_ranked_in_its_own_direction(name):
    found = column(metrics.load(name), {"worse": MODELS["m0"], "better": MODELS["m3"]}, DESIGN)
    better, worse = found["better"].ranks["column"], found["worse"].ranks["column"]
    assert better.low == 1
    assert worse.high == 2
    assert better.family_size == 2
    assert better.minimum_detectable_effect == worse.minimum_detectable_effect > 0


def test_ranks_are_those_of_the_shared_resampling():
    metric = metrics.load("giou")
    matrix, values, drawn = DESIGN.matrix(), {}, {}
    for name, model in MODELS.items():
        sums = 100 * model.parts["iou"].reshape(60, 2).sum(axis=1)
        values[name] = sums.sum() / N
        drawn[name] = matrix.counts @ sums / N
    expected = rank_intervals(values, drawn, True, clusters=60)
    found = column(metric, MODELS, DESIGN)
    assert {name: result.ranks["column"][:2] for name, result in found.items()} == expected


def test_families_are_ranked_apart_and_others_left_out():
    families = {"pair": ["m0", "m3", "not here"], "all": list(MODELS), "nobody": []}
    found = column(metrics.load("giou"), MODELS, DESIGN, families)
    assert set(found["m0"].ranks) == {"pair", "all"}
    assert set(found["m1"].ranks) == {"all"}
    assert found["m0"].ranks["pair"].family_size == 2
    assert found["m0"].ranks["all"].family_size == 4
    assert column(metrics.load("giou"), MODELS, DESIGN, {})["m0"].ranks == {}


def test_a_lone_model_has_rank_one():
    (rank,) = column(metrics.load("giou"), {"m": MODELS["m0"]}, DESIGN)["m"].ranks.values()
    assert rank == (1, 1, 1, None)


def test_a_model_without_a_value_is_in_no_family():
    lost = MODELS["m0"]._replace(parts={"iou": np.full(N, np.nan)})
    found = column(metrics.load("giou"), {"lost": lost, **MODELS}, DESIGN)
    assert found["lost"].interval == (None, None, "none")
    assert (found["lost"].n_eff, found["lost"].ranks, found["lost"].flags) == (None, {}, ())
    assert found["m0"].ranks["column"].family_size == 4
    assert column(metrics.load("giou"), {"lost": lost}, DESIGN)["lost"].ranks == {}


def test_a_metric_without_an_interval_has_nothing_to_rank():
    found = column(metrics.load("half_error_items"), MODELS, DESIGN)
    assert found["m1"] == ((None, None, "none"), None, None, {}, ())
    assert column(metrics.load("giou"), {}, DESIGN) == {}


def test_a_cluster_outside_the_design_is_refused():
    with pytest.raises(GensightError, match="not among the 10 clusters"):
        column(metrics.load("giou"), MODELS, Design.of("toy", PICTURES[:20]))


def test_strata_take_their_variance_out():
    rng = np.random.default_rng(0)
    values = np.where(np.arange(N) < N // 2, 0.2, 0.8) + rng.normal(0, 0.05, N)
    shapes = {"iou": values, "absolute_error": 10 * values, "log_error": values}
    for name in ("giou", "mae", "log_count_error"):
        plain, apart = (
            column(metrics.load(name), {"m": rows(shapes, range(N), SAMPLES, strata)}, "toy")["m"]
            for strata in (None, HALVES)
        )
        width = plain.interval.high - plain.interval.low
        assert apart.interval.high - apart.interval.low < 0.3 * width
    low, high, _ = column(
        metrics.load("giou"), {"m": rows(shapes, range(N), SAMPLES, HALVES)}, "toy"
    )["m"].interval
    halves = 100 * values.reshape(2, 60)
    error = np.sqrt((halves.var(axis=1, ddof=1) / 60).sum() / 4)
    assert high - low == pytest.approx(2 * 1.980272 * error, rel=1e-5)


def test_few_scenes_take_samples_as_units_and_say_so():
    scenes = [f"scene{place % 6}" for place in range(N)]
    models = {name: m._replace(cluster_ids=scenes) for name, m in MODELS.items()}
    for name in KINDS:
        found = column(metrics.load(name), models, Design.of("toy", scenes))
        alone = column(
            metrics.load(name),
            {n: m._replace(cluster_ids=SAMPLES) for n, m in MODELS.items()},
            "toy",
        )
        for model in models:
            assert found[model].interval[:2] == alone[model].interval[:2]
            assert found[model].interval.method == f"{alone[model].interval.method}, fixed scenes"
            assert found[model].ranks == alone[model].ranks
            assert "fixed_scenes" in found[model].flags


def test_a_ratio_of_few_large_samples_is_flagged():
    few = dict(parts(1))
    few["union"] = np.where(np.arange(N) < 20, 1e6, 1.0)
    found = column(metrics.load("ciou"), {"m": rows(few, range(N))}, DESIGN)["m"]
    assert found.flags == ("few_effective_samples",)
    assert found.n_eff == pytest.approx(20, rel=0.01)
    assert set(found.flags) <= set(FLAGS)
