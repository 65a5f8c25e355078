"""Every mistake in a YAML is one line: file, key and allowed values, nearest known key first."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from spine_project import CONFIG, PROJECT, edited, plan_of, read_from, use_copy_of_library, write

from gensight.errors import SpecError
from gensight.plan import Plan
from gensight.specs import declared
from gensight.specs.base import load_spec, read_yaml
from gensight.specs.model import ModelSpec
from gensight.specs.project import load_or_exit, load_project

ROOT = Path(__file__).resolve().parents[2]
ORACLE, MASKS = "config/models/oracle.yaml", "config/benchmarks/tiny_masks.yaml"
MID, TABLE = "resources/prompts/segmentation/mid.yaml", "config/tables/masks.yaml"
DEPTH_MID = "resources/prompts/depth/mid.yaml"
SCORER = PROJECT[MASKS]["scorers"]["mask"]


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


def test_the_small_project_is_right(tmp_path):
    assert plan_of(tmp_path).files()


# Each edit of one file, and what the line must hold.
EDITS = [
    (
        ORACLE,
        "dispaly",
        {"label": "x"},
        [
            "unknown key 'dispaly' (did you mean 'display'?)",
            "allowed: adapter, answered_as, answers",
        ],
    ),
    (
        ORACLE,
        "display.lable",
        "x",
        ["'display.lable' (did you mean 'label'?)", "allowed: group, label, note, order"],
    ),
    (ORACLE, "limits", {"in_flihgt": 2}, ["'limits.in_flihgt' (did you mean 'in_flight'?)"]),
    (ORACLE, "display", ..., ["key 'display' is missing"]),
    (ORACLE, "display.label", ..., ["key 'display.label' is missing"]),
    (
        ORACLE,
        "adapter",
        "referense",
        ["adapter", "'referense'", "(did you mean 'reference'?)", "allowed: anthropic_messages, "],
    ),
    (
        ORACLE,
        "generation.methd",
        "oracle",
        ["generation", "'methd'", "did you mean 'method'", "allowed: bit_depth, "],
    ),
    (ORACLE, "generation.bit_depth", "eight", ["generation.bit_depth", "expected int", "'eight'"]),
    (ORACLE, "generation.bit_depth", True, ["generation.bit_depth", "expected int", "True"]),
    (ORACLE, "role", "celing", ["'role'", "'measured', 'ceiling', 'floor'", "'celing'"]),
    (ORACLE, "failed_above", 1.5, ["'failed_above'", "less than or equal to 1", "1.5"]),
    (ORACLE, "display.order", "10", ["'display.order'", "whole number", "'10'"]),
    (ORACLE, "tasks", ["deepth"], ["'tasks.0'", "'segmentation', 'depth'", "'deepth'"]),
    (
        MASKS,
        "dataset.module",
        "tinny",
        ["dataset.module", "'tinny'", "did you mean 'tiny'", "allowed: tiny"],
    ),
    (
        MASKS,
        "dataset.parameters.sed",
        1,
        [
            "dataset.parameters",
            "'sed'",
            "did you mean 'seed'",
            "allowed: flag, note, ratio, seed, size",
        ],
    ),
    (MASKS, "dataset.parameters.seed", 0.5, ["dataset.parameters.seed", "expected int", "0.5"]),
    (MASKS, "dataset.parameters.flag", 1, ["dataset.parameters.flag", "expected bool", "1"]),
    (
        MASKS,
        "prompts",
        ["middle"],
        ["prompts", "'middle'", "did you mean 'mid'", "allowed: mid, plan"],
    ),
    (
        MASKS,
        "scorers.mask.extractor",
        "masks",
        ["scorers.mask.extractor", "'masks'", "did you mean 'mask'", "depth, dots, "],
    ),
    (
        MASKS,
        "scorers.mask.measure",
        "overlaps",
        ["scorers.mask.measure", "'overlaps'", "did you mean 'overlap'"],
    ),
    (
        MASKS,
        "scorers.mask.metrics",
        ["giuo"],
        ["scorers.mask.metrics", "'giuo'", "did you mean 'giou'", "allowed: absrel, "],
    ),
    (
        MASKS,
        "scorers.mask.metrics",
        ["mae"],
        ["scorers.mask.metrics", "'mae'", "'count_match'", "'overlap'"],
    ),
    (MASKS, "scorers.mask.metrics", [], ["scorers.mask.metrics", "at least 1 item"]),
    (
        MASKS,
        "scorers.mask.parameters",
        {"variant": ["otsu"]},
        ["scorers.mask.parameters", "'variant'", "did you mean 'variants'"],
    ),
    (
        MASKS,
        "scorers.mask.settings",
        {"failuer": "zero"},
        ["scorers.mask.settings", "'failuer'", "did you mean 'failure'"],
    ),
    (
        MASKS,
        "scorers.mask.extracter",
        "mask",
        [
            "'scorers.mask.extracter'",
            "did you mean 'extractor'",
            "allowed: across, encoder, extractor, ",
        ],
    ),
    (
        MASKS,
        "held_out.first_rank",
        19,
        ["n: 20 reaches into the held-out ranks", "held_out.first_rank (19)"],
    ),
    (MASKS, "exif", "aply", ["'exif'", "'apply' or 'ignore'", "'aply'"]),
    (MID, "task", "depth", ["task", "'depth'", "'segmentation'"]),
    (
        MID,
        "turns.0.parts.0",
        {"image": "input", "text": "x"},
        ["'turns.0.parts.0'", "exactly one of text, image and reply"],
    ),
    (MID, "turns.0.parts.0", {"reply": 0}, ["turn 0 cites the reply to turn 0"]),
    (
        MID,
        "turns.0.answer_form",
        {"kind": "maks"},
        ["turns.0.answer_form", "'mask', 'depth'", "maks"],
    ),
    (
        MID,
        "turns.0.answer_form.foreground",
        [0, 0, 256],
        ["foreground", "less than or equal", "256"],
    ),
    (
        TABLE,
        "columns.0.benchmark",
        "tiny_mask",
        ["benchmark", "'tiny_mask'", "did you mean 'tiny_masks'"],
    ),
    (TABLE, "columns.0.metrik", "giou", ["'columns.0.metrik'", "did you mean 'metric'"]),
]


@pytest.mark.parametrize(("path", "key", "value", "expected"), EDITS)
def test_a_mistake_is_one_line(tmp_path, path, key, value, expected):
    message = message_of(tmp_path, edited(PROJECT, path, key, value))
    assert message.startswith(f"{path}: ")
    for text in expected:
        assert text in message


FORM, TEXT = "turns.0.answer_form", "turns.0.parts.1.text"
UNIONS = [
    (
        DEPTH_MID,
        f"{FORM}.naer",
        "bright",
        [f"key '{FORM}.naer' (did you mean 'near'?)", "kind, near"],
    ),
    (DEPTH_MID, FORM, {"near": "bright"}, [f"key '{FORM}.kind' is missing"]),
    (DEPTH_MID, FORM, {"kind": "depth"}, [f"key '{FORM}.near' is missing"]),
    (DEPTH_MID, FORM, {"kind": "depth", "near": "brihgt"}, [f"'{FORM}.near'", "mean 'bright'?"]),
    (DEPTH_MID, FORM, {"kind": "depht"}, [f"key '{FORM}'", "did you mean 'depth'?"]),
    (MID, f"{FORM}.colour", [255, 0, 0], [f"'{FORM}.colour'", "allowed: background, foreground"]),
    (MASKS, "n", "twenty", ["key 'n': Input should be a whole number or 'all' (got 'twenty')"]),
    (MASKS, "n", None, ["key 'n'", "whole number or 'all' (got null)"]),
    (MASKS, "n", True, ["key 'n'", "whole number or 'all' (got True)"]),
    (MASKS, "n", 0, ["key 'n'", "greater than or equal to 1 or 'all' (got 0)"]),
    (MASKS, "n", -1, ["key 'n'", "greater than or equal to 1 or 'all' (got -1)"]),
    (MASKS, "held_out.frist_rank", 5, ["'held_out.frist_rank' (did you mean 'first_rank'?)"]),
    # A scorer may be called like a field of a scorer.
    (MASKS, "scorers.measure", {"extracter": "mask"}, ["'scorers.measure.extracter'", "extractor"]),
    (TABLE, "rows", {"models": "rum"}, ["key 'rows.models'", "'run'", "or a valid list"]),
    (TABLE, "rows", {"models": ["oracle", 1]}, ["key 'rows.models.1'", "valid string (got 1)"]),
]

VALUES = [
    (MID, TEXT, "Paint {qurey}.", [f"'{TEXT}'", "'{qurey}' is no placeholder", "known", "query"]),
    (
        MID,
        TEXT,
        "Paint {query.",
        [f"'{TEXT}'", "brace without its partner", "{{ and }} for braces"],
    ),
    (MID, TEXT, "Paint {query!r}.", [f"'{TEXT}'", "'{query!r}' is no placeholder"]),
    (MASKS, "scorers", {"a/b": SCORER}, ["key 'scorers.a/b'", "a name of a-z, 0-9 and _"]),
    (MASKS, "prompts", ["mid", "mid"], ["key 'prompts': 'mid' is listed twice"]),
    (MASKS, "scorers.mask.metrics", ["giou", "giou"], ["metrics': 'giou' is listed twice"]),
    (TABLE, "rows", {"models": ["oracle", "oracle"]}, ["'rows.models': 'oracle' is listed twice"]),
]


@pytest.mark.parametrize(("path", "key", "value", "expected"), UNIONS + VALUES)
def test_a_mistake_in_a_value_is_one_line(tmp_path, path, key, value, expected):
    message = message_of(tmp_path, edited(PROJECT, path, key, value))
    assert message.startswith(f"{path}: ")
    for text in expected:
        assert text in message


TEXTS = [
    ("adapter: reference\nadapter: reference\n", ["key 'adapter' is given twice", "line 2"]),
    ("display: {label: a, label: b}\n", ["key 'label' is given twice", "line 1"]),
    ("adapter: [reference\n", ["not valid YAML", "line 2"]),
    ("- adapter\n", ["expected a mapping"]),
    ("", ["expected a mapping"]),
    ("adapter: !!python/object/apply:os.system [ls]\n", ["not valid YAML"]),
    ("1: 2\nadapter: reference\ndisplay: {label: x}\n", ["key '1'", "strings"]),
    ("adapter: reference\ndisplay: {{label}}\n", ["line 2: ", "cannot be a key", "quotes"]),
    ("{{adapter}}: 1\n", ["line 1: ", "cannot be a key", "quotes"]),
    ("? [a, b]\n: 1\n", ["line 1: ", "cannot be a key"]),
    ("display: {<<: {[a]: 1}}\n", ["line 1: ", "cannot be a key"]),
    ("display: {<<: 1}\n", ["line 1: << merges mappings, not 1"]),
    ("generation: {a: {b: [{c: 1, d: 2, c: 3}]}}\n", ["key 'c' is given twice", "line 1"]),
    ("display: {label: 2024-02-30}\n", ["not valid YAML", "day is out of range"]),
    ("display: {label: !!bool maybe}\n", ["not valid YAML", "tag"]),
    (
        "adapter: google_generate\ngeneration: {snapshot: 2024-02-03}\ndisplay: {label: x}\n",
        ["key 'generation.snapshot'", "a date needs quotes"],
    ),
    ("adapter: ark_images\ngeneration: {a: {1: 2}}\ndisplay: {label: x}\n", ["'generation.a.1'"]),
]

# << fills in what a mapping does not say itself; nothing of it counts as given twice.
MERGES = [
    ("{<<: {label: a, note: b}, label: c}", {"label": "c", "note": "b"}),
    ("{label: c, <<: {label: a, note: b}}", {"label": "c", "note": "b"}),
    ("{<<: [{note: a}, {note: b, label: c}]}", {"note": "a", "label": "c"}),
]


@pytest.mark.parametrize(("text", "expected"), MERGES)
def test_merged_mappings_are_no_repeated_keys(tmp_path, text, expected):
    path = tmp_path / "x.yaml"
    path.write_text(f"first: &anchor {text}\nsecond: {{<<: *anchor, order: 1}}\n")
    assert read_yaml(path) == {"first": expected, "second": {**expected, "order": 1}}


def test_a_folder_in_the_place_of_a_file_is_one_line(tmp_path):
    (tmp_path / "x.yaml").mkdir()
    with pytest.raises(SpecError, match=r"x\.yaml: cannot be read: [^\n]*$"):
        read_yaml(tmp_path / "x.yaml")


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_file_that_is_no_mapping_is_one_line(tmp_path, text, expected):
    message = message_of(tmp_path, {**PROJECT, ORACLE: text})
    assert message.startswith(f"{ORACLE}: ")
    for part in expected:
        assert part in message


def test_bytes_that_are_no_text_are_one_line(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(b"adapter: \xff\xfe\n")
    with pytest.raises(SpecError, match=r"x.yaml: not valid YAML: [^\n]*$"):
        read_yaml(path)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(SpecError, match=r"nothing\.yaml: this file does not exist; [^\n]*$"):
        load_spec(tmp_path / "nothing.yaml", ModelSpec)


def test_a_file_name_with_capitals_is_refused(tmp_path):
    files = {**PROJECT, "config/models/Oracle2.yaml": PROJECT[ORACLE]}
    assert "Oracle2.yaml" in message_of(tmp_path, files)


def test_a_typo_in_a_key_outranks_the_missing_key_it_causes(tmp_path):
    files = edited(edited(PROJECT, ORACLE, "adapter", ...), ORACLE, "adaptor", "reference")
    assert "unknown key 'adaptor' (did you mean 'adapter'?)" in message_of(tmp_path, files)


def test_two_scorers_must_agree_on_the_parameters_of_one_extractor(tmp_path):
    second = {
        "extractor": "mask",
        "measure": "overlap",
        "metrics": ["giou"],
        "parameters": {"variants": ["kmeans"]},
    }
    message = message_of(tmp_path, edited(PROJECT, MASKS, "scorers.again", second))
    assert "scorers.again.parameters" in message


def test_all_of_a_data_set_without_end_is_refused(tmp_path):
    message = message_of(tmp_path, edited(PROJECT, MASKS, "n", "all"))
    assert message.startswith(f"{MASKS}: n: 'all' needs a data set of known size")


def test_leaving_prints_one_line_and_ends_with_status_1(tmp_path, capsys):
    write(tmp_path, edited(PROJECT, ORACLE, "adapter", "x"))
    with pytest.raises(SystemExit) as caught:
        load_or_exit(CONFIG, tmp_path)
    assert caught.value.code.startswith(f"gensight: {ORACLE}: adapter: 'x'")


def test_an_adapter_that_is_planned_but_not_here_plans(tmp_path):
    files = edited(PROJECT, ORACLE, "adapter", "published")
    files = edited(files, ORACLE, "generation", {"anything": [1, {"goes": None}]})
    assert plan_of(tmp_path, files).files()


def test_specs_are_frozen(tmp_path):
    write(tmp_path)
    spec = load_spec(tmp_path / ORACLE, ModelSpec)
    with pytest.raises(ValueError, match="frozen"):
        spec.adapter = "other"


def shipped_config():
    return yaml.safe_load((ROOT / "config/config.yaml").read_text())


def test_every_shipped_yaml_loads_and_plans(monkeypatch):
    read_from(monkeypatch, ROOT / "src/gensight")
    plan = Plan(load_project(shipped_config(), ROOT))
    files = plan.files()
    assert {planned.stage for planned in files.values()} >= {"samples", "scores", "tables"}
    assert len(plan.project.models) == len(list(ROOT.glob("config/models/*.yaml")))
    # A file with sizes is a prompt for each of them.
    files_of_prompts = ROOT.glob("resources/prompts/*/*.yaml")
    sizes = [yaml.safe_load(path.read_text()).get("sizes", [None]) for path in files_of_prompts]
    assert len(plan.project.prompts) == sum(map(len, sizes))


def test_planning_imports_no_array_library(tmp_path):
    write(tmp_path, {**PROJECT, "config/config.yaml": CONFIG})
    code = f"""
import sys, yaml
from pathlib import Path
from gensight import freshness
from gensight.plan import Plan
from gensight.specs import declared
from gensight.specs.project import load_project
declared.PACKAGE = Path({str(declared.PACKAGE)!r})
plan = Plan(load_project(yaml.safe_load(open("config/config.yaml")), Path.cwd()))
files = plan.files()
freshness.settle(files, plan.project, main_process=True)
heavy = {{"numpy", "pyarrow", "pandas", "cv2", "torch", "PIL", "scipy", "skimage"}}
print(len(files), sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.split(maxsplit=1)[1] == "[]\n"
