"""Listings: settings and labels printed as their files hold them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from gensight import published
from gensight.errors import RecordError, SpecError
from gensight.plan import Plan
from gensight.plan.sent import sent_settings
from gensight.specs.base import load_spec, parse
from gensight.specs.project import load_project
from gensight.specs.tables import TableSpec
from gensight.stages.tabulate import _as_printed, tabulate
from gensight.tables import (
    RunFacts,
    build_listing,
    read_entries,
    render_csv,
    render_markdown,
    render_tex,
)

ROOT = Path(__file__).resolve().parents[2]
FACTS = RunFacts(name="print", mark="gensight-digest:" + "ab" * 32)
SETTINGS = {
    "label": "model",
    "group": "row_group",
    "columns": [
        {"field": "temperature", "header": "Temperature"},
        {"field": "reasoning", "header": "Reasoning"},
        {"field": "max_output_tokens", "header": "Tokens"},
        {"field": "samples_per_item", "header": "Answers"},
    ],
}
PRINT = {"paper": "pixelbench", "table": 18}
LABELS = {"file": "resources/pixelbench/vocabulary.csv", "label": "label", "across": 4}


def spec(listing, **more) -> TableSpec:
    content = {"title": "T", "caption": "C.", "label": "tab:t", "listing": listing, **more}
    return parse("x.yaml", TableSpec, content)


def built(listing, **more):
    table = spec(listing, **more)
    return build_listing(table, read_entries(table, ROOT), FACTS)


def texts(table) -> list[list[str]]:
    return [[r.label, *(c.printed for c in r.cells)] for g in table.groups for r in g.rows]


def test_settings_stand_as_the_paper_prints_them():
    groups = {"groups": [{"name": "I2P", "label": "Drawn"}, {"name": "T2P", "label": "Written"}]}
    table = built(SETTINGS, published=PRINT, rows=groups)
    assert [group.label for group in table.groups] == ["Drawn", "Written"]
    assert [len(group.rows) for group in table.groups] == [6, 7]
    for group in table.groups:
        for row in group.rows:
            cells = [
                cell
                for cell in published.load("pixelbench", 18, ROOT)
                if (cell.row_group, cell.model) == (group.name, row.label)
            ]
            by_metric = {cell.metric: cell.printed for cell in cells}
            reasoning = {cell.setting["reasoning"] for cell in cells}
            shown = [cell.printed for cell in row.cells]
            assert shown[0] == by_metric["temperature"] and {shown[1]} == reasoning
            assert shown[2:] == [by_metric["max_output_tokens"], by_metric["samples_per_item"]]
    assert ["Gemini 3.6 Flash", "0.7", "default", "32768", "1"] in texts(table)


def run_of(how="hide", benchmarks=("icons_t2p", "icons_i2p")):
    run = {
        "name": "r",
        "models": ["gpt_6_astra", "seed_2_1_pro", "deepseek_v4_pro", "drawer", "nearest"],
        "benchmarks": list(benchmarks),
        "prompts": ["grid_16"],
        "tables": ["pixelbench_table_18"],
        "published": how,
    }
    return Plan(load_project({"run": run}, ROOT))


def settings_table(how, folder, monkeypatch):
    """Return the lines of Table 18 of a run, by block and model."""
    monkeypatch.chdir(ROOT)
    output = folder / f"{how}.tex"
    tabulate([], str(output), run_of(how).table("pixelbench_table_18"))
    found: dict[tuple[str, str], list[str]] = {}
    for row in csv.DictReader(output.with_suffix(".csv").read_text().splitlines()):
        found.setdefault((row["group"], row["label"]), []).append(row["printed"])
    return found, output.with_suffix(".md").read_text()


def test_a_measured_run_says_what_it_sends_beside_what_the_paper_prints(tmp_path, monkeypatch):
    found, text = settings_table("beside", tmp_path, monkeypatch)
    block = next(group for group, label in found if label == "DeepSeek V4 Pro")
    told = {label: cells for (group, label), cells in found.items() if group == block}
    nothing = "not sent"
    assert told["GPT-6 Astra"][:7] == [
        nothing,
        "1.0",
        nothing,
        "default",
        "32768",
        "32768",
        "65536",
    ]
    assert told["Seed-2.1 Pro"][:4] == ["0.7", "0.7", "enabled, 2500 tokens", "2500 tokens"]
    assert "Drawer" not in str(found), "a model that nobody asks over an API has no such settings"
    # It reads no pictures, and so draws none from them.
    assert sum(label == "DeepSeek V4 Pro" for _, label in found) == 1
    own, _ = settings_table("hide", tmp_path, monkeypatch)
    assert own[block, "GPT-6 Astra"] == [nothing, nothing, "32768", "65536", "1"]
    assert own.keys() == found.keys()
    printed, text = settings_table("only", tmp_path, monkeypatch)
    assert "nothing here was measured" in text and len(printed) == 13
    assert {tuple(cells) for (_, label), cells in printed.items() if label == "GPT-6 Astra"} == {
        ("1.0", "default", "32768", "1")
    }


def test_assumed_settings_are_sent_and_only_tasks_of_the_run_are_listed():
    plan = run_of(benchmarks=["icons_t2p"])
    spec = plan.project.models["gpt_6_astra"]
    given = {"assumed_temperature": 0.7, "temperature": None, "assumed_reasoning_effort": "low",
             "reasoning_effort": None}  # fmt: skip
    assumed = spec.model_copy(update={"generation": {**spec.generation, **given}})
    project = replace(plan.project, models={**plan.project.models, "gpt_6_astra": assumed})
    entries = sent_settings(
        project, {"T2P": "text_to_pixel", "I2P": "image_to_pixel"}, "pixelbench"
    )
    assert {entry["row_group"] for entry in entries} == {"T2P"}
    (told,) = [entry for entry in entries if entry["model"] == "GPT-6 Astra"]
    assert (told["temperature"], told["reasoning"]) == ("0.7", "low")


def test_what_is_sent_determines_the_table():
    plan = run_of()
    spec = plan.project.models["gpt_6_astra"]
    warm = spec.model_copy(update={"generation": {**spec.generation, "temperature": 0.5}})
    changed = replace(plan.project, models={**plan.project.models, "gpt_6_astra": warm})
    assert Plan(changed).table("pixelbench_table_18") != plan.table("pixelbench_table_18")


@pytest.mark.parametrize(("printed_in", "most"), [("20", 9), ("21", None)])
def test_every_label_stands_once_from_top_to_bottom_by_length(printed_in, most):
    table = built({**LABELS, "where": {"table": printed_in}, "order": "length"})
    with (ROOT / LABELS["file"]).open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == printed_in]
    lines = texts(table)
    downwards = [line[place] for place in range(4) for line in lines if line[place]]
    assert sorted(downwards) == sorted(f"{row['id']} {row['label']}" for row in rows)
    lengths = [len(text.split(" ", 1)[1]) for text in downwards]
    assert lengths == sorted(lengths)
    assert most is None or lengths[-1] == most


def test_labels_are_escaped_and_a_hyphen_is_no_minus():
    entries = [{"id": "1", "label": "T-shirt & tie_50%"}, {"id": "2", "label": "a|b"}]
    table = build_listing(spec({**LABELS, "across": 2}), entries, FACTS)
    assert r"1 T-shirt \& tie\_50\%" in render_tex(table)
    assert r"| 1 T-shirt & tie\_50% | 2 a\|b |" in render_markdown(table)
    assert r"@{\hspace{12pt}}l}" in render_tex(table)
    # Where nothing stands above the labels, the first of them follows the rule.
    assert "\\toprule\n1 T-shirt" in render_tex(table)
    lines = list(csv.DictReader(render_csv(table).splitlines()))
    assert [(line["label"], line["printed"]) for line in lines] == [
        ("1 T-shirt & tie_50%", "2 a|b")
    ]


WRONG = [
    ({**LABELS, "across": None}, {}, "columns, or a number of entries across"),
    ({**SETTINGS, "across": 3}, {}, "columns, or a number of entries across"),
    (SETTINGS, {}, "name its file, or the printed table"),
    (None, {}, "a table has columns, or it is a listing"),
    ({**LABELS, "file": "../secret.csv"}, {}, "key 'listing.file'"),
]


@pytest.mark.parametrize(("listing", "more", "message"), WRONG)
def test_a_wrong_listing_is_one_line(listing, more, message):
    with pytest.raises(SpecError, match=message) as caught:
        spec(listing, **more)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"where": {"tabel": "20"}}, "no field 'tabel'; allowed: category, cause"),
        ({"entry": "{number} {label}"}, r"listing.entry: '\{number\} \{label\}' names a field"),
        ({"file": "resources/pixelbench/none.csv"}, "none.csv: cannot be read"),
    ],
)
def test_a_field_or_file_that_is_not_there_is_one_line(change, message):
    with pytest.raises(RecordError, match=message):
        built({**LABELS, **change})


def test_a_listing_names_the_file_that_it_prints():
    assert spec(LABELS).listed_file == LABELS["file"]
    cited = spec(SETTINGS, published=PRINT)
    assert cited.listed_file == "resources/published/pixelbench_table_18.csv"
    assert cited.benchmarks == [] and cited.numbers == {}
    assert TableSpec.model_validate(cited.model_dump(exclude_none=True)) == cited


def test_the_stage_writes_a_listing_in_all_three_formats(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    determinants = {
        "stage": "tables",
        "run": "lists",
        "spec": spec(LABELS).model_dump(exclude_none=True),
        "published": None,
        "summaries": {},
        "models": {},
        "benchmarks": {},
        "tasks": {},
        "protocol": [],
        "subjects": [],
    }
    tabulate([], str(tmp_path / "labels.tex"), determinants)
    for name in ("labels.tex", "labels.csv", "labels.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "500 ox" in text and "gensight-digest:" in text


@pytest.mark.parametrize(("number", "entries"), [(18, 13), (19, 100), (20, 271), (21, 229)])
def test_the_shipped_listings_hold_every_entry_of_the_paper(number, entries):
    table = load_spec(ROOT / f"config/tables/pixelbench_table_{number}.yaml", TableSpec)
    table = _as_printed(table)
    lines = texts(build_listing(table, read_entries(table, ROOT), FACTS))
    assert sum(bool(text) for line in lines for text in line) == entries * (
        5 if number == 18 else 1
    )
