"""Specs of figures about grids: what they need, what they refuse, and what is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from gensight.errors import SpecError
from gensight.specs.figures import parse_figure

ROOT = Path(__file__).resolve().parents[2]
HEAD = {"title": "T", "caption": "C"}
PANEL = {
    "task": "image_to_pixel",
    "benchmark": "things",
    "sizes": [16, 32],
    "models": [{"model": "alpha"}, {"model": "beta", "severity": 2}],
    "samples": {"first": 3},
    "rows": ["models", "sizes"],
    "columns": ["samples"],
}
CURVES = {
    "kind": "size_curves",
    "sizes": [16, 32],
    "models": ["alpha"],
    "panels": [
        {"benchmark": "things", "scorer": "siglip", "metric": "retrieval_top1", "label": "Top-1"}
    ],
}


def grids(**changes):
    return parse_figure("f.yaml", HEAD | {"kind": "pixel_grids", "panels": [PANEL | changes]})


def test_a_panel_needs_the_cells_of_its_models_at_each_size():
    figure = grids()
    assert [(g.benchmark, g.prompt, g.scorer, g.model_names) for g in figure.galleries] == [
        ("things", "grid_16", "grid", ["alpha", "beta"]),
        ("things", "grid_32", "grid", ["alpha", "beta"]),
    ]
    assert not any(gallery.shows_output for gallery in figure.galleries)
    assert list(figure.numbers) == ["panels.0.", "panels.0.sizes.1."]
    assert (figure.benchmarks, figure.model_names) == (["things"], ["alpha", "beta"])
    assert parse_figure("f.yaml", figure.model_dump(exclude_none=True)) == figure


def test_the_model_that_samples_are_chosen_on_is_needed_too():
    figure = grids(samples={"rules": ["median"], "chosen_on": "gamma", "chosen_at": 32})
    assert figure.model_names == ["alpha", "beta", "gamma"]


def test_curves_need_the_metric_at_each_size():
    figure = parse_figure("f.yaml", HEAD | CURVES)
    assert {key: n.prompt for key, n in figure.numbers.items()} == {
        "panels.0.": "grid_16",
        "panels.0.sizes.1.": "grid_32",
    }
    assert figure.galleries == [] and figure.benchmarks == ["things"]
    assert parse_figure("f.yaml", figure.model_dump(exclude_none=True)) == figure


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": ["models"]}, "'models' are rows and columns"),
        ({"rows": ["models"]}, "several sizes: make them rows or columns"),
        ({"rows": ["sizes"]}, "several models: make them rows or columns"),
        ({"samples": {}}, "exactly one of 'first', 'labels' and 'rules'"),
        ({"samples": {"first": 1, "labels": ["a"]}}, "exactly one of"),
        ({"samples": {"labels": ["a"], "skip": 1}}, "'skip' needs 'first'"),
        ({"samples": {"first": 1, "chosen_on": "beta"}}, "need 'rules'"),
        ({"samples": {"rules": ["median"], "chosen_at": 64}}, "64 is none of the sizes"),
        ({"samples": {"rules": ["mean"]}}, "'median', 'best', 'worst' or 'failed'"),
        ({"models": [], "rows": ["sizes"], "source": False}, "only sources can be shown"),
        ({"sizes": [16, 16]}, "'16' is listed twice"),
        ({"sizes": []}, "sizes"),
    ],
)
def test_a_wrong_panel_is_one_clear_line(changes, message):
    with pytest.raises(SpecError, match=message) as caught:
        grids(**changes)
    assert "\n" not in str(caught.value)


def test_the_figures_of_pixelbench_are_shipped():
    names = {path.stem for path in (ROOT / "config/figures").glob("pixelbench_*.yaml")}
    cases = {f"extra_cases_{task}_{page}" for task in ("t2p", "i2p") for page in (1, 2)}
    others = {
        "correlations",
        "showcase",
        "palettes",
        "sources",
        "sweep",
        "sweep_cases",
        "sweep_strips",
    }
    assert names == {f"pixelbench_{name}" for name in cases | others}
