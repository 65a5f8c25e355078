from __future__ import annotations

from pathlib import Path

import pytest

from gensight.errors import SpecError
from gensight.specs.aggregates import AggregateSpec
from gensight.specs.base import load_spec, parse
from gensight.specs.benchmark import BenchmarkSpec
from gensight.specs.declared import constants
from gensight.specs.tables import TableSpec

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "config/tables").glob("*.yaml"))
COLUMN = {"benchmark": "scenes", "scorer": "mask", "metric": "giou", "header": "gIoU"}
TABLE = {"title": "T", "caption": "C", "label": "tab:t", "columns": [COLUMN]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colums": []}, r"unknown key 'colums' \(did you mean 'columns'\?\)"),
        ({"columns": []}, "key 'columns'"),
        ({"columns": [COLUMN | {"metrics": "giou"}]}, r"did you mean 'metric'"),
        ({"columns": [COLUMN | {"scale": "100"}]}, "columns.0.scale"),
        ({"columns": [COLUMN | {"statistic": "mean"}]}, "'valid_only'"),
        ({"columns": [COLUMN | {"benchmark": "Ref COCO"}]}, "columns.0.benchmark"),
        ({"columns": [COLUMN | {"minus_fit": "monotone"}]}, "minus_fit needs a fit"),
        ({"options": {"bold": "all"}}, "'best_per_group'"),
        ({"options": {"failed_above": 0}}, "greater than 0"),
        ({"rows": {"models": "all"}}, "rows.models"),
        ({"label": None}, "key 'label'"),
    ],
)
def test_a_wrong_table_is_one_clear_line(changes, message):
    with pytest.raises(SpecError, match=message) as caught:
        parse("config/tables/t.yaml", TableSpec, TABLE | changes)
    assert str(caught.value).startswith("config/tables/t.yaml: ")
    assert "\n" not in str(caught.value)


def test_defaults_and_what_a_table_needs():
    columns = [COLUMN, COLUMN | {"benchmark": "other"}, COLUMN | {"fit": "depth"}]
    spec = parse("t.yaml", TableSpec, TABLE | {"columns": columns})
    assert spec.benchmarks == ["scenes", "other"]
    assert spec.model_names == []
    assert (spec.columns[0].prompt, spec.columns[0].scale, spec.columns[0].decimals) == (
        "mid",
        1.0,
        1,
    )
    listed = parse("t.yaml", TableSpec, TABLE | {"rows": {"models": ["b", "a"]}})
    assert listed.model_names == ["b", "a"]


def test_tables_are_shipped():
    assert {path.stem for path in SHIPPED} >= {"segmentation", "depth", "counting", "normals"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_tables_name_cells_that_exist(path):
    spec = load_spec(path, TableSpec)
    for column in spec.numbers.values():
        sweep = ROOT / f"config/sweeps/{column.benchmark}.yaml"
        if sweep.exists():
            assert column.model in ("previous", "argmin", "adopted")
            continue
        aggregate = ROOT / f"config/aggregates/{column.benchmark}.yaml"
        if aggregate.exists():
            assert (column.prompt, column.scorer) == ("all", "aggregate")
            assert column.metric in load_spec(aggregate, AggregateSpec).metrics
            continue
        benchmark = load_spec(ROOT / f"config/benchmarks/{column.benchmark}.yaml", BenchmarkSpec)
        scorer = benchmark.scorers[column.scorer]
        assert column.metric in scorer.metrics
        assert column.prompt in (scorer.prompts or benchmark.prompts)
        defaults = constants("extractors", scorer.extractor)["DEFAULTS"]
        variants = scorer.parameters.get("variants") or defaults.get("variants", [None])
        read = None if column.variant is None else column.variant.removesuffix("_consensus")
        assert read in variants or (read is None and len(variants) == 1)


def test_a_row_of_settings_replaces_keys_of_its_columns():
    entry = {"label": "K-means", "select": {"variant": "kmeans"}, "decimals": 2}
    spec = parse("t.yaml", TableSpec, TABLE | {"rows": {"entries": [entry]}})
    (column,) = spec.numbers.values()
    assert (column.variant, column.decimals) == ("kmeans", 2)
    assert spec.columns[0].variant is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": {"entries": [{"label": "x", "select": {"benchmark": "b"}}]}}, "'benchmark'"),
        ({"columns": [COLUMN | {"subject": 0}]}, "name them under `subjects`"),
        ({"rows": {"models": "subjects"}}, "name them under `subjects`"),
        ({"subjects": "s", "columns": [COLUMN | {"subject": 0, "model": "m"}]}, "not both"),
        ({"columns": [COLUMN | {"hosted": "never"}]}, "'dagger'"),
        ({"published": {"paper": "another", "table": 1}}, "'probegen'"),
    ],
)
def test_a_wrong_ablation_is_one_clear_line(changes, message):
    with pytest.raises(SpecError, match=message) as caught:
        parse("config/tables/t.yaml", TableSpec, TABLE | changes)
    assert "\n" not in str(caught.value)
