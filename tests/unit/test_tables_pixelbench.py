"""PixelBench's tables as published: every printed digit, in its own cell, and nothing else."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from gensight import published
from gensight.specs.base import load_spec
from gensight.specs.tables import TableSpec
from gensight.tables import ModelInfo, RunFacts, build_table
from gensight.tables.citations import Citations

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "config/tables"
FACTS = RunFacts(name="print", mark="gensight-digest:" + "ab" * 32)
TABLES = (1, 2, 3, 4, 22, 23, 24, 25)
SIZES = (16, 32, 64)


def cells_of(number: int) -> list[published.PublishedCell]:
    return published.load("pixelbench", number, ROOT)


def built(number: int):
    """The table with nothing measured; every printed model stands under its printed name."""
    path = FOLDER / f"pixelbench_table_{number}.yaml"
    if not path.is_file():
        pytest.skip(f"{path.name} waits for its benchmarks")
    names = list(dict.fromkeys(cell.model for cell in cells_of(number)))
    infos = {
        name: ModelInfo(label=name, group="mllm", order=place, cited_as={"pixelbench": name})
        for place, name in enumerate(names)
    }
    cited = Citations("pixelbench", number, cells_of(number))
    spec = load_spec(path, TableSpec)
    return build_table(spec, [], {} if number == 4 else infos, {}, FACTS, names, cited)


def found(number: int) -> dict[tuple[str, str], str]:
    """What is printed by row and column, `group: header`."""
    table = built(number)
    columns = [f"{column.group}: {column.header}" for column in table.columns]
    assert len(set(columns)) == len(columns)
    cells = {}
    for row in (row for group in table.groups for row in group.rows):
        assert row.role == "published"
        for name, cell in zip(columns, row.cells, strict=True):
            assert cell.kind == "number" and not cell.best and not cell.leading
            cells[row.label, name] = cell.printed
    return cells


def columns_of(number: int) -> dict[str, tuple[str, dict[str, str]]]:
    """Which metric and setting each column prints, written apart from the YAML."""
    size = {s: f"{s}x{s}" for s in SIZES}
    if number == 1:
        blocks = {"500-way Top-1": "top1_500way", "Judge (Gemini 3.5 Flash)": "vlm_judge_total"}
        own = {"All six: Agg.": ("agg", {"resolution": "all"})}
    if number == 2:
        blocks = {
            "100-way Top-1": "top1_100way",
            "SigLIP cosine": "siglip_cosine",
            "DINOv2 cosine": "dino_cosine",
        }
        own = {"Aggregates: Agg.": ("agg", {"resolution": "all"})}
    if number in (1, 2):
        own |= {f": {n.title()}": (f"{n}_rate", {"resolution": "all"}) for n in ("valid", "flat")}
        for (block, metric), s in product(blocks.items(), SIZES):
            own[f"{block}: {s}"] = (metric, {"resolution": size[s]})
            own[f"{block}: Avg."] = (metric, {"resolution": "avg"})
        return own
    if number == 3:
        own = {": Overall": ("accuracy_10way", {"source": "all"})}
        for block, source in (("Source: PIA", "PIA"), ("Source: GPT-6 Astra", "Astra-I2P")):
            for s in (*SIZES, "Avg."):
                setting = {"source": source, "resolution": size.get(s, "avg")}
                own[f"{block}: {s}"] = ("accuracy_10way", setting)
        return own
    if number in (22, 23):
        metric = "top1_proportion" if number == 22 else "mrr_valid_only"
        return {
            f"{s} × {s}: {pool}-way": (metric, {"resolution": size[s], "pool": str(pool)})
            for s, pool in product(SIZES, (100, 500))
        }
    if number == 24:
        names = {
            "Identity (20)": "subject_identity",
            "Parts (25)": "defining_attributes",
            "Structure (20)": "structure_proportion",
            "Detail (20)": "detail_quality",
            "Execution (10)": "pixel_art_execution",
            "Palette (5)": "palette_contrast",
            "Total (100)": "total",
        }
        return {
            f"{s} × {s}: {header}": (f"judge_{name}", {"resolution": size[s]})
            for s, (header, name) in product(SIZES, names.items())
        }
    blocks = {"DINOv2 cosine": "dino_cosine", "SigLIP cosine": "siglip_cosine"}
    blocks["100-way Top-1"] = "top1_100way"
    return {
        f"{block}: {s}": (metric, {"resolution": size[s]})
        for (block, metric), s in product(blocks.items(), SIZES)
    }


@pytest.mark.parametrize("number", [n for n in TABLES if n != 4])
def test_every_printed_digit_stands_in_its_cell_and_nothing_else(number):
    expected = {}
    for column, (metric, setting) in columns_of(number).items():
        for cell in cells_of(number):
            if cell.metric == metric and setting.items() <= cell.setting.items():
                assert (cell.model, column) not in expected
                expected[cell.model, column] = cell.printed
    assert len(expected) == len(cells_of(number))
    assert found(number) == expected


def test_table_4_stands_as_printed():
    rows = {"Understanding and T2P": "Understanding–T2P"}
    rows["Understanding and I2P"] = "Understanding–I2P (w/o DeepSeek)"
    columns = {": Models": "n_models", "Pearson: r": "pearson", "Spearman: rho": "spearman"}
    columns["Kendall: tau"] = "kendall"
    printed = {(c.benchmark, c.metric): c.printed for c in cells_of(4)}
    assert found(4) == {
        (row, column): printed[benchmark, metric]
        for (row, benchmark), (column, metric) in product(rows.items(), columns.items())
    }
    assert found(4)["Understanding and I2P", "Spearman: rho"] == "0.829"


# Typed from the paper: table, row, column (group: header), what stands there.
SPOTS = [
    (1, "GPT-6 Astra", "500-way Top-1: 64", "94"),
    (1, "Kimi K3", ": Valid", "99.7"),
    (1, "Claude Opus 5", "All six: Agg.", "79.4"),
    (1, "DeepSeek V4 Pro", "Judge (Gemini 3.5 Flash): Avg.", "51.5"),
    (2, "PIA (reduced)", "Aggregates: Agg.", "77.50"),
    (2, "Gemini 3.6 Flash", "Aggregates: Agg.", "1.98"),
    (3, "GPT-6 Astra", ": Overall", "67.5"),
    (24, "GPT-6 Astra", "16 × 16: Identity (20)", "18.83"),
    (25, "Nearest + median cut", "DINOv2 cosine: 64", "0.480"),
]


@pytest.mark.parametrize(("number", "label", "column", "token"), SPOTS)
def test_a_number_typed_from_the_paper(number, label, column, token):
    assert found(number)[label, column] == token
