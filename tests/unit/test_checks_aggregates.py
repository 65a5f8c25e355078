"""What an aggregate says about benchmarks, models and other aggregates is checked beforehand."""

from __future__ import annotations

import pytest
from spine_project import CONFIG, PROJECT, plan_of, use_copy_of_library

from gensight.errors import SpecError
from gensight.plan import paths

NUMBER = {
    "benchmark": "tiny_masks",
    "scorer": "mask",
    "variant": "otsu",
    "metric": "giou",
}
PLAIN = {
    "numbers": {"one": NUMBER},
    "rows": [{"name": "mean", "mean_of": ["one"]}],
}
SIDE = {"aggregate": "scores", "row": "mean"}
CORRELATED = {"correlations": [{"name": "pair", "x": SIDE, "y": SIDE}]}
MEAN = {"benchmark": "scores", "prompt": "all", "scorer": "aggregate", "metric": "mean"}
TABLE = {
    **PROJECT["config/tables/masks.yaml"],
    "columns": [{**MEAN, "header": "Mean"}],
}


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path / "library")


def with_aggregates(**aggregates):
    files = {f"config/aggregates/{name}.yaml": spec for name, spec in aggregates.items()}
    return {**PROJECT, **files, "config/tables/masks.yaml": TABLE}


def message_of(root, files):
    with pytest.raises(SpecError) as caught:
        plan_of(root, files, CONFIG).files()
    return str(caught.value)


def changed(**number):
    return {**PLAIN, "numbers": {**PLAIN["numbers"], "one": {**NUMBER, **number}}}


def test_an_aggregate_is_planned_behind_its_scores(tmp_path):
    files = plan_of(tmp_path, with_aggregates(scores=PLAIN), CONFIG).files()
    planned = files[paths.aggregate_path("scores")]
    assert planned.inputs and all(path.endswith("/mask.parquet") for path in planned.inputs)
    assert paths.aggregate_path("scores") in files["results/tables/masks.tex"].inputs
    order = list(files)
    assert max(map(order.index, planned.inputs)) < order.index(planned.path)


def test_a_correlation_brings_the_aggregates_that_it_needs(tmp_path):
    table = {
        **TABLE,
        "columns": [{**TABLE["columns"][0], "benchmark": "pairs", "metric": "pearson"}],
    }
    files = {**with_aggregates(scores=PLAIN, pairs=CORRELATED), "config/tables/masks.yaml": table}
    planned = plan_of(tmp_path, files, CONFIG).files()
    assert planned[paths.aggregate_path("pairs")].inputs == (paths.aggregate_path("scores"),)
    order = list(planned)
    assert order.index(paths.aggregate_path("scores")) < order.index(paths.aggregate_path("pairs"))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (changed(benchmark="tiny_maks"), "numbers.one.benchmark: 'tiny_maks'"),
        (changed(metric="gaiou"), "numbers.one.metric: 'gaiou'"),
        (changed(variant="ostu"), "numbers.one.variant: 'ostu'"),
        (
            {
                **PLAIN,
                "rows": [
                    {"name": "mean", "mean_of": ["one"]},
                    {
                        "name": "agg",
                        "mean_of": ["one"],
                        "normalised": {"row_set": ["orcale"], "rounding": "none"},
                    },
                ],
            },
            "rows.1.normalised.row_set: 'orcale'",
        ),
    ],
)
def test_a_name_that_is_not_there_is_one_line(tmp_path, spec, expected):
    message = message_of(tmp_path, with_aggregates(scores=spec))
    assert message.startswith("config/aggregates/scores.yaml: ") and expected in message


def test_the_row_of_another_aggregate_must_be_there(tmp_path):
    lost = {"correlations": [{**CORRELATED["correlations"][0], "name": "pair"}]}
    lost["correlations"][0]["x"] = {"aggregate": "scores", "row": "maen"}
    message = message_of(tmp_path, with_aggregates(scores=PLAIN, pairs=lost))
    assert "config/aggregates/pairs.yaml: correlations.0.x.row: 'maen'" in message


def test_aggregates_in_a_circle_are_named(tmp_path):
    def needing(other):
        pair = {"name": "pair", "x": {"row": "mean"}, "y": {"aggregate": other, "row": "mean"}}
        return {**PLAIN, "correlations": [pair]}

    message = message_of(tmp_path, with_aggregates(one=needing("two"), two=needing("one")))
    assert "one needs two needs one, which is a circle" in message


def test_the_name_of_a_benchmark_is_taken(tmp_path):
    files = {**PROJECT, "config/aggregates/tiny_masks.yaml": PLAIN}
    assert "there is a benchmark of this name" in message_of(tmp_path, files)
