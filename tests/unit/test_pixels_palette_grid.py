"""A palette grid: its picture, its text, and what it refuses to be."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gensight.pixels import PaletteGrid

WHITE, RED, BLUE = (255, 255, 255), (214, 40, 40), (0, 18, 255)


def grid(rows=("0121", "0000", "2222", "1000"), palette=(WHITE, RED, BLUE)):
    return PaletteGrid(tuple(palette), np.array([list(map(int, row)) for row in rows], np.uint8))


def test_the_picture_paints_every_cell_with_its_colour():
    picture = grid().picture()
    assert (picture.dtype, picture.shape) == (np.uint8, (4, 4, 3))
    assert picture[0].tolist() == [list(WHITE), list(RED), list(BLUE), list(RED)]
    assert picture[3].tolist() == [list(RED), *[list(WHITE)] * 3]


def test_every_cell_becomes_a_square():
    enlarged = grid().enlarged(3)
    assert enlarged.shape == (12, 12, 3)
    for row in range(12):
        for column in range(12):
            assert (enlarged[row, column] == grid().picture()[row // 3, column // 3]).all()
    assert (grid().enlarged(1) == grid().picture()).all()
    with pytest.raises(ValueError, match="enlarged by 1 or more, not 0"):
        grid().enlarged(0)


def test_the_text_is_one_canonical_line():
    text = grid().text()
    assert text == (
        '{"palette":["#FFFFFF","#D62828","#0012FF"],"pixels":["0121","0000","2222","1000"]}'
    )
    assert json.loads(text)["pixels"] == grid().rows()


def test_equality_is_by_content():
    assert grid() == grid()
    assert hash(grid()) == hash(grid())
    assert grid() != grid(rows=("0121", "0000", "2222", "1001"))
    assert grid() != grid(palette=(WHITE, BLUE, RED))
    assert grid() != "grid"
    assert len({grid(), grid()}) == 1


def test_the_used_colours_are_those_of_the_cells():
    assert grid().used_colours == (WHITE, RED, BLUE)
    assert grid(rows=("22", "02")).used_colours == (WHITE, BLUE)
    assert grid(rows=("11", "11")).used_colours == (RED,)
    assert grid(rows=("01", "10"), palette=(RED, RED)).used_colours == (RED,)


def test_a_grid_cannot_be_changed_from_outside():
    cells = np.zeros((2, 2), np.uint8)
    kept = PaletteGrid((WHITE, RED), cells)
    cells[0, 0] = 1
    assert kept.cells[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        kept.cells[0, 0] = 1


def test_palettes_and_cells_may_come_as_numpy_numbers():
    palette = tuple(map(tuple, np.array([WHITE, RED], np.uint8)))
    kept = PaletteGrid(palette, np.eye(2, dtype=np.uint8))
    assert kept == grid(rows=("10", "01"), palette=(WHITE, RED))
    assert {type(part) for colour in kept.palette for part in colour} == {int}


@pytest.mark.parametrize(
    ("palette", "cells", "said"),
    [
        ((WHITE,), np.zeros((2, 2), np.uint8), "2 to 8 colours, not 1"),
        ((WHITE,) * 9, np.zeros((2, 2), np.uint8), "2 to 8 colours, not 9"),
        ((WHITE, (0, 0)), np.zeros((2, 2), np.uint8), "three whole numbers"),
        ((WHITE, (0, 0, 256)), np.zeros((2, 2), np.uint8), "three whole numbers"),
        ((WHITE, (0, 0, 0.5)), np.zeros((2, 2), np.uint8), "three whole numbers"),
        ((WHITE, RED), np.zeros((2, 3), np.uint8), "square of uint8"),
        ((WHITE, RED), np.zeros((0, 0), np.uint8), "square of uint8"),
        ((WHITE, RED), np.zeros((2, 2), np.int64), "square of uint8"),
        ((WHITE, RED), np.full((2, 2), 2, np.uint8), "outside its 2 colours"),
    ],
)
def test_what_is_no_grid_is_refused(palette, cells, said):
    with pytest.raises(ValueError, match=said):
        PaletteGrid(palette, cells)
