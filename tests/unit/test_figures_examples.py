from __future__ import annotations

import json
import random

import pytest

from gensight.errors import SpecError
from gensight.figures import choose, examples_json, number_text, same_samples, score_text
from gensight.records import Score
from gensight.specs.base import parse
from gensight.specs.figures import GalleryModelSpec, GallerySpec

MODEL = GalleryModelSpec(model="alpha")
SPEC = {
    "kind": "gallery",
    "title": "T",
    "caption": "C",
    "task": "segmentation",
    "benchmark": "scenes",
    "scorer": "mask",
    "metric": "giou",
    "metric_label": "IoU (%)",
    "scale": 100,
    "models": [{"model": "alpha"}],
}


def spec(**changes):
    return parse("f.yaml", GallerySpec, SPEC | changes)


def score(rank, raw, **changes):
    row = {
        "sample_id": f"s{rank}",
        "rank": rank,
        "cluster_id": "c",
        "variant": "otsu",
        "status": "ok" if raw is not None else "invalid",
        "reason": None if raw is not None else "unreadable",
        "outcome": "ok",
        "format_valid": raw is not None,
        "kind": "metric",
        "name": "giou",
        "raw": raw,
        "value": 0.0 if raw is None else raw,
    }
    return Score(**row | changes)


def cell(*values):
    return [score(rank, raw) for rank, raw in enumerate(values)]


def chosen(scores, higher=True, restricted=(), **changes):
    return choose(spec(**changes), MODEL, scores, higher, restricted)


@pytest.mark.parametrize(
    ("rule", "higher", "values", "sample_id"),
    [
        ("median", True, (0.9, 0.1, 0.5), "s2"),
        ("median", True, (0.9, 0.1, 0.5, 0.6), "s2"),  # the lower one of four
        ("median", False, (0.9, 0.1, 0.5, 0.6), "s3"),  # lower is the poorer half
        ("median", True, (0.5, 0.5, 0.5), "s0"),  # ties by rank
        ("median", True, (0.7, 0.2, 0.2, 0.2, 0.9), "s1"),
        ("median", True, (None, 0.9, None, 0.1, 0.5), "s4"),  # unread answers have no raw value
        ("best", True, (0.3, 0.9, 0.9), "s1"),
        ("best", False, (0.3, 0.9, 0.3), "s0"),
        ("worst", True, (0.3, 0.1, 0.1), "s1"),
        ("worst", False, (0.3, 0.9, 0.9), "s1"),
        ("failed", True, (0.3, None, None), "s1"),
        ("quantile_0", True, (0.3, 0.1, 0.2), "s1"),
        ("quantile_100", True, (0.3, 0.1, 0.2), "s0"),
        ("quantile_50", True, (0.9, 0.1, 0.5, 0.6), "s2"),
        ("quantile_25", True, (0.5, 0.4, 0.3, 0.2, 0.1), "s3"),
        ("quantile_25", False, (0.5, 0.4, 0.3, 0.2, 0.1), "s1"),
        ("quantile_99", True, (0.1, 0.2, 0.3), "s1"),  # the lower one of two neighbours
    ],
)
def test_the_rule_chooses(rule, higher, values, sample_id):
    rows = cell(*values)
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        (example,) = chosen(rows, higher, rules=[rule]).examples
        assert (example.sample_id, example.rule) == (sample_id, rule)


def failed(rank, name, raw=0.0, **changes):
    return score(rank, raw, failure_blind=name, **changes)


def test_the_failure_shown_is_the_first_of_the_commonest_class():
    rows = [
        failed(0, "ok", 0.9),
        failed(1, "rerender"),
        failed(2, "drift:local", 0.4),
        failed(3, "drift:global", 0.3),
        failed(4, "drift:possible", 0.8),  # a suspicion only
        failed(5, "ambiguous", 0.8),
        score(6, None),
        score(7, 0.9),
    ]
    (example,) = chosen(rows, rules=["failed"]).examples
    assert (example.sample_id, example.failure_class, example.n) == ("s2", "drift:local", 2)
    # Of classes that are equally common the one that failure tables list first.
    (example,) = chosen([*rows[:3], failed(3, "ok")], rules=["failed"]).examples
    assert example.failure_class == "drift:local"


def test_an_answer_that_never_arrived_is_no_failure():
    lost = score(0, None, outcome="quota", status="no_output", reason="quota")
    refused = score(1, None, outcome="refused_output", status="no_output", reason="refused_output")
    (example,) = chosen([lost, refused], rules=["failed"]).examples
    assert example.sample_id == "s1"
    assert chosen([lost], rules=["failed"]).examples == []


def test_an_answer_is_chosen_once():
    rows = cell(0.5, 0.5, 0.5, 0.1)
    found = chosen(rows, rules=["median", "quantile_60", "best", "quantile_90", "worst"]).examples
    assert [(e.sample_id, e.rule) for e in found] == [
        ("s0", "median"),
        ("s1", "quantile_60"),
        ("s2", "best"),
        ("s3", "worst"),
    ]


@pytest.mark.parametrize(
    ("rows", "restricted", "rule", "why"),
    [
        (cell(0.5, 0.4), (), "failed", "none of 2 answers failed"),
        (cell(None), (), "median", "its only answer cannot be read"),
        ([], (), "median", "no answer was scored"),
        (cell(0.5, 0.4), ("s0", "s1"), "median", "none of 2 answers may be shown"),
        (cell(0.5, None), ("s0",), "best", "its only answer cannot be read"),
    ],
)
def test_a_rule_that_nothing_fits_leaves_a_gap(rows, restricted, rule, why):
    choice = chosen(rows, restricted=restricted, rules=[rule])
    assert choice.examples == []
    (gap,) = choice.gaps
    assert (gap.rule, gap.why, gap.restricted, gap.model) == (rule, why, len(restricted), "alpha")


def test_samples_that_may_not_be_shown_take_no_part_and_are_counted():
    (example,) = chosen(cell(0.1, 0.5, 0.9, 0.7), restricted={"s3", "s2"}, rules=["best"]).examples
    assert (example.sample_id, example.n, example.restricted) == ("s1", 2, 2)


def test_only_the_metric_of_the_cell_that_is_shown_takes_part():
    rows = [
        score(0, 0.5, severity=2.0),
        score(1, 0.9, severity=8.0),
        score(2, 0.9),
        score(3, 0.9, severity=2.0, kind="part"),
        score(4, 0.9, severity=2.0, name="ciou"),
        score(5, 0.9, severity=2.0, fit="depth"),
        score(6, 0.9, severity=2.0, status="no_ground_truth"),
    ]
    shown = GalleryModelSpec(model="shift", severity=2)
    (example,) = choose(spec(rules=["best"]), shown, rows, True).examples
    assert (example.sample_id, example.severity, example.n) == ("s0", 2.0, 1)


@pytest.mark.parametrize(
    ("stratum", "found"), [(None, "s2"), ("small", "s1"), ("first_2", "s1"), ("first_1", "s0")]
)
def test_a_gallery_of_a_stratum_or_of_the_first_ranks(stratum, found):
    rows = [score(0, 0.1, stratum="small"), score(1, 0.2, stratum="small"), score(2, 0.3)]
    (example,) = chosen(rows, rules=["best"], stratum=stratum).examples
    assert example.sample_id == found


def test_several_variants_must_be_named():
    rows = [score(0, 0.5), score(0, 0.6, variant="kmeans")]
    with pytest.raises(SpecError, match="name a variant; scorer 'mask' has kmeans, otsu"):
        chosen(rows)
    (example,) = chosen(rows, variant="kmeans").examples
    assert example.raw == 0.6


def test_the_choice_is_logged_as_json():
    rules = ["median", "best", "worst", "failed"]
    choice = chosen(cell(0.1, 0.5, 0.9, None), rules=rules)
    logged = json.loads(examples_json([(None, choice)]))
    assert [(row["rule"], row["sample_id"], row["place"], row["n"]) for row in logged] == [
        ("median", "s1", 1, 3),
        ("best", "s2", 2, 3),
        ("worst", "s0", 0, 3),
        ("failed", "s3", None, 1),
    ]
    assert logged[0]["rule_text"] == (
        "lower median of the raw giou among a cell's readable answers, ties by rank"
    )
    assert logged[3]["raw"] is None and "panel" not in logged[0]


def test_the_log_names_panels_and_gaps():
    choices = [("P", chosen(cell(0.1))), ("Q", chosen(cell(None)))]
    first, second = json.loads(examples_json(choices))
    assert (first["panel"], first["sample_id"]) == ("P", "s0")
    assert (second["panel"], second["sample_id"]) == ("Q", None)
    assert second["why"] == "its only answer cannot be read"


def test_other_models_can_be_shown_on_the_same_samples():
    led = chosen(cell(0.1, 0.5, 0.9), chosen_on="alpha")
    other = GalleryModelSpec(model="beta")
    (example,) = same_samples(spec(), other, cell(0.9, 0.3, 0.1), led).examples
    assert (example.model, example.chosen_on, example.sample_id) == ("beta", "alpha", "s1")
    assert (example.raw, example.place) == (0.3, None)
    assert example.rule_text == led.examples[0].rule_text
    assert example.rule_text.endswith("ties by rank, chosen on alpha")


def test_what_cannot_be_shown_of_another_model_is_a_gap():
    other = GalleryModelSpec(model="beta")
    choice = same_samples(spec(), other, cell(0.9), chosen(cell(0.1, 0.5, 0.9)))
    assert choice.examples == [] and choice.gaps[0].why == "no answer about s1"
    choice = same_samples(spec(), other, cell(0.9), chosen(cell(None)))
    assert choice.gaps[0].why == (
        "nothing could be chosen on alpha (its only answer cannot be read)"
    )


@pytest.mark.parametrize(
    ("raw", "changes", "expected", "number"),
    [
        (0.6815, {}, "IoU (%)\n68.2", "68.2"),
        (
            0.6815,
            {"failure_blind": "wrong_format:colour_mask"},
            "IoU (%)\n68.2\nwrong format: colour mask",
            "68.2",
        ),
        (0.6815, {"failure_blind": "ok"}, "IoU (%)\n68.2", "68.2"),
        (None, {}, "IoU (%)\n0.0\n(invalid: unreadable, scored by policy)", "0.0 by policy"),
        (
            None,
            {"value": None, "status": "no_output", "reason": None},
            "IoU (%)\n–\n(no output)",
            "not scored",
        ),
    ],
)
def test_a_score_says_the_raw_number_or_why_there_is_none(raw, changes, expected, number):
    rule = "failed" if raw is None else "median"
    (example,) = chosen([score(0, raw, **changes)], rules=[rule]).examples
    assert score_text(spec(), example) == expected
    assert number_text(spec(), example) == number
