"""Dots of alternating colours: neighbours that touch stay two, and the rest is as for red dots."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from images_by_hand import photograph

from gensight.errors import SpecError
from gensight.extractors import Answer, coloured_dots, dots
from gensight.extractors._colours import COLOUR_DEFAULTS, colour_masks
from gensight.extractors._red import RED_DEFAULTS, red_pixels
from gensight.images import encode_png, resize_picture

RED, BLUE, SIDE = (255, 0, 0), (0, 0, 255), 512


def scene():
    return resize_picture(photograph(64, 64) // 2 + 60, SIDE, SIDE)


def marked(*discs):
    picture = scene()
    for x, y, radius, colour in discs:
        cv2.circle(picture, (x, y), radius, colour, -1, cv2.LINE_AA)
    return picture


def read(module, picture, **parameters):
    answer = Answer(
        image=encode_png(picture),
        source=encode_png(scene()),
        source_width=SIDE,
        source_height=SIDE,
    )
    (reading,) = module.extract(answer, {"long_side_px": SIDE, **parameters})
    assert reading.status == "ok"
    return reading.fields


def test_touching_neighbours_of_different_colours_are_two():
    picture = marked((100, 100, 7, RED), (113, 100, 7, BLUE))
    fields = read(coloured_dots, picture)
    assert fields["count"] == 2
    np.testing.assert_allclose(
        [(p["x"], p["y"]) for p in fields["points"]], [(100, 100), (113, 100)], atol=0.6
    )
    assert fields["facts"]["count_colour_1"] == fields["facts"]["count_colour_2"] == 1
    in_one_colour = marked((100, 100, 7, RED), (113, 100, 7, RED))
    assert read(coloured_dots, in_one_colour)["count"] == read(dots, in_one_colour)["count"] == 0


def test_a_row_of_alternating_dots_that_all_touch():
    row = [(60 + 13 * place, 200, 7, (RED, BLUE)[place % 2]) for place in range(20)]
    fields = read(coloured_dots, marked(*row))
    assert fields["count"] == 20
    places = [point["x"] for point in sorted(fields["points"], key=lambda p: p["x"])]
    np.testing.assert_allclose(places, [x for x, *_ in row], atol=1)


def test_with_red_alone_it_is_the_dot_decoder():
    picture = marked((100, 100, 7, RED), (300, 80, 5, RED), (200, 300, 9, (255, 40, 0)))
    alone, plain = read(coloured_dots, picture, colours=[list(RED)]), read(dots, picture)
    assert (alone["count"], alone["points"]) == (plain["count"], plain["points"])
    assert plain["count"] == 3


def test_red_of_any_shade_is_isolated_as_by_the_dot_decoder():
    hues = np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8)
    (mask,) = colour_masks(hues, [RED], COLOUR_DEFAULTS)
    assert (mask == red_pixels(hues, RED_DEFAULTS)).all()
    assert mask.any()


@pytest.mark.parametrize("hue", [0, 5, 60, 120, 175])
def test_hues_within_reach_are_isolated_across_the_wrap(hue):
    wheel = np.array([[(h, 255, 255) for h in range(180)]], np.uint8)
    rgb = cv2.cvtColor(wheel, cv2.COLOR_HSV2RGB)
    seen = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)[0, :, 0].astype(int)
    colour = cv2.cvtColor(np.array([[(hue, 255, 255)]], np.uint8), cv2.COLOR_HSV2RGB)[0, 0]
    (mask,) = colour_masks(rgb, [colour.tolist()], COLOUR_DEFAULTS)
    distance = np.abs(seen - hue)
    near = np.minimum(distance, 180 - distance) <= 10
    assert (mask[0] > 0).tolist() == near.tolist()


def test_pixels_between_two_colours_belong_to_the_nearer():
    colours = [[255, 0, 0], [255, 128, 0]]  # hues 0 and 15: their reaches meet
    row = [(255, 40, 0), (255, 60, 0), (255, 70, 0), (255, 90, 0), (255, 250, 0)]
    masks = colour_masks(np.array([row], np.uint8), colours, COLOUR_DEFAULTS)
    assert [(mask[0] > 0).tolist() for mask in masks] == [
        [True, True, False, False, False],
        [False, False, True, True, False],
    ]


def test_no_marks_are_a_valid_zero():
    fields = read(coloured_dots, scene())
    assert (fields["count"], fields["points"], fields["degenerate_output"]) == (0, [], False)


@pytest.mark.parametrize(
    ("colours", "reason"),
    [([list(RED), list(RED)], "occurs twice"), ([[200, 200, 190]], "too pale"), ([RED[:2]], "red")],
)
def test_colours_that_cannot_be_told_apart_are_refused(colours, reason):
    with pytest.raises(SpecError, match=reason):
        read(coloured_dots, scene(), colours=[list(colour) for colour in colours])
