from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import matplotlib
import pytest

from gensight.errors import SpecError
from gensight.figures import (
    curve_panel,
    draw_disturbance_curves,
    figure_pdf,
    figure_png,
    panel_rows,
)
from gensight.figures.curves import CurvePoint
from gensight.records import Summary
from gensight.specs.base import parse
from gensight.specs.figures import DisturbanceCurvesSpec

MARK = "gensight-digest:" + "fedcba9876543210" * 4 + " gensight-inputs:" + "00" * 32
SPEC = {
    "kind": "disturbance_curves",
    "title": "Curves",
    "caption": "What it costs.",
    "undisturbed": "oracle",
    "panels": [
        {"benchmark": "scenes", "scorer": "mask", "metric": "giou", "label": "gIoU", "scale": 100},
        {
            "benchmark": "depths",
            "scorer": "depth",
            "fit": "depth",
            "metric": "absrel",
            "label": "A",
        },
    ],
    "disturbances": [
        {"model": "shift", "label": "Shift", "unit": "%"},
        {"model": "hue", "label": "Hue $_\\", "unit": "°"},
    ],
}


def spec(**changes):
    return parse("f.yaml", DisturbanceCurvesSpec, SPEC | changes)


def summary(model, severity, value, **changes):
    row = {
        "model": model,
        "severity": severity,
        "benchmark": "scenes",
        "prompt": "mid",
        "scorer": "mask",
        "variant": "otsu",
        "metric": "giou",
        "higher_is_better": True,
        "unit": "fraction",
        "value": value,
        "n": 20,
        "n_valid": 20,
        "clusters": 20,
        "floor": 0.25,
        "ceiling": 0.75,
    }
    return Summary(**row | changes)


ROWS = [
    summary("shift", 8.0, 0.25, interval_low=0.125, interval_high=0.5),
    summary("shift", 2.0, 0.5, infrastructure=1),
    summary("oracle", None, 0.75),
    summary("salient", None, 0.25),
    summary("shift", 4.0, None),
]


def test_a_panel_holds_the_scaled_summary_rows_by_severity():
    shown = spec()
    panel = curve_panel(shown.panels[0], shown.disturbances[0], shown.undisturbed, ROWS)
    assert panel.points == (
        CurvePoint(0.0, 75.0, None, None, complete=True),
        CurvePoint(2.0, 50.0, None, None, complete=False),
        CurvePoint(8.0, 25.0, 12.5, 50.0, complete=True),
    )
    assert (panel.floor, panel.ceiling) == (25.0, 75.0)


def test_without_an_undisturbed_model_curves_begin_at_the_first_severity():
    shown = spec(undisturbed=None)
    panel = curve_panel(shown.panels[0], shown.disturbances[0], None, ROWS)
    assert [point.severity for point in panel.points] == [2.0, 8.0]


def test_an_undisturbed_point_alone_is_no_curve():
    shown = spec()
    panel = curve_panel(shown.panels[0], shown.disturbances[1], shown.undisturbed, ROWS)
    assert panel.points == () and panel.ceiling == 75.0


def lines_of(axes):
    return [tuple(map(tuple, line.get_xydata())) for line in axes.get_lines()]


def test_the_figure_draws_each_panel_and_says_what_was_not_run():
    figure = draw_disturbance_curves(spec(), ROWS)
    shift, hue, *depths = figure.axes
    assert ((0.0, 75.0), (2.0, 50.0), (8.0, 25.0)) in lines_of(shift)
    assert ((8.0, 12.5), (8.0, 50.0)) in lines_of(shift)
    assert [text.get_text() for axes in (hue, *depths) for text in axes.texts] == ["not run"] * 3
    assert shift.get_ylabel() == "gIoU ↑" and depths[0].get_ylabel() == "A"
    assert shift.get_ylim() == hue.get_ylim()
    assert [axes.get_xlabel() for axes in depths] == ["%", "°"]


def test_rows_of_other_prompts_strata_and_fits_take_no_part():
    others = [
        summary("shift", 8.0, 0.9, prompt="short"),
        summary("shift", 8.0, 0.9, stratum="indoor"),
        summary("shift", 8.0, 0.9, fit="depth"),
        summary("shift", 8.0, 0.9, benchmark="elsewhere"),
    ]
    assert panel_rows(spec().panels[0], others + ROWS) == ROWS
    both = [draw_disturbance_curves(spec(), rows) for rows in (ROWS, others + ROWS)]
    assert lines_of(both[0].axes[0]) == lines_of(both[1].axes[0])


def test_several_variants_must_be_named():
    rows = [*ROWS, summary("shift", 8.0, 0.3, variant="kmeans")]
    with pytest.raises(SpecError, match="name a variant; scorer 'mask' has kmeans, otsu"):
        draw_disturbance_curves(spec(), rows)


def test_nothing_at_all_still_draws():
    assert figure_png(draw_disturbance_curves(spec(), []), MARK).startswith(b"\x89PNG")


def test_the_digest_is_found_in_the_bytes_and_no_date_is():
    figure = draw_disturbance_curves(spec(), ROWS)
    pdf, png = figure_pdf(figure, MARK), figure_png(figure, MARK)
    assert MARK.encode() in pdf
    assert b"tEXtgensight\x00" + MARK.encode() in png
    assert b"CreationDate" not in pdf and b"/Type3" not in pdf
    assert pdf.startswith(b"%PDF") and png.startswith(b"\x89PNG")


def test_a_users_matplotlib_settings_change_nothing_and_are_kept():
    expected = figure_png(draw_disturbance_curves(spec(), ROWS), MARK)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "lines.linewidth": 9}):
        assert figure_png(draw_disturbance_curves(spec(), ROWS), MARK) == expected
        assert matplotlib.rcParams["font.size"] == 30


def test_other_processes_write_the_same_bytes():
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]); import test_figures_curves as t;"
        "figure = t.draw_disturbance_curves(t.spec(), t.ROWS[::-1]);"
        "data = t.figure_pdf(figure, t.MARK) + t.figure_png(figure, t.MARK);"
        "print(hashlib.sha256(data).hexdigest())"
    )
    figure = draw_disturbance_curves(spec(), ROWS)
    data = figure_pdf(figure, MARK) + figure_png(figure, MARK)
    environment = os.environ | {"PYTHONHASHSEED": "7", "MPLBACKEND": "svg", "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(__file__)],  # noqa: PTH120
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.strip() == hashlib.sha256(data).hexdigest()
