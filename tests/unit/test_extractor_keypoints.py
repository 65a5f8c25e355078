"""Keypoints: a colour names a point, its blob places it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from images_by_hand import photograph, saved

from gensight.errors import SpecError
from gensight.extractors import Answer
from gensight.extractors import keypoints as keypoint_extractor
from gensight.images import encode_png, resize_picture

SIDE = 512
COLOURS = {
    "nose": [255, 0, 0],
    "left_wrist": [0, 255, 0],
    "right_wrist": [0, 0, 255],
    "left_knee": [255, 255, 0],
    "right_knee": [255, 0, 255],
    "left_ankle": [255, 128, 0],
    "right_ankle": [128, 0, 0],
}
PLACES = {name: (50 + 60 * place, 100 + 40 * place) for place, name in enumerate(COLOURS)}


def scene():
    return resize_picture(photograph(64, 64) // 3 + 80, SIDE, SIDE)


def marked(places=PLACES, radius=6, line=cv2.LINE_8):
    picture = scene()
    for name, place in places.items():
        cv2.circle(picture, place, radius, COLOURS[name], -1, line)
    return picture


def read(picture, colours=COLOURS, width=SIDE, height=SIDE, **parameters):
    answer = Answer(
        image=picture if isinstance(picture, bytes) else encode_png(picture),
        source=encode_png(scene()),
        source_width=width,
        source_height=height,
    )
    settings = {"colours": colours, "long_side_px": SIDE, **parameters}
    (reading,) = keypoint_extractor.extract(answer, settings)
    assert reading.status == "ok"
    return reading.fields


def places(fields):
    return {point["name"]: (point["x"], point["y"]) for point in fields["keypoints"]}


def test_every_colour_is_its_own_point():
    fields = read(marked())
    assert places(fields) == PLACES
    assert [point["name"] for point in fields["keypoints"]] == list(COLOURS)
    assert fields["facts"] == {"n_after_diff": len(COLOURS), "n_extra_blobs": 0}


@pytest.mark.parametrize("quality", [80, 95])
def test_soft_dots_and_jpeg_are_read(quality):
    # JPEG halves the resolution of colour, so small dots of it lose their edge.
    data = saved(marked(radius=9, line=cv2.LINE_AA), "JPEG", quality=quality, subsampling=0)
    found = places(read(data))
    assert set(found) == set(PLACES)
    for name, place in PLACES.items():
        np.testing.assert_allclose(found[name], place, atol=1)


def test_a_point_that_is_not_marked_is_missing():
    some = {name: PLACES[name] for name in ("nose", "left_knee")}
    assert places(read(marked(some))) == some


def test_of_two_blobs_in_one_colour_the_larger_is_taken():
    picture = marked({"nose": (100, 100)})
    cv2.circle(picture, (300, 60), 9, COLOURS["nose"], -1)
    fields = read(picture)
    assert places(fields) == {"nose": (300, 60)}
    assert fields["facts"]["n_extra_blobs"] == 1


def test_coloured_things_of_the_scene_are_no_points():
    source = marked({"nose": (100, 100)})
    answer = Answer(
        image=encode_png(source), source=encode_png(source), source_width=SIDE, source_height=SIDE
    )
    (reading,) = keypoint_extractor.extract(answer, {"colours": COLOURS, "long_side_px": SIDE})
    assert reading.fields["keypoints"] == []


def test_places_are_in_pixels_of_the_work_size():
    found = places(read(resize_picture(marked(), 2 * SIDE, 2 * SIDE)))
    for name, place in PLACES.items():
        np.testing.assert_allclose(found[name], place, atol=0.6)


@pytest.mark.parametrize(
    ("colours", "reason"),
    [
        ({}, "parameters.colours is empty"),
        ({"nose": [255, 0, 0], "chin": [255, 0, 0]}, "occurs twice"),
        ({"nose": [255, 255, 255]}, "too pale"),
        ({"nose": "red"}, "expected"),
    ],
)
def test_colours_must_be_declared_and_distinct(colours, reason):
    with pytest.raises(SpecError, match=reason):
        read(marked(), colours)
