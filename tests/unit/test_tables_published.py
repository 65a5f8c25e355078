"""ProbeGen's tables as published: every printed digit, in its own cell, and nothing else."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from gensight import published
from gensight.errors import RecordError
from gensight.records import Summary
from gensight.specs.base import load_spec, parse
from gensight.specs.model import ModelSpec
from gensight.specs.tables import TableSpec
from gensight.tables import ModelInfo, RunFacts, build_table, render_csv, render_markdown
from gensight.tables.citations import Citations

ROOT = Path(__file__).resolve().parents[2]
RUN = yaml.safe_load((ROOT / "config/runs/probegen.yaml").read_text())["run"]
FACTS = RunFacts(name="print", mark="gensight-digest:" + "ab" * 32)


def infos() -> dict[str, ModelInfo]:
    found = {}
    for name in RUN["models"]:
        spec = load_spec(ROOT / f"config/models/{name}.yaml", ModelSpec)
        if spec.published:
            found[name] = ModelInfo(
                label=spec.display.label,
                group=spec.display.group,
                order=spec.display.order,
                role=spec.role,
                hosted=spec.kind == "hosted",
                cited_as=spec.published,
            )
    return found


def built(number: int):
    spec = load_spec(ROOT / f"config/tables/probegen_table_{number}.yaml", TableSpec)
    cited = Citations("probegen", number, published.load("probegen", number, ROOT))
    subjects = RUN["subjects"].get(spec.subjects, [])
    return build_table(spec, [], infos(), {}, FACTS, subjects, cited)


def shown(table) -> list[str]:
    """The printed tokens of all cells, × and – included."""
    cells = [cell for group in table.groups for row in group.rows for cell in row.cells]
    return [{"number": c.printed, "failed": "×"}.get(c.kind, "–") for c in cells]


@pytest.mark.parametrize("number", range(1, 10))
def test_a_table_holds_exactly_the_cells_in_print(number):
    printed = [cell.printed for cell in published.load("probegen", number, ROOT)]
    known = sorted(token for token in printed if token != "–")
    assert sorted(token for token in shown(built(number)) if token != "–") == known


# Typed from the paper: table, row, column (group: header), what stands there.
SPOTS = [
    (1, "Nano Banana 2", "reasonseg: gIoU", "70.3"),
    (1, "Qwen-Edit-2511 (20B)", "manga109: cIoU", "9.8"),
    (1, "Seedream-4.5", "dram: gIoU", "×"),
    (1, "SAM3 + Qwen3-VL-32B-Thinking-FP8", ": GPU memory (GB)", "73"),
    (2, "Vision Banana", "refcocog: cIoU", "73.8"),
    (2, "GPT-Image-2", "refcoco_plus: gIoU", "48.0"),
    (3, "Marigold v1.1", "kitti: AbsRel", "13.7"),
    (3, "Depth Anything V2-Large", ": Speed (img/min)", "828"),
    (4, "Gemini-3.5-Flash", "pixmo_points: RMSE", "23.7"),
    (5, "K-means", "reasonseg: gIoU", "69.2"),
    (5, "Otsu", "Average: gIoU", "68.8"),
    (6, "GPT-Image-2", "Seg. (RefCOCOg) gIoU: long", "57.9"),
    (6, "Nano Banana Pro", "Counting (PixMo) MAE: short", "5.1"),
    (7, "peak_dt (distance peaks)", "MAE: GPT-Image-2", "76.74"),
    (7, "diff_red_blob (area + circ. + inertia + diff)", "MAE: Avg.", "5.07"),
    (8, "Validation fold", ": After (argmin)", "4.61"),
    (8, "Min circularity", ": After (argmin)", "0.7"),
    (9, "CountGD++", "Counting: img/min", "471"),
    (9, "Nano Banana Pro", "Depth: img/min", "1.2"),
]


@pytest.mark.parametrize(("number", "label", "column", "token"), SPOTS)
def test_a_printed_number_stands_in_its_cell(number, label, column, token):
    table = built(number)
    (row,) = [row for group in table.groups for row in group.rows if row.label == label]
    names = [f"{column.group}: {column.header}" for column in table.columns]
    cell = row.cells[names.index(column)]
    assert ("×" if cell.kind == "failed" else cell.printed) == token


@pytest.mark.parametrize("number", range(1, 10))
def test_printed_rows_are_marked_and_never_best(number):
    table = built(number)
    rows = [row for group in table.groups for row in group.rows]
    assert {row.role for row in rows} == {"published"}
    assert not any(cell.best or cell.leading for row in rows for cell in row.cells)
    lines = list(csv.DictReader(render_csv(table).splitlines()))
    assert {line["role"] for line in lines} == {"published"}
    assert "§: a published number, not measured here" in render_markdown(table)


def test_marks_of_the_paper_are_explained_where_they_stand():
    efficiency, reasoning = render_markdown(built(9)), render_markdown(built(1))
    assert "†: timed end to end" in efficiency and "†" not in reasoning
    assert "‡: reported under another protocol" in reasoning and "‡" not in efficiency
    assert "¶: follows from what the paper prints" in render_markdown(built(8))


def test_a_column_that_two_numbers_fit_is_one_line():
    spec = load_spec(ROOT / "config/tables/probegen_table_6.yaml", TableSpec)
    vague = spec.columns[0].published.model_copy(update={"setting": {}})
    columns = [spec.columns[0].model_copy(update={"published": vague})]
    cited = Citations("probegen", 6, published.load("probegen", 6, ROOT))
    spec = spec.model_copy(update={"columns": columns})
    with pytest.raises(RecordError, match=r"prints 3 numbers for the column 'short'.*setting"):
        build_table(spec, [], infos(), {}, FACTS, RUN["subjects"]["prompt_ablation"], cited)


def summary(model: str, value: float) -> Summary:
    return Summary(
        model=model,
        benchmark="refcoco",
        prompt="mid",
        scorer="mask",
        variant="otsu",
        metric="giou",
        higher_is_better=True,
        unit="percent",
        value=value,
        n=500,
        n_valid=500,
        clusters=400,
        group_size=2,
        group_rank_low=1,
        group_rank_high=2,
    )


def test_beside_a_measured_row_stands_the_printed_one_and_competes_with_nobody():
    spec = load_spec(ROOT / "config/tables/probegen_table_2.yaml", TableSpec)
    cited = Citations("probegen", 2, published.load("probegen", 2, ROOT))
    rows = [summary("nano_banana_pro", 66.0), summary("nano_banana_2", 64.0)]
    table = build_table(spec, rows, infos(), {}, FACTS, (), cited)
    (group,) = [group for group in table.groups if group.name == "generalist"]
    first = [row for row in group.rows if row.label == "Nano Banana Pro"]
    assert [row.role for row in first] == ["measured", "published"]
    assert [row.cells[0].printed for row in first] == ["66.0", "70.7"]
    # The printed 70.7 is higher than everything measured, and is neither bold nor underlined.
    assert [(row.cells[0].best, row.cells[0].leading) for row in first] == [
        (True, True),
        (False, False),
    ]


def test_a_model_that_the_paper_does_not_print_has_no_cell_of_it():
    spec = load_spec(ROOT / "config/tables/probegen_table_7.yaml", TableSpec)
    cited = Citations("probegen", 7, published.load("probegen", 7, ROOT))
    own = {**infos(), "ours": ModelInfo(label="Ours", group="generalist")}
    table = build_table(spec, [], own, {}, FACTS, ["ours", "nano_banana_2"], cited)
    row = table.groups[0].rows[0]
    assert [cell.kind for cell in row.cells] == ["not_applicable", "number", "number"]
    assert row.cells[1].printed == "37.99"


def test_rows_about_other_benchmarks_than_their_columns_cite_their_own():
    content = {
        "title": "T",
        "caption": "C.",
        "label": "tab:t",
        "published": {"paper": "pixelbench", "table": 4},
        "rows": {
            "entries": [
                {"label": "text", "published_benchmark": "Understanding–T2P"},
                {"label": "image", "published_benchmark": "Understanding–I2P (w/o DeepSeek)"},
            ]
        },
        "columns": [
            {
                "benchmark": "together",
                "scorer": "aggregate",
                "metric": "pearson",
                "header": "r",
                "published": {"metric": "pearson"},
            }
        ],
    }
    spec = parse("x.yaml", TableSpec, content)
    cited = Citations("pixelbench", 4, published.load("pixelbench", 4, ROOT))
    table = build_table(spec, [], {}, {}, FACTS, (), cited)
    assert [row.cells[0].printed for row in table.groups[0].rows] == ["0.871", "0.930"]
