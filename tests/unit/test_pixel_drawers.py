"""Reference drawers: exact grids of small drawings, faults of a known size, several at once."""

from __future__ import annotations

import json
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from gensight import images
from gensight.datasets.icons import draw
from gensight.errors import GensightError, SpecError
from gensight.measures import grid_failures
from gensight.models import Part, Turn
from gensight.models.reference import open_model
from gensight.pixels.grid_text import read_grid
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Sample

WHITE, RED, BLUE = (255, 255, 255), (200, 0, 0), (0, 0, 180)
GRID, LIST = "grid", "images"


def form(size, shape=GRID):
    return {"kind": "text", "content": "palette_grid", "shape": shape, "size": size}


def sample(picture=None, name="s0", label="a cup"):
    stored = None if picture is None else {"bytes": images.encode_png(picture), "path": None}
    return Sample(sample_id=name, rank=0, cluster_id=name, query=label, target_image=stored)


def turn(first, *others, size=8, shape=GRID, severity=None, **more):
    return Turn(
        parts=(Part("text", text="Draw."),),
        answer_form=form(size, shape),
        truth=first,
        companions=others,
        severity=severity,
        **more,
    )


def drawer(disturbance=None, *severities):
    block = {"method": "drawer", "grid_disturbance": disturbance, "severities": list(severities)}
    return open_model(block, [])


def grid_in(text, size=8, **more):
    found = read_grid(text, size, **more).strict
    assert found.broken_rule is None, found.detail
    return found.grid


def drawn(picture, size=8, severity=None, disturbance=None):
    reply = drawer(disturbance).answer(turn(sample(picture), size=size, severity=severity))
    assert reply.outcome == "ok"
    return grid_in(reply.text, size)


def blocks(cells, side):
    """A picture of cells, each so many pixels a side."""
    return np.array(cells, np.uint8).repeat(side, axis=0).repeat(side, axis=1)


QUARTERS = [[WHITE, RED], [BLUE, WHITE]]


# -- the drawing


@pytest.mark.parametrize("side", [1, 3, 16])
def test_a_drawing_of_cells_is_that_grid(side):
    grid = drawn(blocks(QUARTERS, side), 2)
    assert grid.picture().tolist() == np.array(QUARTERS).tolist()
    assert grid.palette[0] == WHITE  # of most cells


def test_a_cell_is_the_mean_of_what_it_covers():
    picture = np.zeros((4, 4, 3), np.uint8)
    picture[:, :2] = WHITE
    picture[0, 0] = (51, 255, 255)
    assert drawn(picture, 2).picture().tolist() == [
        [[204, 255, 255], [0, 0, 0]],
        [[255, 255, 255], [0, 0, 0]],
    ]


def test_a_drawing_may_have_fewer_pixels_than_the_grid_has_cells():
    grid = drawn(blocks(QUARTERS, 1), 8)
    assert np.array_equal(grid.picture(), blocks(QUARTERS, 4))


def test_a_see_through_drawing_lies_on_white():
    rgba = np.zeros((2, 2, 4), np.uint8)
    rgba[0, 0] = (*RED, 255)
    stored = BytesIO()
    Image.fromarray(rgba).save(stored, "PNG")
    one = Sample(
        sample_id="s",
        rank=0,
        cluster_id="s",
        target_image={"bytes": stored.getvalue(), "path": None},
    )
    grid = grid_in(drawer().answer(turn(one, size=2)).text, 2)
    assert grid.picture().tolist() == [[list(RED), list(WHITE)], [list(WHITE), list(WHITE)]]


@pytest.mark.parametrize("size", [8, 16, 64])
def test_every_own_drawing_is_a_valid_grid_of_a_few_colours(size):
    for label in ("cat", "key", "tree"):
        grid = drawn(draw(label, "first", 256, WHITE), size)
        assert grid.size == size and 2 <= len(grid.used_colours) <= 8


# -- several in one answer


def test_each_of_several_is_drawn_under_its_label():
    colours = {"a cup": RED, 'a "bow"\ntie': BLUE, "Käse {1}": (0, 99, 0)}
    some = [sample(blocks([[c]], 4), str(c), label) for label, c in colours.items()]
    reply = drawer().answer(turn(*some, size=4, shape=LIST))
    assert [image["label"] for image in json.loads(reply.text)["images"]] == list(colours)
    for label, colour in colours.items():
        grid = grid_in(reply.text, 4, shape=LIST, label=label)
        assert grid.used_colours == (colour,)


def test_one_icon_of_a_list_is_the_only_one():
    reply = drawer().answer(turn(sample(blocks(QUARTERS, 4)), size=2, shape=LIST))
    assert grid_in(reply.text, 2, shape=LIST).picture().tolist() == np.array(QUARTERS).tolist()
    (image,) = json.loads(reply.text)["images"]
    assert sorted(image) == ["label", "palette", "pixels"]


@pytest.mark.parametrize("method", ["flat_grid", "noise_grid"])
def test_floors_answer_about_several_as_well(method):
    some = [sample(name=f"s{rank}", label=f"thing {rank}") for rank in range(3)]
    reply = open_model({"method": method}, []).answer(turn(*some, shape=LIST))
    for one in some:
        grid_in(reply.text, shape=LIST, label=one.query)


# -- what is wrong with it


def speckled(size=16, seed=3):
    """A picture whose cells at this size all differ from their neighbours."""
    return np.random.default_rng(seed).integers(0, 256, (size, size, 3), np.uint8)


@pytest.mark.parametrize("factor", [2, 4, 8])
@pytest.mark.parametrize("size", [16, 32])
def test_a_collapsed_grid_is_made_of_blocks_and_its_factor_is_found(size, factor):
    grid = drawn(speckled(size), size, factor, "collapse")
    corners = grid.cells[::factor, ::factor]
    assert np.array_equal(grid.cells, corners.repeat(factor, axis=0).repeat(factor, axis=1))
    looks = grid_failures.looks_of(grid, grid_failures.DEFAULTS)
    assert (looks["collapse_factor"], looks["collapsed"]) == (factor, 1.0)
    # It is the grid that a size so many times smaller would have been answered with.
    assert PaletteGrid(grid.palette, corners) == drawn(speckled(size), size // factor)


def test_an_icon_that_is_drawn_at_full_size_is_not_collapsed_and_one_at_half_is():
    picture = draw("cat", "first", 256, WHITE)
    looks = [
        grid_failures.looks_of(drawn(picture, 32, factor, "collapse"), grid_failures.DEFAULTS)
        for factor in (0, 1, 2, 4)
    ]
    assert [look["collapsed"] for look in looks] == [0.0, 0.0, 1.0, 1.0]
    assert [look["collapse_factor"] for look in looks] == [1.0, 1.0, 2.0, 4.0]


def test_a_factor_that_does_not_divide_leaves_narrow_blocks_at_the_far_edges():
    grid = drawn(speckled(8), 8, 3, "collapse")
    for axis in (0, 1):
        changes = (np.diff(grid.picture().astype(int), axis=axis) != 0).any(axis=(1 - axis, 2))
        assert np.flatnonzero(changes).tolist() == [2, 5]


def test_a_factor_beyond_the_size_leaves_one_colour():
    grid = drawn(speckled(8), 8, 20, "collapse")
    assert len(grid.used_colours) == 1 and grid.size == 8


@pytest.mark.parametrize(("degrees", "turns"), [(90, 1), (180, 2), (270, 3)])
def test_a_turned_drawing_is_turned(degrees, turns):
    picture = blocks(QUARTERS, 8)
    assert np.array_equal(
        drawn(picture, 2, degrees, "turn").picture(), np.rot90(np.array(QUARTERS), turns)
    )


def test_corners_that_a_turn_opens_are_white():
    grid = drawn(np.zeros((64, 64, 3), np.uint8), 8, 45, "turn")
    picture = grid.picture()
    assert {tuple(picture[y, x]) for y in (0, -1) for x in (0, -1)} == {WHITE}
    assert tuple(picture[4, 4]) == (0, 0, 0)


@pytest.mark.parametrize(("percent", "level"), [(0, 0), (10, 26), (50, 128), (75, 191), (100, 255)])
def test_a_faded_drawing_has_so_much_white_mixed_in(percent, level):
    black = np.zeros((8, 8, 3), np.uint8)
    assert drawn(black, 4, percent, "fade").used_colours == ((level,) * 3,)


@pytest.mark.parametrize("disturbance", ["collapse", "turn", "fade"])
def test_no_severity_leaves_the_drawing(disturbance):
    picture = speckled()
    assert drawn(picture, 16, 0, disturbance) == drawn(picture, 16, None, disturbance)
    assert drawn(picture, 16, 0, disturbance) == drawn(picture, 16)


@pytest.mark.parametrize(
    ("disturbance", "severity", "told"),
    [
        ("collapse", 2.5, "2.5 is no severity of 'collapse'; write a whole number of times"),
        ("collapse", 0.5, "0.5 is no severity of 'collapse'; write a whole number of times"),
        ("fade", 101, "101 is no severity of 'fade'; write at most 100 per cent"),
    ],
)
def test_a_severity_that_cannot_be_is_one_line(disturbance, severity, told):
    with pytest.raises(SpecError, match=told):
        drawer(disturbance, severity)
    with pytest.raises(SpecError, match=told):
        drawer(disturbance).answer(turn(sample(speckled()), severity=severity))


def test_severities_without_a_disturbance_are_one_line():
    with pytest.raises(SpecError, match="severities: name the disturbance they belong to"):
        drawer(None, 2)


# -- floors


def test_a_flat_grid_has_one_grey_level():
    for level in (0, 128, 255):
        model = open_model({"method": "flat_grid", "level": level}, [])
        grid = grid_in(model.answer(turn(sample(), size=5)).text, 5)
        assert grid.used_colours == ((level,) * 3,)


def noise(name, size=8, **more):
    model = open_model({"method": "noise_grid"}, [])
    return grid_in(model.answer(turn(sample(name=name), size=size, **more)).text, size)


def test_noise_is_the_same_for_a_sample_and_another_for_the_next():
    assert noise("s0") == noise("s0", seed=9, repeat=3)
    assert noise("s0") != noise("s1")
    assert noise("s0", 16).cells[:8, :8].tolist() != noise("s0").cells.tolist()


def test_noise_has_all_colours_and_no_order():
    grid = noise("s0", 64)
    counts = np.bincount(grid.cells.ravel(), minlength=8)
    assert len(counts) == 8
    # 512 cells a colour are expected; four standard deviations are 85.
    assert abs(counts - 512).max() < 85
    looks = grid_failures.looks_of(grid, grid_failures.DEFAULTS)
    assert (looks["collapsed"], looks["repeated"], looks["flat"]) == (0.0, 0.0, 0.0)


def test_noise_is_pinned():
    """The floor of every table stays what it is."""
    assert noise("s0", 4).rows() == ["3751", "5150", "2215", "4136"]
    assert noise("s0", 4).hex_colours()[:2] == ["#C7CFA8", "#F9A584"]


def test_the_first_option_is_the_letter_a():
    choice = Turn(
        parts=(Part("text", text="Which?"),),
        answer_form={"kind": "text", "content": "letter", "options": 10},
        truth=sample(),
    )
    reply = open_model({"method": "first_option"}, []).answer(choice)
    assert (reply.outcome, reply.text) == ("ok", "A")


# -- what cannot be answered


@pytest.mark.parametrize("method", ["drawer", "flat_grid", "noise_grid"])
def test_a_prompt_that_asks_for_something_else_is_one_line(method):
    asked = Turn(
        parts=(Part("text", text="How many?"),),
        answer_form={"kind": "text", "content": "integer"},
        truth=sample(speckled()),
    )
    told = f"reference method '{method}' answers with a palette grid, and the prompt asks for"
    with pytest.raises(GensightError, match=f"{told} 'integer'; set `tasks`"):
        open_model({"method": method}, []).answer(asked)


def test_a_sample_without_a_drawing_is_one_line_that_names_it():
    some = sample(speckled()), sample(name="s7", label="a saw")
    with pytest.raises(GensightError, match=r"^sample 's7': target_image is missing"):
        drawer().answer(turn(*some, shape=LIST))
