"""Boxes: tight ones of masks, drawn ones of the input, and what is no rectangle."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from images_by_hand import photograph, saved

from gensight.errors import SpecError
from gensight.extractors import Answer
from gensight.extractors import boxes as box_extractor
from gensight.images import encode_png, resize_picture

WIDTH, HEIGHT = 1024, 768
RED = (255, 0, 0)
EDGES = ("left", "top", "right", "bottom")


def scene():
    return resize_picture(photograph(96, 128), WIDTH, HEIGHT)


def read(picture, variant, source=None, width=WIDTH, height=HEIGHT, **parameters):
    answer = Answer(
        image=picture if isinstance(picture, bytes) else encode_png(picture),
        source=None if source is None else encode_png(source),
        source_width=width,
        source_height=height,
    )
    (reading,) = box_extractor.extract(answer, {"variants": [variant], **parameters})
    assert reading.status == "ok"
    return reading.fields


def edges(fields):
    return [tuple(box[edge] for edge in EDGES) for box in fields["boxes"]]


def mask_of(*rectangles, width=WIDTH, height=HEIGHT):
    """Return a white-on-black picture of rectangles left, top, right, bottom (far exclusive)."""
    picture = np.zeros((height, width), np.uint8)
    for left, top, right, bottom in rectangles:
        picture[top:bottom, left:right] = 255
    return picture


def test_every_component_of_a_mask_has_its_tight_box():
    fields = read(mask_of((10, 20, 110, 220), (300, 400, 700, 500)), "mask_boxes")
    assert edges(fields) == [(300, 400, 700, 500), (10, 20, 110, 220)]
    assert fields["count"] == 2
    assert fields["points"] == [{"x": 499.5, "y": 449.5}, {"x": 59.5, "y": 119.5}]
    scores = [box["score"] for box in fields["boxes"]]
    assert scores == [400 * 100 / (WIDTH * HEIGHT), 100 * 200 / (WIDTH * HEIGHT)]


def test_one_box_around_the_mask():
    fields = read(mask_of((10, 20, 110, 220), (300, 400, 700, 500)), "mask_box")
    assert edges(fields) == [(10, 20, 700, 500)]
    assert fields["boxes"][0]["score"] == pytest.approx(60_000 / (WIDTH * HEIGHT))


@pytest.mark.parametrize("variant", ["mask_boxes", "mask_box"])
def test_specks_have_no_box(variant):
    picture = mask_of((100, 100, 200, 200), (900, 700, 910, 710))
    fields = read(picture, variant)
    assert edges(fields) == [(100, 100, 200, 200)]
    assert fields["facts"]["n_rejected_area"] == 1
    assert len(edges(read(picture, "mask_boxes", assumed_min_area_share=0.0001))) == 2


@pytest.mark.parametrize("variant", ["mask_boxes", "mask_box"])
def test_an_empty_mask_has_no_boxes(variant):
    fields = read(np.zeros((HEIGHT, WIDTH), np.uint8), variant)
    assert (fields["boxes"], fields["count"], fields["points"]) == ([], 0, [])
    assert fields["degenerate_output"] is True


def test_diagonal_neighbours_are_one_component():
    fields = read(mask_of((100, 100, 200, 200), (200, 200, 300, 300)), "mask_boxes")
    assert edges(fields) == [(100, 100, 300, 300)]


@pytest.mark.parametrize("size", [(512, 384), (2048, 1536), (1000, 1000)])
def test_boxes_of_any_returned_size_are_in_pixels_of_the_work_size(size):
    share = np.array([0.25, 0.5, 0.5, 0.75])
    corners = (share * np.tile(size, 2)).astype(int).tolist()
    fields = read(mask_of(tuple(corners), width=size[0], height=size[1]), "mask_boxes")
    assert edges(fields) == [(256, 384, 512, 576)]
    assert (fields["work_width"], fields["work_height"]) == (WIDTH, HEIGHT)


def drawn(*rectangles, thickness=3, line=cv2.LINE_8, source=None):
    """Draw rectangles given by the pixels of their line's middle, both ends included."""
    picture = (scene() if source is None else source).copy()
    for left, top, right, bottom in rectangles:
        cv2.rectangle(picture, (left, top), (right, bottom), RED, thickness, line)
    return picture


@pytest.mark.parametrize("thickness", [1, 3, 5, 8])
def test_an_outline_has_its_box_along_the_middle_of_the_line(thickness):
    """The middle of the line through pixel 100 lies at edge coordinate 100.5."""
    fields = read(drawn((100, 150, 400, 350), thickness=thickness), "drawn", scene())
    # Lines of an even width have no middle pixel: OpenCV puts the odd row on one side.
    tolerance = 0.05 if thickness % 2 else 0.55
    np.testing.assert_allclose(edges(fields), [(100.5, 150.5, 400.5, 350.5)], atol=tolerance)
    assert fields["boxes"][0]["score"] > 0.99
    assert fields["count"] == 1


def test_a_filled_rectangle_has_its_box_along_its_border():
    fields = read(drawn((100, 150, 399, 349), thickness=cv2.FILLED), "drawn", scene())
    assert edges(fields) == [(100, 150, 400, 350)]
    assert fields["points"] == [{"x": 249.5, "y": 249.5}]


def test_separate_and_nested_rectangles_are_all_read():
    rectangles = [(50, 50, 450, 450), (150, 150, 300, 250), (600, 100, 900, 700)]
    found = edges(read(drawn(*rectangles), "drawn", scene()))
    expected = [tuple(edge + 0.5 for edge in rectangle) for rectangle in rectangles]
    np.testing.assert_allclose(sorted(found), sorted(expected), atol=0.05)


def test_crossing_rectangles_are_no_rectangle_and_it_shows():
    """Like dots that touch: the limit is the interface's, and the account tells of it."""
    fields = read(drawn((100, 100, 300, 300), (200, 200, 400, 400)), "drawn", scene())
    assert fields["count"] == 0
    assert fields["facts"] == {"n_after_diff": 1, "n_rejected_small": 0, "n_rejected_shape": 1}


def ellipse(picture):
    cv2.ellipse(picture, (500, 400), (150, 90), 0, 0, 360, RED, 3)


def disc(picture):
    cv2.circle(picture, (500, 400), 80, RED, -1)


def stroke(picture):
    cv2.line(picture, (200, 200), (600, 500), RED, 5)


def open_corner(picture):
    cv2.line(picture, (200, 200), (600, 200), RED, 5)
    cv2.line(picture, (200, 200), (200, 500), RED, 5)


def tilted(degrees):
    def draw(picture):
        corners = cv2.boxPoints(((500, 400), (300, 200), degrees)).round().astype(np.int32)
        cv2.polylines(picture, [corners], True, RED, 3)

    return draw


@pytest.mark.parametrize("draw", [ellipse, disc, stroke, open_corner, tilted(15), tilted(45)])
def test_other_shapes_are_rejected_by_their_shape(draw):
    picture = scene()
    draw(picture)
    fields = read(picture, "drawn", scene())
    assert fields["count"] == 0
    assert fields["facts"]["n_rejected_shape"] == 1


@pytest.mark.parametrize("degrees", [1, 2])
def test_a_slight_tilt_is_forgiven(degrees):
    picture = scene()
    tilted(degrees)(picture)
    assert read(picture, "drawn", scene())["count"] == 1


def test_small_rectangles_are_counted_out():
    fields = read(drawn((100, 100, 105, 105), thickness=1), "drawn", scene())
    assert fields["count"] == 0
    assert fields["facts"]["n_rejected_small"] == 1


def test_red_frames_of_the_scene_are_no_boxes():
    source = drawn((600, 100, 900, 300))
    marked = drawn((100, 150, 400, 350), source=source)
    assert read(marked, "drawn", source)["count"] == 1
    assert read(source, "drawn", source)["count"] == 0


@pytest.mark.parametrize("colour", [(0, 255, 0), (0, 0, 255), (255, 0, 255)])
def test_the_colour_is_the_declared_one(colour):
    picture = scene()
    cv2.rectangle(picture, (100, 150), (400, 350), colour, 3)
    assert read(picture, "drawn", scene(), colour=list(colour))["count"] == 1
    assert read(picture, "drawn", scene(), colour=[255, 128, 0])["count"] == 0


def test_soft_lines_and_jpeg_are_read():
    picture = drawn((100, 150, 400, 350), line=cv2.LINE_AA)
    data = saved(picture, "JPEG", quality=85)
    np.testing.assert_allclose(
        edges(read(data, "drawn", scene())), [(100.5, 150.5, 400.5, 350.5)], atol=1.5
    )


def test_all_variants_of_one_answer():
    picture = drawn((100, 150, 400, 350))
    answer = Answer(
        image=encode_png(picture),
        source=encode_png(scene()),
        source_width=WIDTH,
        source_height=HEIGHT,
    )
    variants = ["drawn", "mask_box", "mask_boxes"]
    readings = box_extractor.extract(answer, {"variants": variants})
    assert [reading.variant for reading in readings] == variants
    assert [reading.fields["matte"] for reading in readings] == ["input", "black", "black"]
    for reading in readings:
        assert reading.fields == read(picture, reading.variant, scene())


@pytest.mark.parametrize(
    ("colour", "reason"),
    [
        ([255, 255, 255], "too pale"),
        ([60, 0, 0], "too dark"),
        ([255, 0], "expected"),
        ([256, 0, 0], "expected"),
        (["red", 0, 0], "expected"),
    ],
)
def test_colours_that_cannot_be_isolated_are_refused(colour, reason):
    with pytest.raises(SpecError, match=reason):
        read(scene(), "drawn", scene(), colour=colour)
