"""The figure of correlations: its points, its ellipses, and what it says of so few models."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_aggregate_correlations import BOTH, DRAWN, UNDERSTOOD, N, cells_of, found
from test_checks_pixels import ROOT, config_with

from gensight.errors import SpecError
from gensight.figures.correlation import (
    STRETCH,
    CorrelationPoint,
    Side,
    _colour,
    _marker,
    correlation_panel,
    ellipse,
)
from gensight.records import Summary
from gensight.specs.aggregate_checks import check_correlation_figure
from gensight.specs.figures import load_figure, parse_figure
from gensight.specs.project import load_project
from gensight.stages.plot import plot

SPEC = {
    "kind": "correlation",
    "title": "Reading and drawing",
    "caption": "Models by what they read and draw.",
    "aggregate": "both",
    "panels": [
        {
            "correlation": "understanding_drawing",
            "title": "Both",
            "x": {"aggregate": "reading", "row": "overall", "label": "Reading (%)"},
            "y": {"aggregate": "both", "row": "agg", "label": "Drawing"},
        }
    ],
}
FILES = ["results/aggregates/both.parquet", "results/aggregates/reading.parquet"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def drawn(reference=(), both=BOTH):
    """Make the aggregates and draw the figure; return its log and its PNG."""
    roles = {name: "floor" if name in reference else "measured" for name in DRAWN}
    told = found(*cells_of(DRAWN), both, roles=roles)
    models = {
        name: {"display": {"label": name.upper()}, "role": role} for name, role in roles.items()
    }
    plan = {"stage": "figures", "figure": "f", "spec": SPEC, "models": models}
    plot(FILES, "results/figures/f.png", plan)
    figure = Path("results/figures/f.png")
    return told, json.loads(figure.with_suffix(".json").read_text()), figure.read_bytes()


def test_models_lie_at_their_numbers_with_the_coefficients_above_them():
    told, (panel,), png = drawn()
    points = {point["model"]: point for point in panel["points"]}
    assert {m: (p["x"]["value"], p["y"]["value"]) for m, p in points.items()} == {
        model: pytest.approx((100 * UNDERSTOOD[model] / N, 100 * DRAWN[model] / N))
        for model in DRAWN
    }
    assert points["a"]["label"] == "A" and points["a"]["x"]["low"] < 100 * UNDERSTOOD["a"] / N
    pearson, p = told["pearson"], told["pearson_p"]
    interval = f"[{pearson.interval_low:.2f}, {pearson.interval_high:.2f}]"
    assert panel["told"][0] == f"r = {pearson.value:.2f} {interval}, p = {p.value:.3f}"
    assert [line.split()[0] for line in panel["told"]] == ["r", "ρ", "τ"]
    assert drawn()[2] == png, "the same rows give the same bytes"
    with Image.open(io.BytesIO(png)) as picture:
        assert picture.size[0] == 1400 and len(picture.convert("RGB").getcolors(1 << 24)) > 12


def test_reference_rows_are_no_models_of_a_correlation():
    _, (panel,), _ = drawn(reference=("a",))
    assert [point["model"] for point in panel["points"]] == sorted({*DRAWN} - {"a"})


def test_a_listed_set_of_models_is_shown_alone():
    listed = [{**BOTH["correlations"][0], "models": ["a", "c", "f"]}]
    _, (panel,), _ = drawn(reference=("a",), both={**BOTH, "correlations": listed})
    assert [point["model"] for point in panel["points"]] == ["a", "c", "f"]


def side(value, low, high):
    return Side(value, low, high, complete=True)


def test_an_ellipse_holds_two_independent_numbers_in_95_per_cent():
    """Against drawn numbers: the chi squared of the module is not used here."""
    half = 1.959964
    outline = ellipse(
        CorrelationPoint("m", "M", side(10, 10 - 2 * half, 10 + 2 * half), side(0, -half, half))
    )
    radii = np.hypot((outline[:, 0] - 10) / 2, outline[:, 1])
    assert np.ptp(radii) < 1e-9
    numbers = np.random.default_rng(0).standard_normal((200_000, 2))
    inside = np.hypot(*numbers.T) < radii[0]
    assert inside.mean() == pytest.approx(0.95, abs=0.002)


def test_unequal_sides_of_an_interval_give_unequal_quarters():
    outline = ellipse(CorrelationPoint("m", "M", side(50, 48, 53), side(20, 10, 21)))
    assert outline[:, 0].max() == pytest.approx(50 + 3 * STRETCH)
    assert outline[:, 0].min() == pytest.approx(50 - 2 * STRETCH)
    assert outline[:, 1].max() == pytest.approx(20 + STRETCH)
    assert outline[:, 1].min() == pytest.approx(20 - 10 * STRETCH)
    assert ellipse(CorrelationPoint("m", "M", side(50, None, None), side(20, 10, 21))) is None


def test_every_model_looks_like_no_other():
    assert len({(_colour(place), _marker(place)) for place in range(20)}) == 20


def test_a_small_p_is_never_printed_as_0():
    facts = {"benchmark": "both", "scorer": "aggregate", "model": "understanding_drawing",
             "prompt": "all", "variant": "", "higher_is_better": True, "unit": "", "n": 7,
             "n_valid": 7, "clusters": 0}  # fmt: skip
    rows = [Summary(**facts, metric="pearson", value=1.0)]
    rows.append(Summary(**facts, metric="pearson_p", value=2 / 5040))
    spec = parse_figure("f.yaml", SPEC).panels[0]
    assert correlation_panel(spec, "both", {}, rows).told == ("r = 1.00, p < 0.001",)


def test_a_panel_without_models_says_so():
    told, (panel,), png = drawn(reference=tuple(DRAWN))
    assert panel == {"title": "Both", "points": [], "told": []} and png
    assert told["models"].value == 0 and told["pearson"].value is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"aggregate": "none"}, "aggregate"),
        ({"correlation": "none"}, r"panels\.0\.correlation"),
        ({"row": "top1"}, "has 'overall' of 'pixelbench_understanding_scores' on this side"),
    ],
)
def test_panels_are_correlations_along_their_sides(changes, told):
    """The shipped figure, spoilt."""
    project = load_project(config_with(), ROOT)
    spec = load_figure(ROOT / "config/figures/pixelbench_correlations.yaml")
    panel = spec.panels[0]
    if "row" in changes:
        panel = panel.model_copy(update={"x": panel.x.model_copy(update=changes)})
    elif "correlation" in changes:
        panel = panel.model_copy(update=changes)
    else:
        spec = spec.model_copy(update=changes)
    spec = spec.model_copy(update={"panels": [panel]})
    with pytest.raises(SpecError, match=told):
        check_correlation_figure("f.yaml", spec, project)


def test_keys_of_another_kind_are_refused():
    with pytest.raises(SpecError, match="panels_per_row"):
        parse_figure("f.yaml", {**SPEC, "panels_per_row": 2})
