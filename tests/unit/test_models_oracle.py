"""The oracle paints the truth in the declared form, and what an extractor reads is the truth."""

import numpy as np
import pytest
from reference_turns import (
    BOX,
    DOTS,
    HEIGHT,
    INTEGER,
    MASK,
    NEAR_BRIGHT,
    NEAR_DARK,
    NORMALS,
    SCALE,
    WIDTH,
    answer,
    box_sample,
    depth_sample,
    normals_sample,
    photograph,
    pixels,
    points_sample,
    sample,
    turn,
)

from gensight import images
from gensight.errors import GensightError
from gensight.models import Part, Turn
from gensight.models.reference import marks

RAMP_M = np.repeat(np.linspace(1.0, 10.0, WIDTH)[None], HEIGHT, axis=0)


def big(array):
    """A truth-sized array at the work size, by exact repetition."""
    return array.repeat(SCALE, axis=0).repeat(SCALE, axis=1)


def test_mask_is_painted_in_the_declared_colours():
    item = box_sample(16, 8, 48, 40)
    form = {**MASK, "foreground": [200, 30, 40], "background": [10, 20, 30]}
    mask = big(images.decode_mask(item.target_mask))
    expected = np.where(mask[..., None], [200, 30, 40], [10, 20, 30])
    np.testing.assert_array_equal(pixels(answer("oracle", turn(item, form))), expected)


def test_grey_mask_and_its_inverse():
    item = box_sample(16, 8, 48, 40)
    white = pixels(answer("oracle", turn(item, MASK)))
    swapped = {**MASK, "foreground": [0, 0, 0], "background": [255, 255, 255]}
    np.testing.assert_array_equal(255 - white, pixels(answer("oracle", turn(item, swapped))))
    assert white.shape == (HEIGHT * SCALE, WIDTH * SCALE)
    assert white[0, 0] == 0
    assert white[20 * SCALE, 20 * SCALE] == 255


@pytest.mark.parametrize("corners", [(0, 0, 0, 0), (0, 0, WIDTH, HEIGHT)])
def test_empty_and_full_masks(corners):
    item = box_sample(*corners)
    expected = 255 if corners[2] else 0
    assert (pixels(answer("oracle", turn(item, MASK))) == expected).all()


@pytest.mark.parametrize(
    ("form", "left", "right"),
    [
        (NEAR_BRIGHT, 255, 0),
        (NEAR_DARK, 0, 255),
        ({"kind": "depth", "near": "unspecified"}, 255, 0),
    ],
)
def test_depth_polarity_is_the_declared_one(form, left, right):
    grey = pixels(answer("oracle", turn(depth_sample(RAMP_M), form)))
    assert grey.shape == (HEIGHT * SCALE, WIDTH * SCALE)
    assert (grey[:, 0] == left).all()
    assert (grey[:, -1] == right).all()


@pytest.mark.parametrize(
    ("code", "coded"),
    [("depth", -RAMP_M), ("disparity", 1 / RAMP_M), ("log", -np.log(RAMP_M))],
)
@pytest.mark.parametrize("bit_depth", [8, 16])
def test_grey_is_affine_in_the_declared_code(code, coded, bit_depth):
    shown = turn(depth_sample(RAMP_M), NEAR_BRIGHT)
    reply = answer("oracle", shown, depth_code=code, bit_depth=bit_depth)
    assert images.inspect(reply.images[0]).bit_depth == bit_depth
    expected = (coded - coded.min()) / (coded.max() - coded.min()) * (2**bit_depth - 1)
    work = images.resize_depth(expected, WIDTH * SCALE, HEIGHT * SCALE)
    assert np.abs(pixels(reply) - work).max() <= 0.5 + 1e-3


def test_range_is_that_of_the_valid_pixels_only():
    depth_m = RAMP_M.copy()
    depth_m[:, :8] = 0.0
    depth_m[0, 20], depth_m[1, 20], depth_m[:, 100:] = np.nan, np.inf, 500.0
    valid = np.ones(depth_m.shape, dtype=bool)
    valid[40:, 8:12] = False
    item = depth_sample(
        depth_m, valid_mask=images.encode_mask(valid), min_depth_m=1.0, max_depth_m=80.0
    )
    grey = pixels(answer("oracle", turn(item, NEAR_BRIGHT), bit_depth=16)) / 65535
    nearest, farthest = RAMP_M[0, 8], RAMP_M[0, 99]
    expected = (farthest - RAMP_M) / (farthest - nearest)
    small = images.resize_depth(grey, WIDTH, HEIGHT)
    assert np.abs(small - expected)[5:35, 12:98].max() < 1e-3
    # Invalid pixels continue their neighbours, so nothing bleeds into the valid ones.
    assert small[10, 0] == pytest.approx(1.0, abs=1e-3)
    assert small[10, 120] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("depth_m", [np.full((HEIGHT, WIDTH), 3.0), np.zeros((HEIGHT, WIDTH))])
def test_depth_without_a_range_is_mid_grey(depth_m):
    assert (pixels(answer("oracle", turn(depth_sample(depth_m), NEAR_BRIGHT))) == 128).all()


@pytest.mark.parametrize(
    ("form", "colour"),
    [
        (NORMALS, (255, 128, 128)),
        ({**NORMALS, "red": "left"}, (0, 128, 128)),
        ({"kind": "normals", "red": "up", "green": "right", "blue": "away"}, (128, 255, 128)),
    ],
)
def test_normal_channels_are_the_declared_axes(form, colour):
    normals = np.zeros((HEIGHT, WIDTH, 3))
    normals[..., 0] = 1.0  # a surface that faces right
    painted = pixels(answer("oracle", turn(normals_sample(normals), form)))
    assert (painted == colour).all()


def test_normals_round_trip_and_holes_take_their_neighbours():
    normals = np.zeros((HEIGHT, WIDTH, 3))
    normals[...] = np.array([0.6, 0.0, 0.8])
    normals[:, 64:] = np.array([0.0, -0.6, 0.8])
    normals[10:20, 10:20] = np.nan
    normals[30:40, 10:20] = 0.0
    painted = pixels(answer("oracle", turn(normals_sample(normals), NORMALS)))
    read = painted / 127.5 - 1.0
    assert np.abs(read[:, :400] - [0.6, 0.0, 0.8]).max() < 0.005
    assert np.abs(read[:, 600:] - [0.0, -0.6, 0.8]).max() < 0.005


def test_dots_lie_on_the_points_and_the_rest_is_the_input():
    item = points_sample((10, 10), (64, 48), (100.5, 20.25))
    marked = pixels(answer("oracle", turn(item, DOTS)))
    plain = images.resize_picture(photograph(), WIDTH * SCALE, HEIGHT * SCALE)
    changed = (marked != plain).any(axis=2)
    assert (marked[changed] == (255, 0, 0)).all()
    for x, y in [(10, 10), (64, 48), (100.5, 20.25)]:
        centre = (np.array([x, y]) + 0.5) * SCALE - 0.5
        rows, columns = np.nonzero(changed)
        near = np.hypot(columns - centre[0], rows - centre[1]) < 20
        assert abs(columns[near].mean() - centre[0]) <= 0.5
        assert abs(rows[near].mean() - centre[1]) <= 0.5
        assert np.hypot(columns[near] - centre[0], rows[near] - centre[1]).max() <= 9


@pytest.mark.parametrize(
    ("distance", "radius"),
    [(0, 3), (8, 3), (9, 3), (11.2, 4), (14, 5), (20, 8), (21, 8), (500, 8)],
)
def test_dot_radius_follows_the_nearest_neighbour(distance, radius):
    points = np.array([[100.0, 100.0], [100.0 + distance, 100.0], [900.0, 700.0]])
    assert marks.dot_radii_px(points).tolist() == [radius, radius, 8]


def test_dot_radius_of_few_points():
    assert marks.dot_radii_px(np.zeros((0, 2))).tolist() == []
    assert marks.dot_radii_px(np.array([[5.0, 5.0]])).tolist() == [8]


def test_dots_at_the_border_are_whole():
    item = points_sample((0, 0), (127, 95))
    marked = pixels(answer("oracle", turn(item, DOTS)))
    red = (marked == (255, 0, 0)).all(axis=2)
    whole = marks.paint_dots(np.zeros((64, 64, 3), np.uint8), np.array([[32, 32]]), [(255, 0, 0)])
    assert red.sum() == 2 * (whole[..., 0] == 255).sum()
    assert not red[0].any()
    assert not red[:, -1].any()


def test_no_points_leave_the_input_as_it_is():
    item = points_sample()
    plain = images.resize_picture(photograph(), WIDTH * SCALE, HEIGHT * SCALE)
    np.testing.assert_array_equal(pixels(answer("oracle", turn(item, DOTS))), plain)


def test_counts_without_points_are_dots_on_a_grid():
    marked = pixels(answer("oracle", turn(sample(target_count=6), DOTS)))
    red = (marked == (255, 0, 0)).all(axis=2)
    columns, rows = (np.arange(3) + 0.5) * 1024 / 3 - 0.5, (np.arange(2) + 0.5) * 384 - 0.5
    found = {(x, y) for x in columns for y in rows if red[round(y), round(x)]}
    assert len(found) == 6
    assert red.sum() == 6 * red[:384, :341].sum()


@pytest.mark.parametrize(
    ("item", "form", "text"),
    [
        (box_sample(16, 24, 48, 72), BOX, "[125.0, 250.0, 375.0, 750.0]"),
        (box_sample(1, 0, 2, 1), BOX, "[7.8, 0.0, 15.6, 10.4]"),
        (box_sample(0, 0, WIDTH, HEIGHT), BOX, "[0.0, 0.0, 1000.0, 1000.0]"),
        (box_sample(0, 0, 0, 0), BOX, "none"),
        (sample(target_count=0), INTEGER, "0"),
        (sample(target_count=17), INTEGER, "17"),
        (points_sample((3, 3), (9, 9), target_count=None), INTEGER, "2"),
    ],
)
def test_text_answers(item, form, text):
    reply = answer("oracle", turn(item, form))
    assert (reply.outcome, reply.text, reply.images) == ("ok", text, ())


@pytest.mark.parametrize(
    ("item", "form", "message"),
    [
        (sample("s7"), MASK, "sample 's7': target_mask is missing"),
        (sample("s7"), NEAR_BRIGHT, "sample 's7': target_depth_m is missing"),
        (sample("s7"), DOTS, "sample 's7': target_count is missing"),
        (sample("s7"), NORMALS, "sample 's7': target_normals is missing"),
        (sample("s7"), INTEGER, "sample 's7': target_count is missing"),
        (sample("s7"), {"kind": "text", "content": "free"}, "content 'free'"),
        (sample("s7"), {"kind": "grid"}, "'grid' cannot be painted"),
    ],
)
def test_missing_truth_is_named(item, form, message):
    with pytest.raises(GensightError, match=message):
        answer("oracle", turn(item, form))


def test_a_turn_without_truth_or_picture_is_an_error():
    item = box_sample(16, 24, 48, 72)
    blind = Turn(parts=turn(item, MASK).parts, answer_form=MASK)
    with pytest.raises(GensightError, match="the turn carries none"):
        answer("oracle", blind)
    with pytest.raises(GensightError, match="this prompt shows none"):
        answer("oracle", Turn(parts=(Part("text", text="?"),), answer_form=MASK, truth=item))


def test_equal_turns_get_equal_bytes():
    item = points_sample((10, 10), (64, 48))
    assert answer("oracle", turn(item, DOTS, seed=1)) == answer("oracle", turn(item, DOTS, seed=2))


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (64, 96, (1024, 683)),
        (48, 64, (1024, 768)),
        (2000, 30, (15, 1024)),
        (1500, 900, (614, 1024)),
    ],
)
def test_work_size_keeps_the_aspect(width, height, expected):
    mask = images.encode_mask(np.ones((height, width), bool))
    item = sample(picture=photograph(width, height), target_mask=mask)
    assert pixels(answer("oracle", turn(item, MASK))).shape == expected
