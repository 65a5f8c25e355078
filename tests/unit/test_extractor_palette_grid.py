"""Palette grids of answers: what stands in the columns, for both ways of reading."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gensight.errors import SpecError
from gensight.extractors import Answer, palette_grid
from gensight.pixels import BrokenRuleError, PaletteGrid, stored_grid
from gensight.records import Prediction

GRID = '{"sample_id": "x", "palette": ["#ffffff", "#d62828", "#000000"], "pixels": ["01", "10"]}'


def readings(text, **parameters):
    answer = Answer(text=text, source_width=8, source_height=8)
    found = palette_grid.extract(answer, {"size": 2, **parameters})
    return {reading.variant: reading for reading in found}


def test_a_valid_grid():
    both = readings(GRID)
    assert list(both) == ["strict", "lenient"]
    for reading in both.values():
        assert (reading.status, reading.reason) == ("ok", None)
        assert reading.fields["text"] == (
            '{"palette":["#FFFFFF","#D62828","#000000"],"pixels":["01","10"]}'
        )
        assert reading.fields["degenerate_output"] is False
        assert reading.fields["facts"] == {
            "fence_stripped": 0.0,
            "n_colours": 3.0,
            "n_used_colours": 2.0,
            "valid_lenient": 1.0,
            "valid_strict": 1.0,
        }
        assert json.loads(reading.fields["parameters"]) == {"shape": "grid", "size": 2}


def test_the_stored_text_is_the_grid():
    grid = stored_grid(readings(GRID)["strict"].fields["text"])
    assert isinstance(grid, PaletteGrid)
    assert grid.cells.tolist() == [[0, 1], [1, 0]]
    assert grid.palette == ((255, 255, 255), (214, 40, 40), (0, 0, 0))
    for text in ("", "7", "{}", '{"palette": ["#000000", "#ffffff"], "pixels": []}'):
        with pytest.raises(BrokenRuleError):
            stored_grid(text)


def test_a_fence_parts_the_variants():
    both = readings(f"```json\n{GRID}\n```")
    strict, lenient = both["strict"], both["lenient"]
    assert (strict.status, strict.reason) == ("invalid", "fenced")
    assert "text" not in strict.fields
    assert strict.fields["facts"] == {
        "fence_stripped": 1.0,
        "valid_lenient": 1.0,
        "valid_strict": 0.0,
    }
    assert lenient.status == "ok"
    assert lenient.fields["facts"]["fence_stripped"] == 1.0
    assert lenient.fields["text"] == readings(GRID)["strict"].fields["text"]


def test_the_first_broken_rule_is_the_reason():
    for reading in readings(GRID, size=3).values():
        assert (reading.status, reading.reason) == ("invalid", "row_count")
        assert reading.detail == "the reply is no palette grid (row_count): 2 rows, not 3"
        assert "text" not in reading.fields
        assert "degenerate_output" not in reading.fields


def test_a_flat_grid_is_valid_and_flagged():
    flat = readings(GRID.replace("01", "11").replace('"10"', '"11"'))["strict"]
    assert (flat.status, flat.fields["degenerate_output"]) == ("ok", True)
    same = readings('{"palette": ["#000000", "#000000"], "pixels": ["01", "10"]}')["strict"]
    assert (same.status, same.fields["degenerate_output"]) == ("ok", True)


def test_no_text_is_no_output():
    both = readings(None)
    assert list(both) == ["strict", "lenient"]
    for reading in both.values():
        assert (reading.status, reading.reason) == ("no_output", "no_text")


def test_icons_stand_in_a_list():
    text = f'{{"images": [{GRID}]}}'
    assert readings(text, shape="images")["strict"].status == "ok"
    assert readings(text)["strict"].reason == "no_palette"
    assert readings(GRID, shape="images")["strict"].reason == "no_images"


def test_variants_and_columns_are_those_declared():
    assert list(readings(GRID, variants=["lenient"])) == ["lenient"]
    columns = {field.name for field in dataclasses.fields(Prediction)}
    for text in (GRID, "", None):
        assert set(readings(text)["strict"].fields) <= columns
    with pytest.raises(SpecError, match=r"parameters\.size: expected 1 or more, got 0"):
        readings(GRID, size=0)
    with pytest.raises(SpecError, match=r"parameters\.shape"):
        readings(GRID, shape="image")
