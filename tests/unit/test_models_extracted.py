"""The oracle through the extractors that everyone goes through: the ceiling of the interface."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_turns import (
    BOXES,
    DOTS,
    FLAT,
    HEIGHT,
    KEYPOINTS,
    MASK,
    NEAR_BRIGHT,
    NEAR_DARK,
    NORMALS,
    OVERLAY,
    TURNS_OF_TWO,
    WIDTH,
    answer,
    boxes_sample,
    depth_sample,
    keypoints_sample,
    normals_sample,
    photograph,
    points_sample,
    sample,
    turn,
)

from gensight import extractors, images
from gensight.extractors import Answer
from gensight.models.reference import marks, paint


def read(extractor, item, reply, **parameters):
    given_answer = Answer(
        image=reply.images[0],
        source=item.image["bytes"],
        source_width=item.width,
        source_height=item.height,
    )
    (reading,) = extractors.load(extractor).extract(given_answer, parameters)
    assert reading.status == "ok"
    return reading.fields


def blobs(width, height, seed):
    """A mask of two overlapping ellipses that covers a few per cent of the picture."""
    generator = np.random.default_rng(seed)
    rows, columns = np.indices((height, width))
    mask = np.zeros((height, width), dtype=bool)
    for _ in range(2):
        x, y = generator.uniform(0.3, 0.7, 2) * [width, height]
        a, b = generator.uniform(0.1, 0.2, 2) * [width, height]
        mask |= ((columns - x) / a) ** 2 + ((rows - y) / b) ** 2 <= 1
    return mask


@pytest.mark.parametrize("size", [(320, 240), (640, 480), (427, 640), (1600, 1200)])
@pytest.mark.parametrize("seed", [0, 1])
def test_masks_survive(size, seed):
    mask = blobs(*size, seed)
    item = sample(picture=photograph(*size), target_mask=images.encode_mask(mask))
    fields = read("mask", item, answer("oracle", turn(item, MASK)))
    found = images.resize_mask(images.decode_mask(fields["mask"]), *size)
    assert (found & mask).sum() / (found | mask).sum() >= 0.99
    assert fields["aspect_error"] < 0.01
    assert not fields["degenerate_output"]


@given(st.integers(0, 60), st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_separated_dots_are_counted_exactly(count, seed):
    generator = np.random.default_rng(seed)
    cells = generator.permutation(16 * 12)[:count]
    # Cells of 8 x 8 input pixels hold one point each, at least 20 px apart and inside the border.
    x = (cells % 16) * 8 + generator.uniform(0.75, 6.25, count)
    y = (cells // 16) * 8 + generator.uniform(0.75, 6.25, count)
    item = points_sample(*zip(x, y, strict=True))
    fields = read("dots", item, answer("oracle", turn(item, DOTS)))
    assert fields["count"] == count
    found = np.array([[point["x"], point["y"]] for point in fields["points"]]).reshape(-1, 2)
    truth = (np.stack([x, y], axis=1) + 0.5) * 8 - 0.5
    if count:
        nearest = np.linalg.norm(found[:, None] - truth[None], axis=2).min(axis=0)
        assert nearest.max() <= 1.0


def test_dots_at_the_border_are_counted():
    item = points_sample((0, 0), (127, 0), (0, 95), (127, 95), (64, 0), (64, 95))
    assert read("dots", item, answer("oracle", turn(item, DOTS)))["count"] == 6


@pytest.mark.parametrize("radius", range(marks.DOT_RADIUS_MIN_PX, marks.DOT_RADIUS_MAX_PX + 1))
def test_every_dot_radius_is_read(radius):
    picture = images.resize_picture(photograph(), 1024, 768)
    distance = (radius + 1) / 0.45 + 0.1
    points = np.array([[300.0, 300.0], [300.0 + distance, 300.0]])
    assert marks.dot_radii_px(points).tolist() == [radius, radius]
    marked = images.encode_png(marks.paint_dots(picture, points, [(255, 0, 0)]))
    shown = Answer(
        image=marked, source=images.encode_png(picture), source_width=1024, source_height=768
    )
    (reading,) = extractors.load("dots").extract(shown, {})
    assert reading.fields["count"] == 2


@pytest.mark.parametrize("form", [NEAR_BRIGHT, NEAR_DARK])
def test_depth_is_affine_in_what_is_read(form):
    rows, columns = np.indices((HEIGHT, WIDTH))
    depth_m = 4 + 2 * np.sin(columns / 30) + np.cos(rows / 25)
    item = depth_sample(depth_m)
    fields = read("depth", item, answer("oracle", turn(item, form)))
    grey = images.decode_grey(fields["grey"]["bytes"], matte=(0, 0, 0)).astype(np.float64)
    small = images.resize_depth(grey, WIDTH, HEIGHT)
    scale, offset = np.polyfit(small.ravel(), depth_m.ravel(), 1)
    assert (scale > 0) == (form is NEAR_DARK)
    assert np.mean(np.abs(scale * small + offset - depth_m) / depth_m) < 0.001


def test_normals_are_read_to_a_fraction_of_a_degree():
    rows, columns = np.indices((HEIGHT, WIDTH))
    x, y = (columns - 64) / 100, (48 - rows) / 100
    normals = np.stack([x, y, np.sqrt(1 - x**2 - y**2)], axis=2)
    item = normals_sample(normals)
    fields = read("normals", item, answer("oracle", turn(item, NORMALS)))
    stored = images.decode_rgb(fields["normals"]["bytes"], matte=(0, 0, 0))
    decoded = paint.resize_channels(stored / 127.5 - 1.0, WIDTH, HEIGHT)
    decoded /= np.linalg.norm(decoded, axis=2, keepdims=True)
    cosine = np.clip((decoded * normals).sum(axis=2), -1, 1)
    assert np.degrees(np.arccos(cosine)).mean() < 0.3


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40, 200])
def test_count_priors_are_read_as_their_count(n):
    held_out = [sample("h", role="held_out", target_count=n)]
    item = points_sample((5, 5))
    fields = read("dots", item, answer("prior_median", turn(item, DOTS), held_out))
    assert fields["count"] == n


def test_tinted_targets_survive():
    mask = blobs(640, 480, 3)
    item = sample(picture=photograph(640, 480), target_mask=images.encode_mask(mask))
    fields = read("overlay", item, answer("oracle", turn(item, OVERLAY)))
    found = images.resize_mask(images.decode_mask(fields["mask"]), 640, 480)
    assert (found & mask).sum() / (found | mask).sum() >= 0.99


def test_framed_boxes_are_read_to_a_pixel():
    true = [(5, 8, 30, 40), (60, 10, 100, 50), (50, 60, 70, 90)]
    item = boxes_sample(*true)
    fields = read("boxes", item, answer("oracle", turn(item, BOXES)), variants=["drawn"])
    edges = ("left", "top", "right", "bottom")
    found = sorted(tuple(box[edge] / 8 for edge in edges) for box in fields["boxes"])
    assert np.abs(np.array(found) - np.array(sorted(true))).max() <= 0.25


def test_boxes_of_a_grid_carry_a_count():
    held_out = [sample("h", role="held_out", target_count=7)]
    item = points_sample((5, 5))
    reply = answer("prior_median", turn(item, BOXES), held_out)
    assert read("boxes", item, reply, variants=["drawn"])["count"] == 7


def test_named_points_are_read_by_their_colours():
    places = {"left": (20, 30), "right": (90.5, 70.25)}
    item = keypoints_sample(**places)
    reply = answer("oracle", turn(item, KEYPOINTS))
    fields = read("keypoints", item, reply, colours=KEYPOINTS["colours"])
    found = {point["name"]: (point["x"], point["y"]) for point in fields["keypoints"]}
    for name, place in places.items():
        assert np.abs((np.array(found[name]) + 0.5) / 8 - 0.5 - place).max() <= 0.1


def test_dots_that_touch_are_told_apart_by_their_colours():
    item = points_sample((20, 20), (20.9, 20), (60, 60), (60, 60.9))
    together = read("dots", item, answer("oracle", turn(item, DOTS)))
    apart = read("coloured_dots", item, answer("oracle", turn(item, TURNS_OF_TWO)))
    assert together["count"] < 4
    assert apart["count"] == 4


def test_dots_on_a_flat_canvas_are_counted():
    item = points_sample((20, 20), (50, 20), (60, 60))
    assert read("dots", item, answer("oracle", turn(item, FLAT)))["count"] == 3
