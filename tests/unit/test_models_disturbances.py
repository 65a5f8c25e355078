"""Each disturbance does its one thing, by exactly the stated amount."""

import numpy as np
import pytest
from reference_turns import (
    DOTS,
    INTEGER,
    MASK,
    NEAR_BRIGHT,
    NORMALS,
    answer,
    box_sample,
    depth_sample,
    normals_sample,
    pixels,
    points_sample,
    sample,
    turn,
)

from gensight import images
from gensight.errors import SpecError
from gensight.models.reference import disturbances

LONG_SIDE = 1024


def centroid(picture):
    weights = picture.astype(np.float64)
    rows, columns = np.indices(picture.shape)
    return (columns * weights).sum() / weights.sum(), (rows * weights).sum() / weights.sum()


def disturbed(item, form, name, severity, **options):
    return answer("oracle", turn(item, form, severity=severity, **options), disturbance=name)


@pytest.mark.parametrize("severity", [0, 0.5, 1, 2, 4, 8])
def test_shift_moves_the_centroid_to_the_right(severity):
    item = box_sample(16, 24, 48, 72)
    before = centroid(pixels(answer("oracle", turn(item, MASK))))
    after = centroid(pixels(disturbed(item, MASK, "shift", severity)))
    assert abs(after[0] - before[0] - severity / 100 * LONG_SIDE) <= 0.5
    assert after[1] == before[1]


def test_shift_is_along_the_long_side_of_tall_pictures_too():
    tall = np.zeros((LONG_SIDE, 256), dtype=np.uint8)
    tall[500, 100] = 255
    assert np.argwhere(disturbances.shift(tall, 2)).tolist() == [[500, 120]]


def test_shift_replicates_the_border():
    ramp = np.repeat(np.arange(200, dtype=np.uint8)[None], 3, axis=0)
    expected = np.concatenate([np.zeros(10), np.arange(190)])
    np.testing.assert_array_equal(disturbances.shift(ramp, 5)[1], expected)


@pytest.mark.parametrize("severity", [0, 0.5, 2, 8])
def test_scale_moves_points_away_from_the_centre(severity):
    factor = 1 + 2 * severity / 100
    item = box_sample(40, 40, 48, 56)
    before = np.array(centroid(pixels(answer("oracle", turn(item, MASK)))))
    after = np.array(centroid(pixels(disturbed(item, MASK, "scale", severity))))
    middle = np.array([(1024 - 1) / 2, (768 - 1) / 2])
    assert np.abs(after - (middle + factor * (before - middle))).max() <= 0.05


@pytest.mark.parametrize("severity", [1, 4])
def test_scale_moves_the_ends_of_the_long_side_by_the_severity(severity):
    moved_px = severity / 100 * (LONG_SIDE - 1)
    ramp = np.repeat((np.arange(1024) * 64).astype(np.uint16)[None], 8, axis=0)
    scaled = disturbances.scale(ramp, severity)
    # What now stands at the left end came from `moved_px / factor` inside.
    factor = 1 + 2 * severity / 100
    assert scaled[4, 0] / 64 == pytest.approx(moved_px / factor, abs=0.05)


@pytest.mark.parametrize("severity", [0.5, 2])
def test_blur_has_the_stated_standard_deviation(severity):
    edge = np.zeros((64, LONG_SIDE), dtype=np.uint16)
    edge[:, 512:] = 65535
    slope = np.diff(disturbances.blur(edge, severity)[32].astype(np.float64))
    x = np.arange(LONG_SIDE - 1) + 0.5
    mean = (x * slope).sum() / slope.sum()
    sigma = np.sqrt(((x - mean) ** 2 * slope).sum() / slope.sum())
    assert mean == pytest.approx(511.5, abs=0.05)
    assert sigma == pytest.approx(severity / 100 * LONG_SIDE, rel=0.02)


def test_blur_of_nothing_is_nothing():
    picture = np.arange(12, dtype=np.uint8).reshape(3, 4)
    np.testing.assert_array_equal(disturbances.blur(picture, 0), picture)


@pytest.mark.parametrize(("severity", "quality"), [(0, 100), (10, 90), (80, 20), (95, 5)])
def test_jpeg_returns_jpeg_bytes_of_the_stated_quality(severity, quality):
    item = points_sample((30, 30), (80, 60))
    plain = pixels(answer("oracle", turn(item, DOTS)))
    (data,) = disturbed(item, DOTS, "jpeg", severity).images
    assert images.inspect(data).kind == "jpeg"
    assert data == images.encode_jpeg(plain, quality=quality)


def test_jpeg_of_a_grey_answer_is_a_colour_picture():
    (data,) = disturbed(box_sample(16, 24, 48, 72), MASK, "jpeg", 50).images
    assert images.inspect(data).colour == "rgb"


@pytest.mark.parametrize(("dtype", "full"), [(np.uint8, 255), (np.uint16, 65535)])
@pytest.mark.parametrize("severity", [2, 10])
def test_noise_has_the_stated_spread_and_no_bias(dtype, full, severity):
    middle = np.full((512, 512, 3), full // 2, dtype=dtype)
    change = disturbances.add_noise(middle, severity, seed=7, repeat=0) - middle.astype(np.float64)
    assert change.std() == pytest.approx(severity / 100 * full, rel=0.01)
    assert abs(change.mean()) < 0.01 * full * severity / 100 * 2
    assert abs(np.corrcoef(change[..., 0].ravel(), change[..., 1].ravel())[0, 1]) < 0.01


def test_noise_is_clipped_and_is_one_pattern_at_every_severity():
    white = np.full((64, 64), 255, dtype=np.uint8)
    assert disturbances.add_noise(white, 50, 1, 0).max() == 255
    grey = np.full((64, 64), 128, dtype=np.uint8)
    weak = disturbances.add_noise(grey, 1, 1, 0).astype(float) - 128
    strong = disturbances.add_noise(grey, 8, 1, 0).astype(float) - 128
    assert np.abs(strong - 8 * weak).max() <= 4.5


def test_noise_depends_on_seed_and_repeat_only():
    item = box_sample(16, 24, 48, 72)
    base = disturbed(item, MASK, "noise", 10, seed=1)
    assert base == disturbed(item, MASK, "noise", 10, seed=1)
    assert base != disturbed(item, MASK, "noise", 10, seed=2)
    assert base != disturbed(item, MASK, "noise", 10, seed=1, repeat=1)


@pytest.mark.parametrize(
    ("degrees", "colour", "expected"),
    [
        (0, (200, 30, 40), (200, 30, 40)),
        (60, (255, 0, 0), (255, 255, 0)),
        (120, (255, 0, 0), (0, 255, 0)),
        (240, (0, 200, 100), (200, 100, 0)),
        (90, (77, 77, 77), (77, 77, 77)),
    ],
)
def test_hue_is_turned_by_degrees(degrees, colour, expected):
    picture = np.full((4, 4, 3), colour, dtype=np.uint8)
    assert np.abs(disturbances.turn_hue(picture, degrees) - np.array(expected)).max() <= 1


def test_hue_leaves_grey_pictures_alone():
    item = box_sample(16, 24, 48, 72)
    assert disturbed(item, MASK, "hue", 60) == answer("oracle", turn(item, MASK))


def test_counting_disturbs_the_whole_marked_picture():
    item = points_sample((30, 30), (80, 60))
    plain = pixels(answer("oracle", turn(item, DOTS)))
    moved = pixels(disturbed(item, DOTS, "shift", 2))
    np.testing.assert_array_equal(moved[:, 20:], plain[:, :-20])


@pytest.mark.parametrize("name", ["shift", "scale", "blur", "noise"])
@pytest.mark.parametrize(
    ("item", "form"),
    [
        (depth_sample(np.linspace(1, 9, 96 * 128).reshape(96, 128)), NEAR_BRIGHT),
        (normals_sample(np.tile([0.0, 0.6, 0.8], (96, 128, 1))), NORMALS),
        (points_sample((30, 30)), DOTS),
    ],
)
def test_every_form_keeps_size_and_depth(name, item, form):
    plain = pixels(answer("oracle", turn(item, form)))
    result = pixels(disturbed(item, form, name, 1))
    assert (result.shape, result.dtype) == (plain.shape, plain.dtype)


@pytest.mark.parametrize("name", ["shift", "scale", "blur", "noise", "hue"])
def test_severity_zero_is_the_plain_oracle(name):
    item = points_sample((30, 30), (80, 60))
    plain = pixels(answer("oracle", turn(item, DOTS)))
    np.testing.assert_array_equal(pixels(disturbed(item, DOTS, name, 0)), plain)


def test_sixteen_bit_depth_stays_sixteen_bit():
    item = depth_sample(np.linspace(1, 9, 96 * 128).reshape(96, 128))
    shown = turn(item, NEAR_BRIGHT, severity=1)
    reply = answer("oracle", shown, disturbance="blur", bit_depth=16)
    assert images.inspect(reply.images[0]).bit_depth == 16


def test_text_answers_carry_no_disturbance():
    assert disturbed(sample(target_count=4), INTEGER, "shift", 8).text == "4"


@pytest.mark.parametrize(
    ("name", "severity", "message"),
    [
        ("shift", None, "'shift' needs at least one"),
        ("blur", -1, "-1 is out of range"),
        ("jpeg", 100, "jpeg: 0 to 99"),
    ],
)
def test_severities_out_of_range(name, severity, message):
    with pytest.raises(SpecError, match=message):
        disturbed(box_sample(16, 24, 48, 72), MASK, name, severity)
