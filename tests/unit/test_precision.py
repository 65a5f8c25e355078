"""A look at two models' scores: one fixed difference per cluster, and what cannot be decided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gensight.errors import GensightError, RecordError
from gensight.records import Score, write_rows
from gensight.runner.precision import Look, Side, decide, look
from gensight.specs.run import StopSpec

RULE = StopSpec(
    models=["one", "two"],
    prompt="mid",
    scorer="mask",
    metric="giou",
    variant="otsu",
    scale=100,
    first=4,
    step=2,
)
BETTER = [0.9, 0.8] * 20
WORSE = [0.1, 0.2] * 20
#: Refused answers count 0 by the policy.
REFUSED = {"status": "no_output", "outcome": "refused_output", "format_valid": False, "raw": None}
NO_TRUTH = {"status": "no_ground_truth", "fit": None, "raw": None, "value": None}


def row(rank: int, iou: float, **columns: object) -> Score:
    values = {
        "sample_id": f"set/{rank:03}",
        "rank": rank,
        "cluster_id": f"picture{rank}",
        "variant": "otsu",
        "status": "ok",
        "outcome": "ok",
        "format_valid": True,
        "kind": "metric",
        "name": "giou",
        "raw": 100 * iou,
        "value": 100 * iou,
    }
    return Score(**{**values, **columns})


def rows(ious: list[float], **columns: object) -> list[Score]:
    return [row(rank, iou, **columns) for rank, iou in enumerate(ious)]


def side(folder: Path, name: str, scores: list[Score], fit: str | None = None) -> Side:
    path, planned = str(folder / f"{name}.parquet"), {"stage": "scores", "model": name}
    write_rows(path, Score, scores, planned)
    return Side(name, path, planned, fit)


def looked(folder: Path, one: list[Score], two: list[Score], rule: StopSpec = RULE) -> Look:
    return look(side(folder, "one", one), side(folder, "two", two), rule)


def test_a_clear_difference_is_told_at_the_first_step_that_excludes_zero(tmp_path):
    found = looked(tmp_path, rows(BETTER), rows(WORSE))
    assert found.decided == "told_apart"
    assert 3 < found.after < 20
    assert 0 < found.low < 0.7 < found.high
    # One step earlier it was open, and what comes later changes nothing.
    before = looked(tmp_path, rows(BETTER[: found.after - 1]), rows(WORSE[: found.after - 1]))
    assert before.decided is None and before.low <= 0
    assert looked(tmp_path, rows(BETTER[: found.after]), rows(WORSE[: found.after])) == found


def test_the_sign_is_the_first_models(tmp_path):
    found = looked(tmp_path, rows(WORSE), rows(BETTER))
    assert found.decided == "told_apart"
    assert found.low < -0.7 < found.high < 0


def test_equal_models_stay_open_or_become_narrow(tmp_path):
    same = rows([0.5] * 200)
    assert looked(tmp_path, same, same).decided is None
    found = looked(tmp_path, same, same, RULE.model_copy(update={"width": 0.2}))
    assert found.decided == "narrow"
    assert found.high - found.low <= 0.2
    assert found.low <= 0 <= found.high


def test_a_difference_that_is_both_is_told_apart():
    assert decide([0.5] * 40, 2.0).decided == "narrow"
    wide = decide([0.5] * 40, None)
    assert decide([0.5] * 40, wide.high - wide.low) == wide
    assert wide.decided == "told_apart"


def test_nothing_seen_is_nothing_known():
    assert decide([], 0.5) == Look(0, -1.0, 1.0, None)


def test_clusters_count_once_by_the_wave_in_which_they_appear(tmp_path):
    """Ranks 0 to 3 are the first wave, 4 and 5 the second."""
    clusters = ["a", "b", "a", "c", "b", "d"]
    one = [
        row(rank, iou, cluster_id=cluster)
        for rank, (iou, cluster) in enumerate(
            zip([0.4, 0.5, 0.8, 0.3, 1.0, 0.9], clusters, strict=True)
        )
    ]
    two = [replace(some, raw=0.0, value=0.0) for some in one]
    # a: the mean of 0.4 and 0.8; b without rank 4, which came after b had been looked at.
    assert looked(tmp_path, one, two) == decide([0.6, 0.5, 0.3, 0.9], None)
    # Whatever the order of the rows in the file.
    assert looked(tmp_path, one[::-1], two) == decide([0.6, 0.5, 0.3, 0.9], None)
    larger = RULE.model_copy(update={"first": 6})
    assert looked(tmp_path, one, two, larger) == decide([0.6, 0.75, 0.3, 0.9], None)


def test_a_later_wave_only_adds_steps(tmp_path):
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 30, 60)
    ious = rng.uniform(size=(2, 60))
    one, two = (
        [row(rank, iou, cluster_id=f"c{clusters[rank]}") for rank, iou in enumerate(some)]
        for some in ious.tolist()
    )
    before = -1.0, 1.0
    for n in range(4, 61, 2):
        found = looked(tmp_path, one[:n], two[:n])
        assert found.decided is not None or before[0] <= found.low <= found.high <= before[1]
        before = found.low, found.high


def test_failures_have_the_value_of_the_policy(tmp_path):
    refused = [row(rank, 0.0, **REFUSED) for rank in range(40)]
    assert looked(tmp_path, rows(BETTER), refused) == looked(
        tmp_path, rows(BETTER), rows([0.0] * 40)
    )


def test_repeats_of_a_sample_are_averaged(tmp_path):
    twice = [*rows([0.2] * 40, repeat=0), *rows([0.6] * 40, repeat=1)]
    assert looked(tmp_path, twice, rows(WORSE)) == looked(tmp_path, rows([0.4] * 40), rows(WORSE))


def test_only_the_rows_of_the_rule_are_read(tmp_path):
    one = rows(BETTER, fit="depth")
    noise = [
        *rows(WORSE, fit="disparity"),
        *rows(WORSE, fit="depth", variant="kmeans"),
        *rows(WORSE, fit="depth", name="ciou"),
        *rows(WORSE, fit="depth", kind="part"),
        *rows(WORSE, fit="depth", severity=3.0),
    ]
    two = rows(WORSE, fit="depth")
    expected = looked(tmp_path, rows(BETTER), rows(WORSE))
    sides = side(tmp_path, "one", [*noise, *one], "depth"), side(tmp_path, "two", two, "depth")
    assert look(*sides, RULE) == expected


def test_the_only_variant_need_not_be_named(tmp_path):
    rule = RULE.model_copy(update={"variant": None})
    assert looked(tmp_path, rows(BETTER), rows(WORSE), rule).decided == "told_apart"
    both = [*rows(BETTER), *rows(BETTER, variant="kmeans")]
    with pytest.raises(GensightError, match="name a variant; scorer 'mask' has kmeans, otsu"):
        looked(tmp_path, both, both, rule)


def test_samples_without_a_truth_are_left_out(tmp_path):
    untold = [row(40, 0.0, **NO_TRUTH)]
    assert looked(tmp_path, [*rows(BETTER), *untold], [*rows(WORSE), *untold]) == looked(
        tmp_path, rows(BETTER), rows(WORSE)
    )


LATE = {"outcome": "overloaded_exhausted", "status": "no_output", "raw": None, "value": None}
MISTAKES = [
    (
        [row(0, 0.5), row(1, 0.5, **LATE)],
        "1 answers of one never arrived .*set/001, overloaded_exhausted",
    ),
    ([row(0, 0.5)], "different samples .*lacks set/001"),
    ([row(0, 0.5), row(1, 0.5, value=None)], "not defined for the answer of one to set/001"),
    ([row(0, 0.5), row(1, 1.01)], r"giou of one is 101 for set/001, outside 0 to 100; set scale"),
    ([row(0, 0.5), row(1, -0.01)], "giou of one is -1 for set/001"),
    (rows([0.5, 0.5], severity=1.0), "no giou without a severity"),
]


@pytest.mark.parametrize(("one", "words"), MISTAKES)
def test_what_cannot_be_decided_is_one_line(tmp_path, one, words):
    with pytest.raises(GensightError, match=words) as caught:
        looked(tmp_path, one, rows([0.5, 0.5]))
    assert "\n" not in str(caught.value)


def test_scores_of_another_plan_are_never_looked_at(tmp_path):
    one, two = side(tmp_path, "one", rows(BETTER)), side(tmp_path, "two", rows(WORSE))
    with pytest.raises(RecordError, match="made from other settings"):
        look(one._replace(determinants={"stage": "scores", "model": "three"}), two, RULE)
