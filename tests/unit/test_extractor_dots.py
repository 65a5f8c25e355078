"""Dot decoder: the measured numbers of PROTOCOLS CNT-1 to CNT-3, and each stage on its own."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest
from images_by_hand import RGB_ALPHA, photograph, png, saved

from gensight.extractors import Answer, _blobs
from gensight.extractors import dots as dot_extractor
from gensight.extractors.dots import (
    DEFAULTS,
    blob_centres,
    changed_pixels,
    red_pixels,
    rejections,
)
from gensight.images import encode_png, resize_picture

RED, PAPER = (255, 0, 0), (90, 120, 90)
SIDE = 1024  # a square input at work size, so that nothing is resized


def blank(colour=PAPER, side=SIDE):
    return np.full((side, side, 3), colour, np.uint8)


def with_discs(picture, *discs, colour=RED):
    """Draw filled discs (x, y, radius), without antialiasing."""
    for x, y, radius in discs:
        cv2.circle(picture, (x, y), radius, colour, -1)
    return picture


def read(marked, source=None, **parameters):
    source = blank(side=len(marked)) if source is None else source
    encoded = marked if isinstance(marked, bytes) else encode_png(marked)
    height, width = source.shape[:2]
    answer = Answer(
        image=encoded, source=encode_png(source), source_width=width, source_height=height
    )
    (reading,) = dot_extractor.extract(answer, parameters)
    assert reading.status == "ok"
    return reading.fields


def spots(*discs, side=200):
    """Return a 0/255 mask of filled discs."""
    mask = np.zeros((side, side), np.uint8)
    for x, y, radius in discs:
        cv2.circle(mask, (x, y), radius, 255, -1)
    return mask


def test_three_bright_dots_are_three():
    """CNT-1: OpenCV's defaults look for dark blobs and find none of these."""
    mask = spots((40, 40, 6), (100, 100, 6), (160, 150, 6))
    assert blob_centres(mask, DEFAULTS) == [
        {"x": 40, "y": 40},
        {"x": 100, "y": 100},
        {"x": 160, "y": 150},
    ]
    assert cv2.SimpleBlobDetector_create().detect(mask) == ()


def test_every_detector_parameter_is_explicit_and_stored():
    detector = _blobs._detector(DEFAULTS).getParams()
    expected = {
        "minThreshold": 127,
        "maxThreshold": 128,
        "thresholdStep": 1,
        "minRepeatability": 1,
        "minDistBetweenBlobs": 1,
        "filterByColor": True,
        "blobColor": 255,
        "filterByArea": True,
        "minArea": 12,
        "maxArea": 1500,
        "filterByCircularity": True,
        "minCircularity": 0.6,
        "maxCircularity": 1e6,
        "filterByInertia": True,
        "minInertiaRatio": 0.5,
        "maxInertiaRatio": 1e6,
        "filterByConvexity": False,
        "minConvexity": 0.95,
        "maxConvexity": 1e6,
        "collectContours": False,
    }
    actual = {name: getattr(detector, name) for name in dir(detector) if not name.startswith("_")}
    assert actual == pytest.approx(expected, rel=1e-6)
    stored = json.loads(read(blank())["parameters"])
    assert stored == {key: value for key, value in DEFAULTS.items() if key != "variants"}


def test_a_changed_parameter_reaches_the_detector():
    marked = with_discs(blank(), (100, 100, 2), (200, 200, 6))
    assert read(marked)["count"] == 1
    assert read(marked, min_area=4)["count"] == 2
    assert read(marked, min_area=4, max_area=50)["count"] == 1


# CNT-2: colours of 7-px dots, and whether they are red.
COLOURS = {
    (255, 0, 0): True,
    (255, 0, 40): True,
    (255, 40, 0): True,
    (255, 0, 127): False,  # hue 165
    (255, 96, 96): False,  # saturation 159
    (255, 80, 80): True,  # saturation 175
    (100, 0, 0): True,  # value floor, inclusive
    (99, 0, 0): False,
    (0, 255, 0): False,
}


@pytest.mark.parametrize("colour", COLOURS)
def test_red_is_two_hue_ranges(colour):
    marked = with_discs(blank(), (200, 200, 7), colour=colour)
    assert read(marked)["count"] == int(COLOURS[colour])


def test_the_low_hue_range_alone_loses_a_third():
    marked = blank(side=400)
    for place, colour in enumerate([(255, 0, 0), (255, 0, 40), (255, 40, 0), (255, 0, 127)]):
        with_discs(marked, (50 + 90 * place, 200, 7), colour=colour)
    arguments = (marked, DEFAULTS)
    assert len(blob_centres(red_pixels(*arguments), DEFAULTS)) == 3
    low_only = {**DEFAULTS, "assumed_hue_high_min": 0, "assumed_hue_high_max": 0}
    assert len(blob_centres(red_pixels(marked, low_only), DEFAULTS)) == 2


# CNT-3: what the published limits do to drawn marks.
MARKS = {
    "radius 2": (spots((50, 50, 2)), 0, "area"),
    "radius 3": (spots((50, 50, 3)), 1, None),
    "radius 22": (spots((100, 100, 22)), 1, None),
    "radius 23": (spots((100, 100, 23)), 0, "area"),
    "two that touch": (spots((80, 80, 6), (92, 80, 6)), 0, "circularity"),
    "half a dot at the border": (spots((0, 80, 6)), 0, "inertia"),
    "nothing": (spots(), 0, None),
}


@pytest.mark.parametrize("name", MARKS)
def test_measured_limits_of_the_blob_filter(name):
    mask, count, limit = MARKS[name]
    assert len(blob_centres(mask, DEFAULTS)) == count
    rejected = rejections(mask, DEFAULTS)
    assert rejected[f"n_rejected_{limit}"] == 1 if limit else not any(rejected.values())
    assert sum(rejected.values()) == (1 if limit else 0)


def test_three_that_touch_are_none():
    mask = spots((80, 80, 6), (92, 80, 6), (86, 90, 6))
    assert blob_centres(mask, DEFAULTS) == []
    assert sum(rejections(mask, DEFAULTS).values()) >= 1


def test_a_ring_is_none_and_falls_to_its_colour():
    ring = np.zeros((200, 200), np.uint8)
    cv2.circle(ring, (100, 100), 12, 255, 3)
    assert blob_centres(ring, DEFAULTS) == []
    # The outer and the inner outline, both centred on the unmarked middle.
    assert rejections(ring, DEFAULTS)["n_rejected_colour"] == 2


def test_contour_areas_are_those_measured():
    areas = {}
    for radius in (2, 3, 22, 23):
        contours, _ = cv2.findContours(
            spots((100, 100, radius)), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE
        )
        areas[radius] = cv2.contourArea(contours[0])
    assert areas == {2: 8, 3: 20, 22: 1454, 23: 1588}


@pytest.mark.parametrize("seed", range(6))
def test_accepted_and_rejected_outlines_add_up(seed):
    """The account of rejections repeats the detector's tests: nothing is left over or lost."""
    rng = np.random.default_rng(seed)
    mask = spots(
        *[(*rng.integers(0, 400, 2).tolist(), int(rng.integers(1, 26))) for _ in range(40)],
        side=400,
    )
    mask[rng.random(mask.shape) < 0.002] = 255
    for _ in range(5):
        ends = [tuple(rng.integers(0, 400, 2).tolist()) for _ in range(2)]
        cv2.line(mask, *ends, 255, int(rng.integers(1, 6)))
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    accepted = len(blob_centres(mask, DEFAULTS))
    assert accepted + sum(rejections(mask, DEFAULTS).values()) == len(contours)


@pytest.mark.parametrize("count", [0, 1, 5, 37, 200])
def test_separate_dots_are_counted_where_they_are(count):
    columns, rows = np.meshgrid(np.arange(20, 1000, 60), np.arange(20, 1000, 60))
    places = np.stack([columns.ravel(), rows.ravel()], 1)
    chosen = np.random.default_rng(count).permutation(len(places))[:count]
    discs = [(int(x), int(y), 7) for x, y in places[np.sort(chosen)]]
    fields = read(with_discs(blank(), *discs))
    assert fields["count"] == count
    assert [(p["x"], p["y"]) for p in fields["points"]] == [(x, y) for x, y, _ in discs]
    assert fields["facts"]["n_red_components"] == fields["facts"]["n_after_diff"] == count


def test_red_things_of_the_scene_are_not_marks():
    source = with_discs(blank(), (300, 300, 15))
    marked = with_discs(source.copy(), (600, 600, 7))
    fields = read(marked, source)
    assert fields["count"] == 1
    assert fields["facts"]["n_red_components"] == 2
    assert fields["facts"]["n_after_diff"] == 1


@pytest.mark.parametrize(("difference", "changed"), [(30, False), (31, True)])
@pytest.mark.parametrize("channel", [0, 1, 2])
def test_the_gate_is_the_largest_channel_difference(difference, changed, channel):
    source = blank((100, 100, 100), side=8)
    for sign in (-1, 1):
        marked = source.copy()
        marked[:, :, channel] += np.uint8(sign * difference % 256)
        assert (changed_pixels(marked, source, DEFAULTS) == (255 if changed else 0)).all()


def test_zero_over_a_full_mask_is_told_from_zero_over_an_empty_one():
    empty = read(blank())
    full = read(blank(RED))
    assert empty["count"] == full["count"] == 0
    assert empty["facts"] == dict.fromkeys(empty["facts"], 0.0)
    assert full["facts"]["n_after_diff"] == full["facts"]["n_rejected_area"] == 1


def test_an_unmarked_copy_is_a_valid_zero():
    photo = resize_picture(photograph(128, 128), SIDE, SIDE)
    fields = read(photo, photo)
    assert fields["count"] == 0
    assert fields["points"] == []
    assert fields["degenerate_output"] is False


def test_only_pictures_of_one_level_are_degenerate():
    page = blank((250, 250, 250))
    assert read(page, page)["degenerate_output"] is True
    drawn = page.copy()
    drawn[:20, :20] = 0
    assert read(drawn, page)["degenerate_output"] is False


@pytest.mark.parametrize("size", [(512, 384), (1024, 768), (1536, 1152), (1000, 1000)])
def test_any_returned_size_is_resized_plainly_to_the_work_size(size):
    source = np.full((480, 640, 3), PAPER, np.uint8)
    marked = np.full((*size[::-1], 3), PAPER, np.uint8)
    scale = np.array(size) / (1024, 768)
    for x, y in [(200, 200), (600, 300), (800, 700)]:
        axes = tuple(np.round(10 * scale).astype(int).tolist())
        centre = tuple(np.round(np.array([x, y]) * scale).astype(int).tolist())
        cv2.ellipse(marked, centre, axes, 0, 0, 360, RED, -1)
    fields = read(marked, source)
    assert (fields["work_width"], fields["work_height"]) == (1024, 768)
    places = [(point["x"], point["y"]) for point in fields["points"]]
    np.testing.assert_allclose(places, [(200, 200), (600, 300), (800, 700)], atol=2)


def test_transparency_shows_the_input():
    """An answer that returns only its dots, on nothing, is an overlay on the input."""
    source = with_discs(blank(), (100, 100, 9))
    overlay = np.zeros((SIDE, SIDE, 4), np.uint8)
    cv2.circle(overlay, (400, 400), 7, (*RED, 255), -1)
    data = png((SIDE, SIDE), 8, RGB_ALPHA, [row.tobytes() for row in overlay])
    fields = read(data, source)
    assert fields["count"] == 1
    assert fields["matte"] == "input"
    assert fields["facts"]["n_red_components"] == 2
    assert fields["facts"]["n_after_diff"] == 1


def test_the_input_is_turned_as_the_sample_says():
    source = blank(side=64)
    source = np.vstack([source, blank((0, 0, 255), side=64)])
    exif_block = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    stored = saved(source, "JPEG", exif=exif_block, quality=95)
    upright = np.rot90(source, -1)
    for orient, expected in ((True, upright), (False, source)):
        height, width = expected.shape[:2]
        answer = Answer(
            image=encode_png(np.ascontiguousarray(expected)),
            source=stored,
            source_width=width,
            source_height=height,
            orient_source=orient,
        )
        (reading,) = dot_extractor.extract(answer, {})
        assert reading.fields["facts"]["n_after_diff"] == 0
        assert reading.fields["aspect_error"] == pytest.approx(0)
