"""Curves over sizes: which summary rows are drawn, and how."""

from __future__ import annotations

import pytest
from matplotlib.collections import LineCollection, PolyCollection

from gensight.errors import SpecError
from gensight.figures import draw_size_curves, figure_png, size_lines
from gensight.figures.size_curves import COLOURS, MARKERS
from gensight.records import Summary
from gensight.specs.figures import parse_figure

PANEL = {"benchmark": "things", "scorer": "siglip", "metric": "retrieval_top1", "label": "Top-1"}
SPEC = {
    "kind": "size_curves",
    "title": "T",
    "caption": "C",
    "sizes": [64, 8, 16],
    "models": ["alpha", "beta"],
    "panels": [PANEL, PANEL | {"metric": "paired_cosine", "label": "cosine", "scale": 100}],
}
LABELS = {"alpha": "Alpha", "beta": "Beta"}


def row(model="alpha", size=8, value=50.0, **changes):
    found = {
        "benchmark": "things",
        "scorer": "siglip",
        "variant": "strict",
        "metric": "retrieval_top1",
        "higher_is_better": True,
        "unit": "percent",
        "n": 10,
        "n_valid": 10,
        "clusters": 10,
        "interval_low": value - 5,
        "interval_high": value + 5,
    }
    return Summary(model=model, prompt=f"grid_{size}", value=value, **found | changes)


def spec_of(**changes):
    return parse_figure("f.yaml", SPEC | changes)


def points(line):
    return [(p.size, p.value, p.low, p.high, p.complete) for p in line.points]


def test_a_line_has_the_metric_of_its_model_at_each_size_that_was_run():
    rows = [
        row(size=64, value=40.0, infrastructure=1),
        row(size=8, value=20.0),
        row("beta", 16, 30.0, interval_low=None, interval_high=float("nan")),
        row("gamma", 8),
        row(size=32),
        row(size=16, stratum="first_50"),
        row(size=16, severity=2.0),
        row(size=16, value=float("nan")),
        row(size=16, value=0.5, metric="paired_cosine", interval_low=0.25, interval_high=0.75),
    ]
    top1, cosine = size_lines(spec_of(), LABELS, rows)
    assert [line.label for line in top1] == ["Alpha", "Beta"]
    assert points(top1[0]) == [(8, 20.0, 15.0, 25.0, True), (64, 40.0, 35.0, 45.0, False)]
    assert points(top1[1]) == [(16, 30.0, None, None, True)]
    assert [(line.label, points(line)) for line in cosine] == [
        ("Alpha", [(16, 50.0, 25.0, 75.0, True)])
    ]


def test_a_model_that_is_not_in_the_run_keeps_the_others_colours():
    (line,) = size_lines(spec_of(), {"beta": "Beta"}, [row("alpha"), row("beta")])[0]
    assert (line.label, line.place) == ("Beta", 1)


def test_a_scorer_with_several_variants_needs_one_named():
    rows = [row(), row(variant="lenient")]
    with pytest.raises(SpecError, match="lenient, strict"):
        size_lines(spec_of(), LABELS, rows)
    panel = PANEL | {"variant": "lenient"}
    (lines,) = size_lines(spec_of(panels=[panel]), LABELS, rows)
    assert len(lines) == 1 and len(lines[0].points) == 1


def test_the_panels_are_drawn_with_bands_marks_and_one_legend():
    rows = [row(m, s, v) for m, v in (("alpha", 40.0), ("beta", 60.0)) for s in (8, 16, 64)]
    rows.append(row("gamma", 8))
    spec = spec_of()
    lines = size_lines(spec, LABELS, rows)
    figure = draw_size_curves(spec, lines)
    first, second = figure.axes
    assert sum(isinstance(c, PolyCollection) for c in first.collections) == 2
    drawn = [line for line in first.lines if len(line.get_xdata()) == 3]
    assert [list(line.get_ydata()) for line in drawn] == [[40.0] * 3, [60.0] * 3]
    assert list(drawn[0].get_xdata()) == [8, 16, 64] and first.get_xscale() == "log"
    assert first.get_title() == "Top-1 ↑"
    assert [text.get_text() for text in second.texts] == ["not run"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Alpha", "Beta"]
    assert figure_png(figure, "m") == figure_png(draw_size_curves(spec, lines), "m")


def test_many_lines_have_bars_that_do_not_hide_each_other():
    names = [f"m{i}" for i in range(6)]
    spec = spec_of(models=names, panels=[PANEL])
    lines = size_lines(spec, {n: n for n in names}, [row(n, s) for n in names for s in (8, 16)])
    (axes,) = draw_size_curves(spec, lines).axes
    bars = [c for c in axes.collections if isinstance(c, LineCollection)]
    starts = {bar.get_segments()[0][0][0] for bar in bars}
    assert len(bars) == len(starts) == 6


def test_lines_are_told_apart_by_colour_and_by_marker():
    assert len(set(COLOURS)) == len(COLOURS) == len(set(MARKERS)) == len(MARKERS)
