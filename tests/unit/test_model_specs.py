"""The shipped model specs: names, tasks, places, exposure, and the page that lists them."""

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from gensight.published import load, select
from gensight.specs.base import load_spec
from gensight.specs.model import ModelSpec
from gensight.specs.prompt import Task
from gensight.specs.protocols import PROTOCOLS

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted((ROOT / "config/models").glob("*.yaml"))
SPECS = {path.stem: load_spec(path, ModelSpec) for path in PATHS}
OTHERS = {name: spec for name, spec in SPECS.items() if spec.display.group != "reference"}
#: Models that read what is looked for, and no instruction.
PHRASE_READERS = {"sam3", "sam3_qwen3_vl_8b_thinking", "sam3_qwen3_vl_32b_thinking_fp8"}
#: Tasks of grids; what answers them answers in words.
PIXEL_TASKS = ["text_to_pixel", "image_to_pixel", "pixel_understanding"]
#: Models that PixelBench measures on everything but, for one of them, pictures.
DRAWN_BY_WORDS = [
    "gpt_6_astra",
    "claude_opus_5",
    "gpt_5_6_sol",
    "kimi_k3",
    "gemini_3_6_flash",
    "seed_2_1_pro",
    "deepseek_v4_pro",
]
BASELINES = [name for name, spec in SPECS.items() if spec.display.group == "pixelisation"]
TASK_OF_TABLE = {1: "segmentation", 2: "segmentation", 3: "depth", 4: "counting"}
# Rows of Tables 1 and 9 in the order of print.
PRINTED_ORDER = {
    1: [
        "sam3_qwen3_vl_8b_thinking",
        "sam3_qwen3_vl_32b_thinking_fp8",
        "qwen3_vl_8b_samtok",
        "vision_banana",
        "nano_banana_pro",
        "nano_banana_2",
        "gpt_image_2",
        "seedream_4_5",
        "seedream_5_0_lite",
        "flux_2_dev_nf4",
        "qwen_edit_2511",
    ],
    9: [
        "sam3_qwen3_vl_8b_thinking",
        "sam3_qwen3_vl_32b_thinking_fp8",
        "qwen3_vl_8b_samtok",
        "depth_anything_v2_large",
        "countgd_pp",
        "marigold_v1_1",
        "lotus_2",
        "gemini_3_5_flash",
        "gpt_5_4",
        "claude_opus_4_7",
        "nano_banana_pro",
        "nano_banana_2",
        "gpt_image_2",
        "seedream_4_5",
        "seedream_5_0_lite",
        "flux_2_dev_nf4",
        "qwen_edit_2511",
    ],
}


def printed_models(paper, *tables):
    """Return the models that a paper prints in these tables, in order."""
    rows = [cell.model for table in tables for cell in load(paper, table, ROOT)]
    return list(dict.fromkeys(rows))


def specs_by_printed_name(paper):
    names = [spec.published[paper] for spec in SPECS.values() if paper in spec.published]
    assert len(names) == len(set(names))
    return {s.published[paper]: name for name, s in SPECS.items() if paper in s.published}


def test_labels_and_places_are_unique():
    labels = [spec.display.label for spec in SPECS.values()]
    assert len(labels) == len(set(labels))
    orders = [spec.display.order for spec in SPECS.values()]
    assert len(orders) == len(set(orders))


def test_groups():
    groups = {spec.display.group for spec in OTHERS.values()}
    assert groups == {"specialist", "mllm", "generalist", "pixelisation"}
    painted_here = {name for name, spec in SPECS.items() if spec.adapter == "reference"}
    assert painted_here.isdisjoint(OTHERS)
    assert all(spec.role != "measured" for name, spec in SPECS.items() if name not in OTHERS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_file_starts_by_saying_what_it_is(path):
    assert re.match(r"# \S.{15,}", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", OTHERS)
def test_a_spec_fits_its_protocol(name):
    spec = OTHERS[name]
    assert spec.adapter in PROTOCOLS
    assert set(spec.tasks or ()) <= set(get_args(Task))
    assert spec.role == ("published" if spec.kind == "published" else "measured")
    if spec.kind == "hosted":
        assert (spec.limits.gpu, spec.shard_size) == (0, None)
        assert spec.limits.in_flight > 1
    elif spec.adapter == "pixelise":
        assert (spec.limits.gpu, spec.generation["method"]) == (0, name)
    elif spec.kind != "published":
        assert spec.limits.gpu == 1
        assert spec.shard_size is not None
    names = {"model", "agent", "weights", "repository"} & set(spec.generation)
    assert bool(names) is (spec.kind != "published" and spec.adapter != "pixelise")


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_answers_what_it_is_asked_for(name):
    spec = OTHERS[name]
    says = name in ("countgd_pp", *BASELINES) or spec.display.group == "mllm"
    assert spec.answers == ("text" if says and spec.kind != "published" else "image")
    if name == "gemini_3_5_flash_judge":
        assert (spec.tasks, spec.prompts) == ([], None)
    elif name in DRAWN_BY_WORDS:
        blind = name == "deepseek_v4_pro"  # it reads no pictures
        tasks = ["text_to_pixel", "pixel_understanding"] if blind else ["counting", *PIXEL_TASKS]
        assert (spec.tasks, spec.prompts) == (tasks, None)
    elif name in BASELINES:
        assert spec.prompts is None
        assert spec.kind == "published" or spec.tasks == ["image_to_pixel"]
    elif says:
        assert (spec.tasks, spec.prompts) == (["counting"], ["integer"])
    else:
        assert spec.prompts == (["target"] if name in PHRASE_READERS else None)


def test_every_model_that_probegen_prints_has_one_spec():
    named = specs_by_printed_name("probegen")
    printed = set(printed_models("probegen", 1, 2, 3, 4, 9))
    assert set(named) == printed
    assert len(printed) == 18


@pytest.mark.parametrize("table", PRINTED_ORDER)
def test_rows_stand_in_the_order_of_print(table):
    named = specs_by_printed_name("probegen")
    printed = [named[model] for model in printed_models("probegen", table)]
    assert printed == PRINTED_ORDER[table]
    assert sorted(printed, key=lambda name: SPECS[name].display.order) == printed


@pytest.mark.parametrize("table", TASK_OF_TABLE)
def test_a_model_is_asked_what_the_paper_asked_it_also_where_it_fails(table):
    cells = load("probegen", table, ROOT)
    for model, name in specs_by_printed_name("probegen").items():
        asked = [c for c in select(cells, model=model) if c.status != "unavailable"]
        if asked:
            assert TASK_OF_TABLE[table] in SPECS[name].tasks


def test_names_of_other_papers_are_in_print():
    assert set(specs_by_printed_name("genius")) <= set(printed_models("genius", 2))
    assert set(specs_by_printed_name("pixelbench")) == set(printed_models("pixelbench", 1, 2, 25))
    papers = {paper for spec in SPECS.values() for paper in spec.published}
    assert papers == {"probegen", "genius", "pixelbench"}


def test_settings_of_pixelbench_are_those_of_its_table_18():
    cells = load("pixelbench", 18, ROOT)
    assert [specs_by_printed_name("pixelbench")[m] for m in printed_models("pixelbench", 18)] == (
        DRAWN_BY_WORDS
    )
    for printed, name in specs_by_printed_name("pixelbench").items():
        if name in BASELINES:
            continue
        asked = SPECS[name].generation
        told = {cell.metric: cell for cell in select(cells, model=printed, benchmark="T2P")}
        limit = next(v for k, v in asked.items() if k in ("max_tokens", "max_output_tokens"))
        assert limit == told["max_output_tokens"].value
        temperature = float(told["temperature"].value)
        # Anthropic's requests have no such field.
        found = asked.get("temperature", "provider_default")
        assert found == ("provider_default" if temperature == 1.0 else temperature)


def test_models_beyond_the_tables():
    """GPT-Image 1 and 1.5 and four probed models were tried; three are named as next.

    Three are tools of the papers, one is hosted where they run its sister themselves, and the rest
    runs here beside theirs.
    """
    tried = {"gpt_image_1", "gpt_image_1_5", "bagel", "omnigen2", "lance", "uno"}
    following = {"emu3_5", "uniworld", "sensenova_u1"}
    beside = {"gemini_3_pro", "gemini_3_5_flash_judge", "gemini_3_8_flash", "flux_2_pro"}
    beside |= {"sam3", "depth_anything_3", "marigold_normals_v1_1", "flux_2_klein", "omnigen_v1"}
    beside |= {"qwen3_vl_8b_instruct", "qwen2_5_vl_7b", "molmo2_8b"}
    stands_for = {"pyxelate_like"}
    unprinted = {name for name, spec in OTHERS.items() if "probegen" not in spec.published}
    assert unprinted >= tried | following | beside | stands_for
    left = unprinted - tried - following - beside - stands_for
    assert all(OTHERS[name].published for name in left)
    assert "stands for" in SPECS["pyxelate_like"].display.note
    for name in beside:
        assert not SPECS[name].published
        assert "in none of the" in SPECS[name].display.note
    for name in tried | following:
        note = SPECS[name].display.note
        assert ("tried by ProbeGen" in note) is (name in tried)


def test_what_is_gone_is_not_asked_and_what_answers_in_another_s_place_is_not_taken():
    retired = {name: str(spec.retired.date) for name, spec in SPECS.items() if spec.retired}
    assert retired == {
        "gemini_3_pro": "2026-03-09",
        "gpt_image_1": "2026-10-23",
        "gpt_image_1_5": "2026-12-01",
        "nano_banana": "2027-03-15",
    }
    assert SPECS["gemini_3_5_flash"].answered_as == []
    # A judge that answers under another id goes on; tables say which version judged.
    taken = {name: spec.answered_as for name, spec in SPECS.items() if spec.answered_as}
    assert taken["gemini_3_5_flash_judge"] == ["gemini-3.6-flash"]


@pytest.mark.parametrize("name", [name for name, spec in OTHERS.items() if spec.kind == "hosted"])
def test_a_hosted_model_says_its_pace(name):
    limits = SPECS[name].limits
    assert limits.requests_per_minute or limits.images_per_minute
    assert limits.seconds_per_answer is not None
    images = SPECS[name].answers == "image"
    assert (limits.images_per_minute is not None) is images


def test_known_exposure():
    exposed = {name: set(spec.exposure) for name, spec in SPECS.items() if spec.exposure}
    assert exposed == {
        "qwen_edit_2511": {"depth"},
        "qwen3_vl_8b_samtok": {"refcoco", "refcoco_plus", "refcocog"},
    }
    for name in exposed:
        assert all("ProbeGen" in why for why in SPECS[name].exposure.values())


def test_depth_spaces_with_their_sources():
    spaces = {n: s.output_space.space for n, s in SPECS.items() if s.output_space is not None}
    assert spaces == {
        "depth_anything_3": "depth",
        "depth_anything_v2_large": "disparity",
        "lotus_2": "disparity",
        "marigold_v1_1": "depth",
    }
    for name in spaces:
        assert SPECS[name].display.group == "specialist"
        assert "repository" in SPECS[name].output_space.source


def test_thinking_is_said_where_the_name_says_it():
    thinking = {name: spec.thinking for name, spec in SPECS.items() if spec.thinking is not None}
    assert thinking == {
        "sam3_qwen3_vl_8b_thinking": True,
        "sam3_qwen3_vl_32b_thinking_fp8": True,
        "bagel": False,
    }


def rows_of_the_page():
    """Return the table rows of docs/models.md as lists of cells, by model id."""
    lines = (ROOT / "docs/models.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row for row in rows if re.fullmatch(r"`[a-z0-9_]+`", row[0])}


def test_the_page_lists_every_model():
    assert set(rows_of_the_page()) == set(SPECS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_row_of_the_page_says_what_the_file_says(path):
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    _, label, adapter, asked_for, assumed = rows_of_the_page()[path.stem]
    assert (label, adapter) == (spec["display"]["label"], f"`{spec['adapter']}`")
    keys = [key for key in spec.get("generation", {}) if key.startswith("assumed_")]
    assert assumed == (", ".join(f"`{key[len('assumed_') :]}`" for key in keys) or "–")
    for key in ("model", "agent", "segmenter", "weights"):
        assert spec.get("generation", {}).get(key, "") in asked_for


def test_the_page_says_that_nothing_was_run():
    text = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    assert "**Never run here:**" in text
