"""The examples of docs/ run as they stand: each addition is a YAML, or a YAML and a module."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from conftest import ROOT, Checkout

pytestmark = pytest.mark.workflow

MEDIAN_ERROR = '''
"""Median absolute count error."""
import numpy as np

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = False
UNIT = "count"
INTERVAL = "none"


def value(parts):
    """Return the absolute error of one sample."""
    return parts.get("absolute_error")


def aggregate(parts):
    """Return the median over samples."""
    return float(np.median(parts["absolute_error"]))
'''


def example(page: str, language: str, place: int = 0) -> str:
    """Return a code block of a page of the documentation."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)[place]


def summary_of(checkout: Checkout, benchmark: str) -> list[dict[str, object]]:
    return pq.read_table(checkout.folder / f"results/summaries/{benchmark}.parquet").to_pylist()


def test_the_model_of_the_documentation(finished: Checkout) -> None:
    text = example("adding-a-model.md", "yaml")
    Path(finished.folder / "config/models/oracle_soft.yaml").write_text(text)
    models = ["oracle", "oracle_plan", "echo", "oracle_soft"]
    finished.edit("config/config.yaml", run__models=models)
    finished.run()
    assert (
        yaml.safe_load(text)["display"]["label"]
        in (finished.folder / "results/tables/all.tex").read_text()
    )


def test_the_benchmark_and_the_extractor_of_the_documentation(checkout: Checkout) -> None:
    library = checkout.folder / "src/gensight"
    (library / "datasets/coins.py").write_text(example("adding-a-benchmark.md", "python"))
    (library / "metrics/median_error.py").write_text(MEDIAN_ERROR)
    (library / "extractors/always_two.py").write_text(example("adding-a-metric.md", "python", 1))
    benchmark = yaml.safe_load(example("adding-a-benchmark.md", "yaml"))
    benchmark["scorers"]["two"] = {
        "extractor": "always_two",
        "measure": "count_match",
        "metrics": ["mae", "median_error"],
    }
    checkout.write_yaml("config/benchmarks/coins.yaml", benchmark)
    checkout.edit("config/config.yaml", run__benchmarks=["coins"], run__models=["oracle"])
    checkout.edit("config/config.yaml", run__tables=[], run__prompts=["mid"])
    checkout.run("results/summaries/coins.parquet")
    found = {(r["scorer"], r["metric"]): r["value"] for r in summary_of(checkout, "coins")}
    # Truths 0, 1, 2, 3 twice: "two" is off by 2, 1, 0, 1.
    assert found == {
        ("dots", "mae"): 0.0,
        ("dots", "rmse"): 0.0,
        ("two", "mae"): 1.0,
        ("two", "median_error"): 1.0,
    }


def test_the_metric_of_the_documentation(finished: Checkout) -> None:
    """It also meets answers that failed: one model returns no picture at all."""
    library = finished.folder / "src/gensight"
    (library / "metrics/dice.py").write_text(example("adding-a-metric.md", "python"))
    finished.add_protocol(
        "from gensight.models import Reply\n"
        "VERSION = 1\nREADS_TRUTH = False\nDEFAULTS = {}\n"
        "class Silent:\n"
        "    fit_digest = ''\n"
        "    def answer(self, turn):\n"
        "        return Reply('no_image')\n"
        "def open_model(generation, held_out, site):\n"
        "    return Silent()\n"
    )
    finished.write_yaml(
        "config/models/silent.yaml",
        {"adapter": "stand_in", "display": {"label": "Silent"}},
    )
    metrics = ["giou", "ciou", "query_sensitivity", "dice"]
    finished.edit("config/benchmarks/scenes_segmentation.yaml", scorers__mask__metrics=metrics)
    finished.edit("config/config.yaml", run__models=["oracle", "silent"], run__prompts=["mid"])
    finished.edit("config/config.yaml", run__tables=[])
    finished.run("results/summaries/scenes_segmentation.parquet")
    found = {
        row["model"]: row["value"]
        for row in summary_of(finished, "scenes_segmentation")
        if row["metric"] == "dice" and row["stratum"] is None
    }
    assert found["silent"] == 0.0
    assert found["oracle"] > 97
