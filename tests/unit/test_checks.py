"""What one YAML says about another, or about the library, is checked before anything runs."""

import copy
from collections import OrderedDict
from types import SimpleNamespace

import pytest
import yaml
from spine_project import CONFIG, PROJECT, edited, plan_of, use_copy_of_library, write
from spine_rows import sample as row

from gensight import datasets
from gensight.errors import SpecError
from gensight.specs.project import load_project
from gensight.stages.sample import sample

ORACLE, MASKS = "config/models/oracle.yaml", "config/benchmarks/tiny_masks.yaml"
DEPTH, TABLE = "config/benchmarks/tiny_depth.yaml", "config/tables/masks.yaml"
GALLERY, CURVES = "config/figures/gallery.yaml", "config/figures/curves.yaml"
COLUMN = PROJECT[TABLE]["columns"][0]
DEPTH_COLUMN = {**COLUMN, "benchmark": "tiny_depth", "scorer": "depth", "metric": "absrel"}
HEAD = {"title": "T", "caption": "C"}
FIGURES = {
    **PROJECT,
    GALLERY: {
        "kind": "gallery",
        **HEAD,
        "task": "segmentation",
        "benchmark": "tiny_masks",
        "scorer": "mask",
        "metric": "giou",
        "metric_label": "IoU",
        "models": [{"model": "oracle"}],
    },
    CURVES: {
        "kind": "disturbance_curves",
        **HEAD,
        "panels": [
            {
                "benchmark": "tiny_depth",
                "scorer": "depth",
                "fit": "depth",
                "metric": "absrel",
                "label": "L",
            }
        ],
        "disturbances": [{"model": "oracle", "label": "L", "unit": "%"}],
    },
}


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path / "library")


def message_of(root, files=PROJECT, config=CONFIG):
    with pytest.raises(SpecError) as caught:
        plan_of(root, files, config).files()
    message = str(caught.value)
    assert "\n" not in message
    assert str(root) not in message
    return message


SETTINGS = "scorers.mask.settings"
MODELS_AND_BENCHMARKS = [
    (
        ORACLE,
        "generation.method",
        "orcale",
        ["method: 'orcale'", "mean 'oracle'", "echo, echo_grey"],
    ),
    (
        ORACLE,
        "generation",
        {},
        ["key 'generation.method' is missing", "allowed: constant, drawer, echo"],
    ),
    (ORACLE, "generation.method", ["oracle"], ["generation.method", "did you mean 'oracle'"]),
    (
        ORACLE,
        "generation.disturbance",
        "shfit",
        ["generation.disturbance: 'shfit'", "did you mean 'shift'", "blur, hue, jpeg, noise, null"],
    ),
    (ORACLE, "generation.bit_depth", 12, ["generation.bit_depth: '12'", "allowed: 16, 8"]),
    (ORACLE, "generation.bit_depth", None, ["generation.bit_depth", "expected int, got null"]),
    (ORACLE, "generation.level", 7, ["generation.level", "'oracle' does not use it", "bit_depth"]),
    (
        ORACLE,
        "prompts",
        ["middl"],
        ["prompts: 'middl'", "did you mean 'mid'", "allowed: mid, plan"],
    ),
    (
        "config/models/planner.yaml",
        "tasks",
        ["depth"],
        ["prompts: 'plan'", "allowed: mid"],
    ),
    (
        MASKS,
        "scorers.mask.parameters",
        {"variants": ["otsu", "otsuu"]},
        [
            "scorers.mask.parameters.variants: 'otsuu'",
            "did you mean 'otsu'",
            "allowed: kmeans",
        ],
    ),
    (MASKS, "scorers.mask.parameters", {"variants": []}, ["variants' is missing", "kmeans"]),
    (MASKS, "scorers.mask.parameters", {"variants": ["otsu"] * 2}, ["'otsu' is listed twice"]),
    (MASKS, SETTINGS, {"failure": "zeroo"}, [f"{SETTINGS}.failure: 'zeroo'", "mean 'zero'"]),
    (MASKS, SETTINGS, {"long_side_px": None}, [f"{SETTINGS}.long_side_px", "int, got null"]),
    (MASKS, "n", 501, ["n: 501 reaches into the held-out ranks", "held_out.first_rank (500)"]),
]
REPORTS = [
    (TABLE, "columns.0.benchmark", "tiny_mask", ["columns.0.benchmark", "mean 'tiny_masks'"]),
    (TABLE, "columns.0.metric", "giuo", ["columns.0.metric", "mean 'giou'", "allowed: ciou, giou"]),
    (TABLE, "columns.0.metric", "delta1", ["columns.0.metric", "allowed: ciou, giou"]),
    (TABLE, "columns.0.scorer", "masks", ["columns.0.scorer", "mean 'mask'"]),
    (TABLE, "columns.0.prompt", "middle", ["columns.0.prompt", "mean 'mid'", "mid, plan"]),
    (TABLE, "columns.0.variant", "otsuu", ["columns.0.variant", "mean 'otsu'"]),
    (TABLE, "columns.0.fit", "depth", ["columns.0.fit: 'depth'", "allowed: null"]),
    (
        TABLE,
        "columns",
        [DEPTH_COLUMN],
        ["'columns.0.fit' is missing", "depth, disparity, monotone"],
    ),
    (TABLE, "columns", [{**DEPTH_COLUMN, "fit": "dept"}], ["columns.0.fit", "mean 'depth'"]),
    (
        TABLE,
        "columns",
        [COLUMN, {**DEPTH_COLUMN, "fit": "depth", "minus_fit": "mono"}],
        ["columns.1.minus_fit: 'mono'", "mean 'monotone'"],
    ),
    (TABLE, "rows", {"models": ["orcle"]}, ["rows.models", "mean 'oracle'"]),
    (GALLERY, "task", "depth", ["task: 'depth'", "allowed: segmentation"]),
    (GALLERY, "scorer", "masks", [": scorer: 'masks'", "mean 'mask'"]),
    (GALLERY, "metric", "giuo", [": metric: 'giuo'", "mean 'giou'"]),
    (GALLERY, "variant", "ots", [": variant: 'ots'", "mean 'otsu'"]),
    (GALLERY, "models.0.model", "orcle", ["models: 'orcle'", "mean 'oracle'"]),
    (CURVES, "panels.0.metric", "absrl", ["panels.0.metric", "mean 'absrel'"]),
    (CURVES, "panels.0.fit", "depht", ["panels.0.fit", "mean 'depth'"]),
    (CURVES, "panels.0.fit", ..., ["'panels.0.fit' is missing"]),
    (CURVES, "panels.0.prompt", "plan", ["panels.0.prompt: 'plan'", "allowed: mid"]),
    (CURVES, "disturbances.0.model", "orcle", ["models: 'orcle'", "mean 'oracle'"]),
]


@pytest.mark.parametrize(("path", "key", "value", "expected"), MODELS_AND_BENCHMARKS + REPORTS)
def test_a_name_that_is_not_there_is_one_line(tmp_path, path, key, value, expected):
    message = message_of(tmp_path, edited(FIGURES, path, key, value))
    assert message.startswith(f"{path}: ")
    for text in expected:
        assert text in message


def test_the_project_with_figures_is_right(tmp_path):
    assert load_project(CONFIG, write(tmp_path, FIGURES)).figures.keys() == {"gallery", "curves"}


def test_a_column_names_a_variant_where_there_are_several(tmp_path):
    files = edited(PROJECT, MASKS, "scorers.mask.parameters", {"variants": ["otsu", "kmeans"]})
    message = message_of(tmp_path, files)
    assert message == f"{TABLE}: key 'columns.0.variant' is missing; allowed: kmeans, otsu"
    assert plan_of(tmp_path, edited(files, TABLE, "columns.0.variant", "kmeans")).files()


def test_variants_that_an_extractor_does_not_declare_are_not_judged(tmp_path, library):
    (library / "extractors/mask.py").write_text("VERSION = 1\nDEFAULTS = {}\n")
    assert plan_of(tmp_path, edited(PROJECT, TABLE, "columns.0.variant", "any")).files()


def test_a_table_called_all_would_overwrite_the_document_of_all_tables(tmp_path):
    message = message_of(tmp_path, {**PROJECT, "config/tables/all.yaml": PROJECT[TABLE]})
    assert message.startswith("config/tables/all.yaml: rename it")


MERGED = "the config (config/config.yaml and any --configfile)"
RUN_EDITS = [
    (
        "run.models",
        ["oracel"],
        ["run.models", "did you mean 'oracle'", "allowed: oracle, planner, sharded"],
    ),
    ("run.benchmarks", ["tiny_dept"], ["run.benchmarks", "did you mean 'tiny_depth'"]),
    ("run.prompts", ["middle"], ["run.prompts", "did you mean 'mid'"]),
    ("run.tables", ["mask"], ["run.tables", "did you mean 'masks'"]),
    ("run.figures", ["curves"], ["run.figures", "'curves'", "allowed: none"]),
    ("run.n", {"tiny": 3}, ["run.n", "'tiny'", "did you mean 'tiny_"]),
    ("run.model", ["oracle"], ["'run.model'", "did you mean 'models'"]),
    ("run.models", "oracle", ["'run.models'", "valid list", "'oracle'"]),
    ("run.benchmarks", ["tiny_depth"], ["run.tables", "'masks' needs the benchmark 'tiny_masks'"]),
    ("ledgre", "x", ["'ledgre'", "did you mean 'ledger'"]),
    ("run.models", ["oracle", "oracle"], ["key 'run.models': 'oracle' is listed twice"]),
    ("run.benchmarks", ["tiny_masks"] * 2, ["'run.benchmarks': 'tiny_masks' is listed twice"]),
    ("run.prompts", ["mid", "plan", "mid"], ["key 'run.prompts': 'mid' is listed twice"]),
    ("run.tables", ["masks", "masks"], ["key 'run.tables': 'masks' is listed twice"]),
    ("run.n", {"tiny_masks": "alll"}, ["key 'run.n.tiny_masks'", "whole number or 'all'"]),
    ("run.n", {"tiny_masks": 0}, ["key 'run.n.tiny_masks'", "greater than or equal to 1"]),
    ("run.n", {"tiny_masks": 501}, ["run.n.tiny_masks: 501 reaches", "first_rank (500)"]),
]


@pytest.mark.parametrize(("key", "value", "expected"), RUN_EDITS)
def test_a_mistake_in_the_run_is_one_line(tmp_path, key, value, expected):
    config = edited({"config": CONFIG}, "config", key, value)["config"]
    message = message_of(tmp_path, config=config)
    assert message.startswith(f"{MERGED}: ")
    for text in expected:
        assert text in message


@pytest.mark.parametrize(("n", "accepted"), [(500, True), (1, True), (501, False)])
def test_the_held_out_ranks_begin_where_the_evaluated_may_end(tmp_path, n, accepted):
    config = edited({"config": CONFIG}, "config", "run.n", {"tiny_masks": n})["config"]
    if accepted:
        assert plan_of(tmp_path, config=config).samples("tiny_masks")["n"] == n
    else:
        message_of(tmp_path, config=config)


def test_an_error_names_the_file_where_only_one_was_read(tmp_path):
    wrong = edited({"config": CONFIG}, "config", "run.models", ["oracel"])["config"]
    read = OrderedDict((key, copy.deepcopy(value)) for key, value in wrong.items())
    alone = message_of(tmp_path, {**PROJECT, "config/config.yaml": wrong}, read)
    assert alone.startswith("config/config.yaml: run.models: 'oracel'")
    merged = message_of(tmp_path, {**PROJECT, "config/config.yaml": CONFIG}, read)
    assert merged.startswith(f"{MERGED}: run.models: 'oracel'")


def test_a_key_given_twice_in_the_config_is_seen_though_snakemake_reads_it(tmp_path):
    text = yaml.safe_dump(CONFIG) + "ledger: elsewhere\n"
    message = message_of(tmp_path, {**PROJECT, "config/config.yaml": text}, yaml.safe_load(text))
    assert message.startswith("config/config.yaml: key 'ledger' is given twice, again on line ")


ALL = {
    "benchmark": "tiny_masks",
    "dataset": "tiny",
    "parameters": {},
    "manifest": None,
    "n": "all",
}


@pytest.mark.parametrize(("first_rank", "accepted"), [(3, True), (4, True), (2, False), (0, False)])
def test_all_samples_may_not_reach_into_the_held_out_ranks(
    tmp_path, monkeypatch, first_rank, accepted
):
    three = SimpleNamespace(population=lambda _: 3, iter_samples=lambda _, ranks: map(row, ranks))
    monkeypatch.setattr(datasets, "load", lambda name: three)
    plan = {**ALL, "held_out": {"first_rank": first_rank, "n": 1}}
    if accepted:
        assert sample(str(tmp_path / "x.parquet"), plan) == 4
        return
    line = (
        r"^config/benchmarks/tiny_masks\.yaml: n: 'all' of 'tiny' are 3 samples, which reach into "
        rf"the held-out ranks; [^\n]* held_out\.first_rank \({first_rank}\)$"
    )
    with pytest.raises(SpecError, match=line):
        sample(str(tmp_path / "x.parquet"), plan)
