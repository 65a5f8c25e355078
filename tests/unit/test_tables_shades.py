"""Shades behind numbers, by hand."""

import pytest
from test_tables_build import COLUMN, build, cells, spec, summary

from gensight.errors import SpecError
from gensight.tables import render_tex
from gensight.tables.shades import colour

SHADED = {**COLUMN, "shade": "gIoU"}
OTHER = {**COLUMN, "benchmark": "photographs", "header": "other", "shade": "gIoU"}


def shades(table, model):
    return [cell.shade for cell in cells(table, model)]


def test_a_family_shares_one_scale_from_its_worst_to_its_best_number():
    rows = [
        summary("alpha", 0.2),
        summary("beta", 0.4),
        summary("gamma", 0.3),
        summary("alpha", 0.6, benchmark="photographs"),
        summary("beta", 0.5, benchmark="photographs"),
    ]
    table = build(rows, spec([SHADED, OTHER, {**COLUMN, "header": "plain"}]))
    assert shades(table, "alpha") == pytest.approx([0.0, 1.0, None])
    assert shades(table, "beta") == pytest.approx([0.5, 0.75, None])
    assert shades(table, "gamma") == [pytest.approx(0.25), None, None]
    tex = render_tex(table)
    assert rf"\cellcolor[HTML]{{{colour(1.0)}}}" in tex
    assert r"\cellcolor[HTML]{FFFFFF}20.0" in tex and r" & 40.0 \\" not in tex.split("plain")[0]
    assert "white is the worst, blue the best measured number" in tex


def test_rows_that_do_not_compete_end_where_the_scale_ends():
    rows = [summary("alpha", 0.2), summary("beta", 0.4), summary("oracle", 0.9)]
    rows += [summary("salient", 0.1), summary("gamma", 0.3)]
    table = build(rows, spec([SHADED]))
    assert (shades(table, "oracle"), shades(table, "salient")) == ([1.0], [0.0])


def test_published_rows_have_a_scale_of_their_own():
    rows = [summary("alpha", 0.2), summary("beta", 0.4)]
    rows += [summary("cited", 0.8), summary("other", 0.6)]
    table = build(rows, spec([SHADED]))
    assert shades(table, "alpha") + shades(table, "beta") == [0.0, 1.0]
    assert shades(table, "other") + shades(table, "cited") == [0.0, 1.0]
    alone = build(rows[:3], spec([SHADED]))
    assert shades(alone, "cited") == [None]


def test_where_lower_is_better_the_lowest_number_is_blue():
    rows = [summary(m, v, higher_is_better=False) for m, v in (("alpha", 0.2), ("beta", 0.4))]
    table = build(rows, spec([SHADED]))
    assert (shades(table, "alpha"), shades(table, "beta")) == ([1.0], [0.0])


def test_stated_ends_hold_for_every_row():
    stated = {"gIoU": {"white": 8, "blue": 85}}
    rows = [summary("alpha", 0.08 + 0.77 / 4), summary("cited", 0.85), summary("beta", 0.01)]
    table = build(rows, spec([SHADED], shades=stated))
    assert shades(table, "alpha") == [pytest.approx(0.25)]
    assert (shades(table, "cited"), shades(table, "beta")) == ([1.0], [0.0])
    assert "white to blue: gIoU: 8 to 85." in " ".join(table.notes)


@pytest.mark.parametrize(
    "rows",
    [
        [summary("alpha", 0.2)],
        [summary("alpha", 0.2), summary("beta", 0.2)],
        [summary("alpha", 0.2), summary("beta", 0.4, infrastructure=3)],
    ],
)
def test_less_than_two_numbers_are_no_scale(rows):
    table = build(rows, spec([SHADED]))
    assert shades(table, "alpha") == [None]
    assert "cellcolor" not in render_tex(table) and "hades" not in " ".join(table.notes)


def test_a_gain_beside_a_shaded_number_has_no_shade():
    rows = [
        summary(m, v, higher_is_better=False, floor=1.0, ceiling=0.0, floor_model="salient")
        for m, v in (("alpha", 0.2), ("beta", 0.4))
    ]
    table = build(rows, spec([SHADED], show_gain=True))
    assert (shades(table, "alpha"), shades(table, "beta")) == ([1.0, None], [0.0, None])


def test_a_family_has_one_direction():
    rows = [summary(m, v) for m, v in (("alpha", 0.2), ("beta", 0.4))]
    rows += [
        summary(m, v, benchmark="photographs", higher_is_better=False)
        for m, v in (("alpha", 0.2), ("beta", 0.4))
    ]
    with pytest.raises(SpecError, match=r"shade: gIoU \(gIoU, other\): more is better in some"):
        build(rows, spec([SHADED, OTHER]))


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"IoU": {"white": 0, "blue": 1}}, "no column has shade: IoU"),
        ({"gIoU": {"white": 1, "blue": 1}}, "a scale has two ends"),
        ({"gIoU": {"white": float("inf"), "blue": 1}}, "white"),
    ],
)
def test_a_scale_is_of_some_columns_and_has_two_ends(stated, told):
    with pytest.raises(SpecError, match=told):
        spec([SHADED], shades=stated)
