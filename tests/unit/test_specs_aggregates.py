"""Aggregate specs: what they need, and the one line that says what is wrong."""

from __future__ import annotations

import pytest

from gensight.errors import SpecError
from gensight.specs.aggregates import CORRELATED, AggregateSpec
from gensight.specs.base import parse

NUMBERS = {
    name: {"benchmark": "toy", "prompt": f"grid_{name}", "scorer": "read", "metric": "giou"}
    for name in ("a", "b")
}
MEAN = {"name": "both", "mean_of": ["a", "b"]}
ANCHORED = {
    "name": "fixed",
    "mean_of": ["a", "both"],
    "anchored": {
        "a": {"low": 1, "high": {"of": "a", "model": "best"}},
        "both": {"low": 0.5, "high": {"of": "both", "model": "best"}},
    },
}


def spec(*rows, **more) -> AggregateSpec:
    return parse("x.yaml", AggregateSpec, {"numbers": NUMBERS, "rows": list(rows), **more})


def test_it_names_what_it_needs():
    relative = {"name": "relative", "mean_of": ["a"], "normalised": {"row_set": ["one", "two"]}}
    sides = {"x": {"aggregate": "other", "row": "all"}, "y": {"row": "relative"}}
    correlation = {"name": "pair", **sides, "models": ["one"]}
    found = spec(MEAN, ANCHORED, relative, correlations=[correlation])
    assert found.benchmarks == ["toy"] and found.aggregates == ["other"]
    assert found.metrics == ["both", "fixed", "relative", *CORRELATED]
    assert found.named_models == {
        "rows.1.anchored.a.high.model": ["best"],
        "rows.1.anchored.both.high.model": ["best"],
        "rows.2.normalised.row_set": ["one", "two"],
        "correlations.0.models": ["one"],
    }
    assert [row.is_ranked for row in found.rows] == [True, True, False]
    assert AggregateSpec.model_validate(found.model_dump()) == found


WRONG = [
    ([], {}, "give rows or correlations"),
    ([{"name": "x"}], {}, "either mean_of or difference"),
    ([{**MEAN, "difference": ["a", "b"]}], {}, "either mean_of or difference"),
    ([{"name": "x", "difference": ["a"]}], {}, "at least 2 items"),
    ([{"name": "x", "mean_of": ["a", "a"]}], {}, "'a' is listed twice"),
    ([{"name": "x", "mean_of": ["c"]}], {}, "'c', which is no number and no earlier row"),
    ([ANCHORED], {}, "'both', which is no number and no earlier row"),
    ([MEAN, MEAN], {}, "'both' is the name of a number or row already"),
    ([{**MEAN, "name": "a"}], {}, "'a' is the name of a number or row already"),
    ([{**MEAN, "anchored": {"a": {"low": 0, "high": 1}}}], {}, "low and high of every component"),
    (
        [{"name": "x", "difference": ["a", "b"], "normalised": {}}],
        {},
        "a difference is not rescaled",
    ),
    ([{**ANCHORED, "normalised": {}}], {}, "anchored or normalised, not both"),
    ([{**MEAN, "normalised": {"rounding": "paper", "decimals": {"a": 1}}}], {}, "every component"),
    ([{**MEAN, "normalised": {"decimals": {"a": 1, "b": 1}}}], {}, "else none"),
    (
        [{**MEAN, "normalised": {}}, {"name": "x", "mean_of": ["both"]}],
        {},
        "relative to a set of rows",
    ),
    (
        [MEAN],
        {"correlations": [{"name": "c", "x": {"row": "both"}, "y": {"row": "agg"}}]},
        "'agg', which is no row here",
    ),
    (
        [MEAN],
        {"correlations": [{"name": "c", "x": {"row": "both"}, "y": {"row": "both"}}] * 2},
        "'c' is listed twice",
    ),
]


@pytest.mark.parametrize(("rows", "more", "message"), WRONG)
def test_what_is_wrong_is_one_line(rows, more, message):
    with pytest.raises(SpecError, match=message) as caught:
        spec(*rows, **more)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("x.yaml: ")
