"""Sweeps: every combination, once, equal to a single reading, with a name that can be read."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pytest
from images_by_hand import photograph, saved

from gensight.errors import SpecError
from gensight.extractors import Answer, dots, grid, mask
from gensight.images import encode_png

SIDE = 128


def answer(image="marked"):
    source = np.full((SIDE, SIDE, 3), (90, 120, 90), np.uint8)
    marked = source.copy()
    for place, size in enumerate((3, 5, 8, 12, 20)):
        marked[10 : 10 + size, 5 + 24 * place : 5 + 24 * place + size] = (255, 30 * place, 0)
    return Answer(
        image=encode_png(marked) if image == "marked" else image,
        source=encode_png(source),
        source_width=SIDE,
        source_height=SIDE,
    )


SWEEP = {
    "extractor": "dots",
    "variant": "diff_red_blob",
    "parameters": {"long_side_px": SIDE},
    "grid": {
        "saturation_floor": [130, 150, 160],
        "min_area": [4, 12],
        "max_area": [100, 1500],
        "min_circularity": [0.6, 0.8],
        "min_inertia_ratio": [0.2, 0.5],
    },
}


def test_a_sweep_is_exhaustive_and_equals_single_readings():
    readings = grid.extract(answer(), SWEEP)
    assert len(readings) == 3 * 2 * 2 * 2 * 2
    names = sorted(SWEEP["grid"])
    found = {}
    for reading in readings:
        combination = json.loads(reading.fields["parameters"])
        assert list(combination) == names
        found[tuple(combination.values())] = reading.fields["count"]
    expected = {}
    for values in product(*(SWEEP["grid"][name] for name in names)):
        parameters = {**dict(zip(names, values, strict=True)), "long_side_px": SIDE}
        expected[values] = dots.extract(answer(), parameters)[0].fields["count"]
    assert found == expected
    assert len(set(found.values())) > 2


def test_names_are_readable_unique_and_in_order():
    names = [reading.variant for reading in grid.extract(answer(), SWEEP)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_.=-]+", name) for name in names)
    assert names[1] == (
        "max_area=100-min_area=4-min_circularity=0.6-min_inertia_ratio=0.2-saturation_floor=150"
    )


def test_rows_hold_no_places():
    for reading in grid.extract(answer(), SWEEP):
        assert set(reading.fields) == {"count", "degenerate_output", "parameters"}


def test_keys_come_in_alphabetical_order_however_they_are_written():
    turned = {**SWEEP, "grid": dict(reversed(SWEEP["grid"].items()))}
    assert grid.extract(answer(), turned) == grid.extract(answer(), SWEEP)


def test_any_extractor_can_be_swept_and_keep_what_a_measure_needs():
    picture = saved(photograph(), "PNG")
    asked = Answer(image=picture, source_width=64, source_height=48)
    readings = grid.extract(
        asked,
        {
            "extractor": "mask",
            "variant": "threshold_225",
            "grid": {"contrast_floor": [16, 300], "flat_threshold": [10, 240]},
            "keep": ["mask"],
        },
    )
    assert [reading.fields["degenerate_output"] for reading in readings] == [False] * 2 + [True] * 2
    for reading in readings:
        parameters = {**json.loads(reading.fields["parameters"]), "variants": ["threshold_225"]}
        assert reading.fields["mask"] == mask.extract(asked, parameters)[0].fields["mask"]


def test_points_can_be_kept_too():
    (first, *_) = grid.extract(answer(), {**SWEEP, "keep": ["count", "points"]})
    assert len(first.fields["points"]) == first.fields["count"]


def test_without_a_variant_the_extractor_s_first_is_read():
    default = {key: value for key, value in SWEEP.items() if key != "variant"}
    assert grid.extract(answer(), default) == grid.extract(answer(), SWEEP)


@pytest.mark.parametrize(
    ("image", "status", "reason"),
    [(None, "no_output", "no_image"), (b"<html>", "invalid", "unreadable")],
)
def test_failed_answers_have_all_rows(image, status, reason):
    readings = grid.extract(answer(image), SWEEP)
    assert len(readings) == 48
    assert {(reading.status, reading.reason) for reading in readings} == {(status, reason)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extractor": None}, "'parameters.extractor' is missing"),
        ({"extractor": "dot"}, "did you mean 'dots'"),
        ({"extractor": "grid"}, "a grid cannot sweep a grid"),
        ({"variant": "blob"}, "'blob' is not known"),
        ({"grid": {}}, "it is empty"),
        ({"grid": {"min_area": 4}}, "grid.min_area: expected a list of values, got 4"),
        ({"grid": {"min_area": []}}, "expected a list of values"),
        ({"grid": {"min_area": [4, 4]}}, "listed twice"),
        ({"grid": {"min_aera": [4]}}, "did you mean 'min_area'"),
        ({"grid": {"assumed_x": ["a b"]}}, "cannot be in a name"),
        ({"keep": ["masks"]}, "did you mean 'mask'"),
        ({"keep": ["mask"]}, "nothing was read as mask"),
    ],
)
def test_mistakes_name_their_key(change, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        grid.extract(answer(), {**SWEEP, **change})


@pytest.mark.parametrize(
    ("combination", "name"),
    [
        ({"a": 1e6, "b": -0.5}, "a=1000000.0-b=-0.5"),
        ({"a": 1e30}, "a=1e30"),
        ({"a": True, "b": None}, "a=true-b=null"),
        ({"colour": [255, 0, 128]}, "colour=255_0_128"),
        ({"z": "rapidocr", "a": 1}, "a=1-z=rapidocr"),
    ],
)
def test_names_spell_any_value(combination, name):
    assert grid.variant_name(combination) == name
