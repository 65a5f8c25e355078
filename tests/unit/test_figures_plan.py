"""What a plan gives a figure: files that there are, whole cells, and what may be shown."""

from __future__ import annotations

import pytest
from spine_project import CONFIG, PROJECT, edited, plan_of, use_copy_of_library

import gensight.licences
from gensight.licences import LICENCES, Licence

FIGURE = "config/figures/answers.yaml"
PANEL = {
    "kind": "comparison",
    "title": "T",
    "caption": "C",
    "task": "segmentation",
    "benchmark": "tiny_masks",
    "scorer": "mask",
    "metric": "giou",
    "metric_label": "IoU",
    "models": [{"model": "oracle"}],
}
DEPTH = PANEL | {
    "task": "depth",
    "benchmark": "tiny_depth",
    "scorer": "depth",
    "metric": "absrel",
    "fit": "native",
}
PANELS = {"kind": "panels", "title": "T", "caption": "C", "panels": [PANEL, DEPTH, PANEL]}
RUN = {"run": CONFIG["run"] | {"figures": ["answers"]}}


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path / "library")


def planned(root, figure=PANELS, project=PROJECT, config=CONFIG | RUN):
    files = plan_of(root, {**project, FIGURE: figure}, config).files()
    return files["results/figures/answers.png"]


def test_panels_are_made_from_the_cells_of_all_galleries_each_once(tmp_path):
    figure = planned(tmp_path)
    cells = [
        ("tiny_masks", ["generations/{}/all", "predictions/{}/mask", "scores/{}/mask"]),
        ("tiny_depth", ["generations/{}/all", "predictions/{}/depth", "scores/{}/depth"]),
    ]
    assert list(figure.inputs) == [
        f"results/{path}.parquet"
        for name, stages in cells
        for path in (f"samples/{name}", *(s.format(f"oracle/{name}/mid") for s in stages))
    ]
    assert set(figure.spared.values()) == {p for p in figure.inputs if "/scores/" in p}
    assert set(figure.spared) == {p for p in figure.inputs if "generations" in p or "predict" in p}


def test_a_model_that_only_chooses_the_samples_is_part_of_the_figure(tmp_path):
    figure = planned(tmp_path, PANEL | {"chosen_on": "sharded"})
    assert "results/scores/sharded/tiny_masks/mid/mask.parquet" in figure.inputs


def test_a_model_that_the_scorer_does_not_read_is_left_out(tmp_path):
    key = "scorers.mask.roles"
    project = edited(PROJECT, "config/benchmarks/tiny_masks.yaml", key, ["measured"])
    models = [{"model": "oracle"}, {"model": "sharded"}]
    figure = planned(tmp_path, PANEL | {"models": models}, project)
    assert not any("/oracle/" in path for path in figure.inputs)
    assert "results/scores/sharded/tiny_masks/mid/mask.parquet" in figure.inputs


def test_the_readings_and_the_native_fits_are_told(tmp_path):
    told = planned(tmp_path).determinants
    assert told["readings"] == {"tiny_masks": {"mask": "mask"}, "tiny_depth": {"depth": "depth"}}
    assert told["native"]["oracle"] == "depth"


def test_a_licence_that_changes_draws_the_figure_again(tmp_path, monkeypatch):
    before = planned(tmp_path / "before").digest
    assert planned(tmp_path / "same").digest == before
    forbidden = {**LICENCES, "diode": Licence("DIODE", False)}
    monkeypatch.setattr(gensight.licences, "LICENCES", forbidden)
    assert planned(tmp_path / "after").digest != before
