"""Aggregates from score files: values, joint intervals, ranks, and what a missing answer does."""

from __future__ import annotations

import numpy as np
import pytest
from aggregate_files import EXACT, IOU, Cells, made, number
from scipy import stats

from gensight.errors import GensightError, RecordError
from gensight.records import RowFile, Summary
from gensight.statistics import Design

N = 60
SIZES = (16, 32, 64)
PLACES = [f"toy/grid_{size}" for size in SIZES]
NUMBERS = {
    **{f"top1_{size}": number(f"toy/grid_{size}", "exact_match") for size in SIZES},
    **{f"iou_{size}": number(f"toy/grid_{size}", "giou") for size in SIZES},
}
TOP1, IOUS = ([f"{name}_{size}" for size in SIZES] for name in ("top1", "iou"))
MEANS = [
    {"name": "top1", "mean_of": TOP1},
    {"name": "iou", "mean_of": IOUS},
    {"name": "agg", "mean_of": [*TOP1, *IOUS]},
]
MODELS = ("one", "two", "three")


def parts(model: str, place: str) -> dict[str, list[float]]:
    """Answers of a model that is good on the same items at every size, and better than the last."""
    rng = np.random.default_rng([MODELS.index(model), PLACES.index(place)])
    ease = np.random.default_rng(9).uniform(size=N)
    skill = 0.3 + 0.25 * MODELS.index(model)
    exact = (ease + 0.2 * rng.uniform(size=N) < skill + 0.1).astype(float)
    iou = np.clip(skill * ease + 0.2 * rng.uniform(size=N), 0, 1)
    return {EXACT: exact.tolist(), IOU: iou.tolist()}


@pytest.fixture
def cells(tmp_path, monkeypatch) -> Cells:
    monkeypatch.chdir(tmp_path)
    found = Cells()
    for model in MODELS:
        for place in PLACES:
            found.add(model, place, parts(model, place))
    return found


def by_item(model: str, name: str) -> np.ndarray:
    """The mean over sizes of every item, in percent, (N,)."""
    return 100 * np.mean([parts(model, place)[name] for place in PLACES], axis=0)


@pytest.mark.parametrize("model", MODELS)
def test_a_mean_is_the_plain_mean_of_its_numbers(cells, model):
    found = made({"numbers": NUMBERS, "rows": MEANS}, cells.scores)
    top1, iou = by_item(model, EXACT).mean(), by_item(model, IOU).mean()
    assert found[model, "top1"].value == pytest.approx(top1)
    assert found[model, "iou"].value == pytest.approx(iou)
    assert found[model, "agg"].value == pytest.approx((top1 + iou) / 2)
    row = found[model, "agg"]
    assert (row.benchmark, row.prompt, row.variant) == ("both", "all", "")
    assert (row.n, row.n_valid, row.coverage, row.clusters) == (3 * N, 3 * N, 1.0, N)
    assert (row.unit, row.higher_is_better) == ("percent", True)


@pytest.mark.parametrize("model", MODELS)
def test_an_interval_resamples_the_items_of_all_sizes_together(cells, model):
    row = made({"numbers": NUMBERS, "rows": MEANS}, cells.scores)[model, "agg"]
    own = (by_item(model, EXACT) + by_item(model, IOU)) / 2
    matrix = Design.of("toy", [f"c{item:03}" for item in range(N)]).matrix()
    replicates = matrix.counts.astype(float) @ own / N
    width = stats.t.ppf(0.975, N - 1) * np.sqrt(N / (N - 1))
    level = 2 * stats.norm.cdf(width) - 1
    ends = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    assert (row.interval_low, row.interval_high) == pytest.approx(tuple(ends), rel=1e-9)
    assert row.interval_method == "joint percentile"


def test_a_mean_of_rates_has_wilsons_interval_also_at_its_ends(cells):
    for place in PLACES:
        cells.add("perfect", place, {EXACT: [1.0] * N, IOU: [1.0] * N})
    found = made({"numbers": NUMBERS, "rows": MEANS}, cells.scores)
    row = found["perfect", "top1"]
    assert (row.value, row.interval_high, row.interval_method) == (100, 100, "wilson at n_eff")
    squared = stats.t.ppf(0.975, N - 1) ** 2
    assert row.interval_low == pytest.approx(100 / (1 + squared / N))
    # The intervals of other rows end where the scale of their numbers does.
    assert found["perfect", "iou"].interval_high <= 100


def test_a_difference_is_paired_by_cluster(cells):
    rows = [*MEANS, {"name": "gap", "difference": ["iou", "top1"]}]
    row = made({"numbers": NUMBERS, "rows": rows}, cells.scores)["two", "gap"]
    own = by_item("two", IOU) - by_item("two", EXACT)
    assert row.value == pytest.approx(own.mean())
    reference = stats.t.interval(0.95, N - 1, own.mean(), stats.sem(own))
    half = (row.interval_high - row.interval_low) / 2
    assert half == pytest.approx((reference[1] - reference[0]) / 2, rel=0.06)


ANCHORED = {
    "name": "fixed",
    "mean_of": ["top1", "iou"],
    "anchored": {
        "top1": {"low": 10.0, "high": {"of": "top1", "model": "perfect"}},
        "iou": {"low": {"of": "iou_16", "model": "blind"}, "high": 80.0},
    },
}


def bounded(cells: Cells) -> dict[str, str]:
    for place in PLACES:
        cells.add("perfect", place, {EXACT: [1.0] * 54 + [0.0] * 6, IOU: [1.0] * N})
        cells.add("blind", place, {EXACT: [0.0] * N, IOU: [0.05] * N})
    measured = dict.fromkeys(MODELS, "measured")
    return {**measured, "perfect": "ceiling", "blind": "floor"}


def test_anchors_are_constants_or_what_one_model_reads(cells):
    roles = bounded(cells)
    spec = {"numbers": NUMBERS, "rows": [*MEANS, ANCHORED]}
    found = made(spec, cells.scores, roles=roles)
    for model in MODELS:
        top1, iou = by_item(model, EXACT).mean(), by_item(model, IOU).mean()
        expected = 100 * ((top1 - 10) / (90 - 10) + (iou - 5) / (80 - 5)) / 2
        row = found[model, "fixed"]
        assert row.value == pytest.approx(expected)
        own = 50 * ((by_item(model, EXACT) - 10) / 80 + (by_item(model, IOU) - 5) / 75)
        reference = stats.t.interval(0.95, N - 1, own.mean(), stats.sem(own))
        half = (row.interval_high - row.interval_low) / 2
        assert half == pytest.approx((reference[1] - reference[0]) / 2, rel=0.06)
        assert row.interval_method == "joint percentile, anchors frozen"
    assert [found[m, "fixed"].rank_low for m in MODELS] == [3, 2, 1]
    assert found["perfect", "fixed"].rank_low is None
    assert found["one", "top1"].floor_model == "blind"
    assert found["one", "top1"].ceiling == pytest.approx(90)


def test_without_the_model_of_an_anchor_there_is_no_value(cells):
    roles = {**bounded(cells), "blind": "floor"}
    scores = {path: digest for path, digest in cells.scores.items() if "/blind/" not in path}
    spec = {"numbers": NUMBERS, "rows": [*MEANS, ANCHORED]}
    found = made(spec, scores, roles=roles)
    assert found["one", "fixed"].value is None and found["one", "fixed"].rank_low is None
    assert found["one", "top1"].value is not None


def normalised(**more) -> dict:
    return {"name": "relative", "mean_of": ["top1", "iou"], "normalised": more}


@pytest.mark.parametrize("row_set", ["run", ["one", "three"], ["one", "two", "elsewhere"]])
def test_min_max_is_relative_to_its_set_of_rows_and_keeps_it(cells, row_set):
    roles = bounded(cells)
    spec = {"numbers": NUMBERS, "rows": [*MEANS, normalised(row_set=row_set)]}
    found = made(spec, cells.scores, roles=roles)
    members = [m for m in MODELS if row_set == "run" or m in row_set]
    means = {m: [by_item(m, EXACT).mean(), by_item(m, IOU).mean()] for m in (*MODELS,)}
    low = np.min([means[m] for m in members], axis=0)
    high = np.max([means[m] for m in members], axis=0)
    for model in MODELS:
        row = found[model, "relative"]
        expected = 100 * np.mean((means[model] - low) / (high - low))
        assert row.value == pytest.approx(expected, abs=1e-9)
        assert row.rank_low is None and row.group_rank_low is None and row.family_size is None
        assert row.interval_low < row.value < row.interval_high
        assert row.uncertainty_flag == (
            f"min-max over {len(members)} rows ({', '.join(sorted(members))}): another set of rows "
            f"changes it"
        )
    kept = [r for r in RowFile("results/aggregates/both.parquet", Summary) if r.scorer == "row_set"]
    told = {(r.model, r.variant): r.value for r in kept}
    assert told == pytest.approx(
        {(m, n): v for m in members for n, v in zip(("top1", "iou"), means[m], strict=True)}
    )


def test_paper_rounding_enters_the_value_and_not_the_interval(cells):
    decimals = {"top1": 0, "iou": 1}
    plain, paper = normalised(), normalised(rounding="paper", decimals=decimals)
    spec = {"numbers": NUMBERS, "rows": [*MEANS, plain, {**paper, "name": "paper"}]}
    found = made(spec, cells.scores)
    rounded = {
        m: [round(by_item(m, EXACT).mean()), round(by_item(m, IOU).mean(), 1)] for m in MODELS
    }
    low, high = (f(list(rounded.values()), axis=0) for f in (np.min, np.max))
    for model in MODELS:
        expected = 100 * np.mean((rounded[model] - low) / (high - low))
        assert found[model, "paper"].value == pytest.approx(expected)
    middle = found["two", "paper"]
    assert middle.value != pytest.approx(found["two", "relative"].value, abs=1e-3)


def test_lower_is_better_turns_the_range_round(cells):
    for model, errors in (("one", 4.0), ("two", 1.0), ("three", 3.0)):
        cells.add(model, "toy/counts", {"absolute_error": [errors] * N})
    numbers = {"error": number("toy/counts", "mae")}
    rows = [
        {"name": "plain", "mean_of": ["error"]},
        {"name": "relative", "mean_of": ["error"], "normalised": {}},
        {"name": "fixed", "mean_of": ["error"], "anchored": {"error": {"low": 5.0, "high": 0.0}}},
    ]
    found = made({"numbers": numbers, "rows": rows}, cells.scores)
    assert [found[m, "relative"].value for m in MODELS] == pytest.approx([0, 100, 100 / 3])
    assert [found[m, "fixed"].value for m in MODELS] == pytest.approx([20, 80, 40])
    assert found["one", "plain"].higher_is_better is False
    assert found["one", "fixed"].higher_is_better is True
    assert [found[m, "plain"].rank_low for m in MODELS] == [3, 1, 2]


def test_numbers_that_are_better_in_other_directions_are_not_averaged(cells):
    cells.add("one", "toy/counts", {"absolute_error": [1.0] * N})
    numbers = {**NUMBERS, "error": number("toy/counts", "mae")}
    rows = [{"name": "odd", "mean_of": ["top1_16", "error"]}]
    with pytest.raises(RecordError, match=r"row 'odd': of top1_16, error some are better"):
        made({"numbers": numbers, "rows": rows}, cells.scores)


def test_the_root_of_a_mean_and_a_median_are_refused(cells):
    cells.add("one", "toy/roots", {"squared_error": [1.0] * N})
    spec = {"numbers": {"rmse": number("toy/roots", "rmse")}}
    with pytest.raises(GensightError, match="'rmse' is the root of a mean"):
        made({**spec, "rows": [{"name": "a", "mean_of": ["rmse"]}]}, cells.scores)


def stripped(rows: dict) -> dict:
    """What a row says of its model alone: ranks are about all of them."""
    about_others = ("rank_low", "rank_high", "family_size", "group_rank_low", "group_rank_high")
    about_others += ("group_size", "smallest_difference")
    kept = {}
    for key, row in rows.items():
        kept[key] = {k: v for k, v in vars(row).items() if k not in about_others}
    return kept


def test_the_order_of_rows_and_another_model_change_no_bit(cells):
    roles = bounded(cells)
    spec = {"numbers": NUMBERS, "rows": [*MEANS, ANCHORED]}
    before = stripped(made(spec, cells.scores, roles=roles))
    order = np.random.default_rng(3).permutation(N).tolist()
    for model in MODELS:
        for place in PLACES:
            cells.add(model, place, parts(model, place), order=order)
    for place in PLACES:
        cells.add("four", place, parts("two", place))
    turned = dict(reversed(cells.scores.items()))
    after = stripped(made(spec, turned, roles={**roles, "four": "measured"}))
    assert {key: after[key] for key in before} == before
    assert after["four", "fixed"]["value"] == after["two", "fixed"]["value"]


def test_min_max_does_change_with_another_model(cells):
    spec = {"numbers": NUMBERS, "rows": [*MEANS, normalised()]}
    before = made(spec, cells.scores)["two", "relative"].value
    for place in PLACES:
        cells.add("perfect", place, {EXACT: [1.0] * N, IOU: [1.0] * N})
    after = made(spec, cells.scores)["two", "relative"].value
    assert after < before - 5


def test_ranks_are_within_groups_too_and_equal_models_share_them(cells):
    for place in PLACES:
        cells.add("again", place, parts("three", place))
    groups = {"one": "a", "two": "a", "three": "b", "again": "b"}
    found = made({"numbers": NUMBERS, "rows": MEANS}, cells.scores, groups=groups)
    ranks = {m: (found[m, "agg"].rank_low, found[m, "agg"].rank_high) for m in groups}
    assert ranks == {"one": (4, 4), "two": (3, 3), "three": (1, 2), "again": (1, 2)}
    row = found["two", "agg"]
    assert (row.family_size, row.group_size, row.group_rank_low, row.group_rank_high) == (
        4,
        2,
        1,
        1,
    )
    own = [by_item(m, EXACT) / 2 + by_item(m, IOU) / 2 for m in ("one", "two")]
    error = np.std(own[0] - own[1], ddof=0) / np.sqrt(N)
    assert row.smallest_difference == pytest.approx(2.80 * error, rel=0.05)


def test_an_answer_that_never_arrived_blocks_the_number_and_the_rank(cells):
    cells.add("two", PLACES[1], parts("two", PLACES[1]), lost=[0, 7])
    found = made({"numbers": NUMBERS, "rows": [*MEANS, normalised()]}, cells.scores)
    row = found["two", "top1"]
    assert (row.infrastructure, row.n, row.rank_low) == (2, 3 * N - 2, None)
    assert found["one", "top1"].infrastructure == 0
    assert found["one", "top1"].family_size == 2
    # A set of rows is only known when all of its rows are: until then its numbers may move.
    assert found["one", "relative"].infrastructure == 2


def test_a_model_that_was_not_asked_has_no_row_and_one_without_answers_no_value(cells):
    cells.add("part", PLACES[0], parts("one", PLACES[0]))
    cells.add("silent", PLACES[0], parts("one", PLACES[0]))
    for place in PLACES[1:]:
        cells.add("silent", place, parts("one", place), lost=range(N))
    found = made({"numbers": NUMBERS, "rows": MEANS}, cells.scores)
    assert ("part", "top1") not in found
    row = found["silent", "top1"]
    assert (row.value, row.infrastructure, row.n) == (None, 2 * N, N)


def test_failed_answers_count_under_the_policy_and_are_left_out_of_the_readable_number(cells):
    failed = parts("two", PLACES[0])
    failed[EXACT][:12], failed[IOU][:12] = [0.0] * 12, [0.0] * 12
    cells.add("two", PLACES[0], failed, invalid=range(12))
    row = made({"numbers": NUMBERS, "rows": MEANS}, cells.scores)["two", "iou"]
    sizes = [np.array(failed[IOU]), *(np.array(parts("two", p)[IOU]) for p in PLACES[1:])]
    assert row.value == pytest.approx(100 * np.mean(sizes))
    readable = [sizes[0][12:].mean(), sizes[1].mean(), sizes[2].mean()]
    assert row.valid_only == pytest.approx(100 * np.mean(readable))
    assert (row.n, row.n_valid) == (3 * N, 3 * N - 12)
    assert row.format_valid == pytest.approx(1 - 12 / (3 * N))
    assert row.format_valid_low < row.format_valid < row.format_valid_high


def test_two_scorers_of_one_cell_count_its_answers_once(cells):
    cells.add("one", PLACES[0], {IOU: [0.5] * N}, invalid=[1, 2], scorer="judge")
    numbers = {
        "top1": number(PLACES[0], "exact_match"),
        "judge": number(PLACES[0], "giou", scorer="judge"),
    }
    rows = [{"name": "agg", "mean_of": ["top1", "judge"]}]
    found = made({"numbers": numbers, "rows": rows}, cells.scores)
    row = found["one", "agg"]
    assert (row.n, row.n_valid) == (N, N - 2)
    assert ("two", "agg") not in found


def test_sources_that_share_clusters_are_resampled_together(cells):
    first, second = [1.0] * 30 + [0.0] * 30, [1.0] * 40 + [0.0] * 20
    cells.add("one", "pia/letter", {EXACT: first})
    cells.add("one", "astra/letter", {EXACT: second})
    numbers = {name: number(f"{name}/letter", "exact_match") for name in ("pia", "astra")}
    rows = [{"name": "gain", "difference": ["astra", "pia"], "ranked": False}]
    row = made({"numbers": numbers, "rows": rows}, cells.scores)["one", "gain"]
    own = 100 * (np.array(second) - np.array(first))
    assert row.value == pytest.approx(own.mean())
    half = stats.t.ppf(0.975, N - 1) * stats.sem(own)
    assert (row.interval_high - row.interval_low) / 2 == pytest.approx(half, rel=0.1)
    assert row.rank_low is None


def test_few_clusters_give_a_value_without_interval_or_rank(cells):
    for model, share in (("one", 0.2), ("two", 0.9)):
        clusters = [f"c{item % 6}" for item in range(N)]
        cells.add(model, "few/grid", {IOU: [share] * N}, clusters=clusters)
    numbers, rows = {"iou": number("few/grid", "giou")}, [{"name": "iou_avg", "mean_of": ["iou"]}]
    row = made({"numbers": numbers, "rows": rows}, cells.scores)["two", "iou_avg"]
    assert (row.value, row.clusters) == (pytest.approx(90), 6)
    assert row.interval_low is None and row.rank_low is None
