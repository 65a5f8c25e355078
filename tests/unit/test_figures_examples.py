from __future__ import annotations

import json
import random

import pytest

from gensight.errors import SpecError
from gensight.figures import chosen_examples, examples_json, same_examples, score_text
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


@pytest.mark.parametrize(
    ("rule", "higher", "values", "chosen"),
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
    ],
)
def test_the_rule_chooses(rule, higher, values, chosen):
    rows = cell(*values)
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        (example,) = chosen_examples(spec(rules=[rule]), MODEL, rows, higher)
        assert (example.sample_id, example.rule) == (chosen, rule)


def test_a_rule_that_nothing_fits_is_skipped():
    assert chosen_examples(spec(rules=["failed"]), MODEL, cell(0.5), True) == []
    assert chosen_examples(spec(), MODEL, cell(None, None), True) == []
    assert chosen_examples(spec(), MODEL, [], True) == []


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
    (example,) = chosen_examples(spec(rules=["best"]), shown, rows, True)
    assert (example.sample_id, example.severity, example.n) == ("s0", 2.0, 1)


def test_several_variants_must_be_named():
    rows = [score(0, 0.5), score(0, 0.6, variant="kmeans")]
    with pytest.raises(SpecError, match="name a variant; scorer 'mask' has kmeans, otsu"):
        chosen_examples(spec(), MODEL, rows, True)
    (example,) = chosen_examples(spec(variant="kmeans"), MODEL, rows, True)
    assert example.raw == 0.6


def test_the_choice_is_logged_as_json():
    rules = ["median", "best", "worst", "failed"]
    examples = chosen_examples(spec(rules=rules), MODEL, cell(0.1, 0.5, 0.9, None), True)
    logged = json.loads(examples_json(examples))
    assert [(row["rule"], row["sample_id"], row["place"], row["n"]) for row in logged] == [
        ("median", "s1", 1, 3),
        ("best", "s2", 2, 3),
        ("worst", "s0", 0, 3),
        ("failed", "s3", None, 1),
    ]
    assert logged[0]["rule_text"] == (
        "lower median of the raw giou among a cell's readable answers, ties by rank"
    )
    assert logged[3]["raw"] is None


def test_other_models_can_be_shown_on_the_same_samples():
    chosen = chosen_examples(spec(), MODEL, cell(0.1, 0.5, 0.9), True)
    other = GalleryModelSpec(model="beta")
    (example,) = same_examples(spec(), other, cell(0.9, 0.3, 0.1), chosen)
    assert (example.model, example.chosen_on, example.sample_id) == ("beta", "alpha", "s1")
    assert (example.raw, example.place) == (0.3, None)
    assert example.rule_text.endswith("ties by rank, chosen on alpha")
    assert same_examples(spec(), other, cell(0.9), chosen) == []


@pytest.mark.parametrize(
    ("raw", "changes", "expected"),
    [
        (0.6815, {}, "IoU (%)\n68.2"),
        (None, {}, "IoU (%)\n0.0\n(invalid: unreadable, scored by policy)"),
        (None, {"value": None, "status": "no_output", "reason": None}, "IoU (%)\n–\n(no_output)"),
    ],
)
def test_the_score_column_says_the_raw_number_or_why_there_is_none(raw, changes, expected):
    rule = "failed" if raw is None else "median"
    (example,) = chosen_examples(spec(rules=[rule]), MODEL, [score(0, raw, **changes)], True)
    assert score_text(spec(), example) == expected
