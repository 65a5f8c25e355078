from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from gensight.errors import SpecError
from gensight.specs.aggregates import AggregateSpec
from gensight.specs.base import load_spec, parse
from gensight.specs.benchmark import BenchmarkSpec
from gensight.specs.correlation_figure import CorrelationFigureSpec
from gensight.specs.figures import (
    DisturbanceCurvesSpec,
    FigureSpec,
    GallerySpec,
    load_figure,
    parse_figure,
    quantile_of,
)
from gensight.specs.model import ModelSpec

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "config/figures").glob("*.yaml"))
HEAD = {"title": "T", "caption": "C"}
GALLERY = {
    "kind": "gallery",
    "title": "T",
    "caption": "C",
    "task": "depth",
    "benchmark": "scenes",
    "scorer": "depth",
    "metric": "absrel",
    "metric_label": "AbsRel",
    "models": [{"model": "alpha", "severity": 2}],
}
CURVES = {
    "kind": "disturbance_curves",
    "title": "T",
    "caption": "C",
    "panels": [{"benchmark": "b", "scorer": "s", "metric": "m", "label": "M"}],
    "disturbances": [{"model": "shift", "label": "Shift", "unit": "%"}],
}


def write(folder, content):
    lines = [f"{key}: {value!r}\n" for key, value in content.items()]
    (folder / "f.yaml").write_text("".join(lines), encoding="utf-8")
    return folder / "f.yaml"


def test_the_kind_decides_the_model():
    assert type(parse("f.yaml", FigureSpec, GALLERY)) is GallerySpec
    assert type(parse("f.yaml", FigureSpec, CURVES)) is DisturbanceCurvesSpec


def test_panels_are_galleries_of_every_kind():
    kinds = ("gallery", "comparison", "failures", "decoder_steps")
    panels = [GALLERY | {"kind": kind, "task": "counting"} for kind in kinds]
    figure = parse("f.yaml", FigureSpec, HEAD | {"kind": "panels", "panels": panels})
    assert [panel.kind for panel in figure.galleries] == list(kinds)
    assert [panel.rules for panel in figure.panels] == [
        ["median"],
        ["median"],
        ["failed"],
        ["median"],
    ]
    assert list(figure.numbers) == [f"panels.{i}." for i in range(4)]
    # What a plan writes down is read back as the same figure.
    again = parse_figure("f.yaml", figure.model_dump(exclude_none=True))
    assert again == figure
    assert parse("f.yaml", FigureSpec, GALLERY).galleries[0].benchmark == "scenes"
    assert parse("f.yaml", FigureSpec, CURVES).galleries == []


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        (GALLERY | {"modles": []}, r"unknown key 'panels.0.modles' \(did you mean 'models'\?\)"),
        (GALLERY | {"kind": "panels"}, "key 'panels.0'.*'gallery', 'comparison'"),
        (CURVES, "key 'panels.0'.*'gallery', 'comparison'"),
        ({}, "key 'panels.0.kind' is missing"),
    ],
)
def test_a_wrong_panel_is_one_clear_line(panel, message):
    with pytest.raises(SpecError, match=message):
        parse_figure("f.yaml", HEAD | {"kind": "panels", "panels": [panel]})


@pytest.mark.parametrize(
    ("rule", "share"),
    [
        ("quantile_0", 0),
        ("quantile_100", 100),
        ("quantile_", None),
        ("quantile_5.5", None),
        ("median", None),
    ],
)
def test_quantiles_are_per_cent(rule, share):
    assert quantile_of(rule) == share


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "galery"}, "'decoder_steps' or 'panels'.*did you mean 'gallery'"),
        ({"kind": ["gallery"]}, "'decoder_steps' or 'panels'"),
        ({"modles": []}, r"unknown key 'modles' \(did you mean 'models'\?\)"),
        ({"rules": ["mean"]}, "'median', 'best', 'worst' or 'failed'"),
        ({"rules": ["quantile_101"]}, "'quantile_K' with K from 0 to 100"),
        ({"show_restricted": "yes"}, "key 'show_restricted'"),
        ({"kind": "comparison", "samples_per_row": 9}, "key 'samples_per_row'"),
        ({"kind": "comparison", "show": "truth"}, "'extracted' or 'output'"),
        ({"kind": "decoder_steps"}, "key 'task': Input should be 'counting'"),
        ({"task": "pose"}, "key 'task'"),
        ({"models": []}, "key 'models'"),
        ({"models": [{"model": "a", "severity": "2"}]}, "severity"),
    ],
)
def test_a_wrong_figure_is_one_clear_line(tmp_path, changes, message):
    with pytest.raises(SpecError, match=message) as caught:
        load_figure(write(tmp_path, GALLERY | changes))
    assert str(caught.value).startswith(str(tmp_path / "f.yaml"))
    assert "\n" not in str(caught.value)


def test_a_figure_without_a_kind_is_told_so(tmp_path):
    content = {key: value for key, value in GALLERY.items() if key != "kind"}
    with pytest.raises(SpecError, match="key 'kind' is missing"):
        load_figure(write(tmp_path, content))


def test_what_a_figure_needs():
    gallery = parse("f.yaml", FigureSpec, GALLERY | {"chosen_on": "beta"})
    assert (gallery.benchmarks, gallery.model_names) == (["scenes"], ["alpha", "beta"])
    panels = [*CURVES["panels"], CURVES["panels"][0] | {"benchmark": "c"}, *CURVES["panels"]]
    curves = parse("f.yaml", FigureSpec, CURVES | {"panels": panels, "undisturbed": "oracle"})
    assert (curves.benchmarks, curves.model_names) == (["b", "c"], ["shift", "oracle"])


def test_one_gallery_per_task_and_the_curves_are_shipped():
    figures = [load_figure(path) for path in SHIPPED]
    tasks = {figure.task for figure in figures if type(figure) is GallerySpec}
    assert tasks >= {"segmentation", "depth", "counting", "normals"}
    assert any(isinstance(figure, DisturbanceCurvesSpec) for figure in figures)


def test_the_figures_of_probegen_are_shipped():
    """Figure 2 of the paper prints prompts, which are not ours to print."""
    names = {path.stem for path in SHIPPED if path.stem.startswith("probegen")}
    assert names == {f"probegen_figure_{number}" for number in (1, 3, 4, 5, 6, 7, 8)}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_figures_name_cells_and_severities_that_exist(path):
    figure = load_figure(path)
    for panel in figure.numbers.values():
        if isinstance(figure, CorrelationFigureSpec):
            made = ROOT / f"config/aggregates/{panel.benchmark}.yaml"
            assert panel.metric in load_spec(made, AggregateSpec).metrics
            continue
        benchmark = load_spec(ROOT / f"config/benchmarks/{panel.benchmark}.yaml", BenchmarkSpec)
        assert panel.metric in benchmark.scorers[panel.scorer].metrics
        assert not isinstance(panel, GallerySpec) or panel.task == benchmark.task
    models = {
        name: load_spec(ROOT / f"config/models/{name}.yaml", ModelSpec)
        for name in figure.model_names
    }
    for gallery in figure.galleries:
        assert gallery.show_restricted is False
        for entry in gallery.models:
            severities = models[entry.model].generation.get("severities", [None])
            assert entry.severity in severities
            tasks = models[entry.model].tasks
            assert tasks is None or gallery.task in tasks


def test_the_examples_of_the_documentation_are_figures():
    text = (ROOT / "docs/figures.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    kinds = [parse_figure("docs/figures.md", yaml.safe_load(block)).kind for block in blocks]
    assert kinds == ["comparison", "gallery", "panels", "pixel_grids", "size_curves", "correlation"]
