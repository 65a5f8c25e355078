from __future__ import annotations

from pathlib import Path

import pytest

from gensight.errors import SpecError
from gensight.specs.base import load_spec, parse
from gensight.specs.benchmark import BenchmarkSpec
from gensight.specs.figures import DisturbanceCurvesSpec, FigureSpec, GallerySpec, load_figure
from gensight.specs.model import ModelSpec

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "config/figures").glob("*.yaml"))
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "galery"}, "'decoder_steps' or 'panels'.*did you mean 'gallery'"),
        ({"kind": ["gallery"]}, "'decoder_steps' or 'panels'"),
        ({"modles": []}, r"unknown key 'modles' \(did you mean 'models'\?\)"),
        ({"rules": ["mean"]}, "'median', 'best', 'worst' or 'failed'"),
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
    tasks = {figure.task for figure in figures if isinstance(figure, GallerySpec)}
    assert tasks == {"segmentation", "depth", "counting", "normals"}
    assert any(isinstance(figure, DisturbanceCurvesSpec) for figure in figures)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_figures_name_cells_and_severities_that_exist(path):
    figure = load_figure(path)
    panels = [figure] if isinstance(figure, GallerySpec) else figure.panels
    for panel in panels:
        benchmark = load_spec(ROOT / f"config/benchmarks/{panel.benchmark}.yaml", BenchmarkSpec)
        assert panel.metric in benchmark.scorers[panel.scorer].metrics
        assert not isinstance(panel, GallerySpec) or panel.task == benchmark.task
    models = {
        name: load_spec(ROOT / f"config/models/{name}.yaml", ModelSpec)
        for name in figure.model_names
    }
    if isinstance(figure, GallerySpec):
        for entry in figure.models:
            severities = models[entry.model].generation.get("severities", [None])
            assert entry.severity in severities
            assert models[entry.model].tasks is None or figure.task in models[entry.model].tasks
