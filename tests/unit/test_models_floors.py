"""Floors without a fit: echo, echo_grey, constant, the ramp, salient."""

from dataclasses import replace

import numpy as np
import pytest
from reference_turns import (
    DOTS,
    HEIGHT,
    MASK,
    NEAR_BRIGHT,
    NEAR_DARK,
    OVERLAY,
    WIDTH,
    answer,
    box_sample,
    photograph,
    pixels,
    sample,
    turn,
)

from gensight import images
from gensight.errors import GensightError
from gensight.models.reference import saliency

FLOORS = [("echo", MASK), ("echo_grey", NEAR_BRIGHT), ("constant", DOTS), ("salient", MASK)]
FLOORS.append(("prior_ramp", NEAR_DARK))


def blob_picture(colour=(230, 200, 40)):
    """A grey-blue field with one patch of another colour, and its mask."""
    picture = np.full((HEIGHT, WIDTH, 3), (90, 100, 120), dtype=np.uint8)
    mask = np.zeros((HEIGHT, WIDTH), dtype=bool)
    mask[30:60, 50:90] = True
    picture[mask] = colour
    return picture, mask


@pytest.mark.parametrize("data", [images.encode_jpeg(photograph(), quality=80), b"not a picture"])
def test_echo_returns_identical_bytes(data):
    item = replace(sample(), image={"bytes": data, "path": None})
    reply = answer("echo", turn(item, MASK))
    assert (reply.outcome, reply.images) == ("ok", (data,))


def test_echo_returns_the_first_picture():
    shown = turn(sample(), MASK)
    other = turn(sample(picture=photograph(seed=5)), MASK)
    both = replace(shown, parts=shown.parts + other.parts)
    assert answer("echo", both).images == (shown.parts[0].image,)


def test_echo_grey_is_the_input_in_grey_at_its_own_size():
    picture = photograph()
    reply = answer("echo_grey", turn(sample(picture=picture), NEAR_BRIGHT))
    expected = picture @ np.array([0.299, 0.587, 0.114])
    assert images.inspect(reply.images[0]).kind == "png"
    assert np.abs(pixels(reply) - expected).max() <= 0.51


@pytest.mark.parametrize(("settings", "level"), [({}, 255), ({"level": 0}, 0), ({"level": 7}, 7)])
def test_constant_is_uniform_at_the_work_size(settings, level):
    grey = pixels(answer("constant", turn(sample(), MASK), **settings))
    assert grey.shape == (768, 1024)
    assert (grey == level).all()


def test_work_size_follows_the_orientation_tag():
    from io import BytesIO

    from PIL import Image

    picture = Image.fromarray(photograph())
    exif = picture.getexif()
    exif[0x0112] = 6
    buffer = BytesIO()
    picture.save(buffer, "JPEG", exif=exif)
    item = replace(sample(), image={"bytes": buffer.getvalue(), "path": None})
    assert pixels(answer("constant", turn(item, MASK))).shape == (1024, 768)


@pytest.mark.parametrize(("form", "top", "bottom"), [(NEAR_BRIGHT, 0, 255), (NEAR_DARK, 255, 0)])
def test_ramp_is_nearer_towards_the_bottom(form, top, bottom):
    grey = pixels(answer("prior_ramp", turn(sample(), form)))
    assert (grey == grey[:, :1]).all()
    assert (grey[0, 0], grey[-1, 0]) == (top, bottom)
    line = np.linspace(top, bottom, 768)
    assert np.abs(grey[:, 0] - line).max() <= 0.5


def test_ramp_in_sixteen_bit():
    reply = answer("prior_ramp", turn(sample(), NEAR_BRIGHT), bit_depth=16)
    assert len(np.unique(pixels(reply))) == 768


def test_salient_finds_what_differs_from_the_border():
    picture, mask = blob_picture()
    found = pixels(answer("salient", turn(sample(picture=picture), MASK))) > 127
    truth = images.resize_mask(mask, 1024, 768)
    assert (found & truth).sum() / (found | truth).sum() > 0.9


def test_salient_takes_the_largest_of_several():
    picture, mask = blob_picture()
    picture[5:10, 5:10] = (230, 200, 40)
    found = images.resize_mask(
        saliency.salient_mask(images.resize_picture(picture, 256, 192)), WIDTH, HEIGHT
    )
    assert not found[:15, :15].any()
    assert (found & mask).sum() / (found | mask).sum() > 0.9


def test_salient_tints_what_it_finds_where_a_tint_is_asked_for():
    picture, _ = blob_picture()
    item = sample(picture=picture)
    found = pixels(answer("salient", turn(item, MASK))) > 127
    tinted = pixels(answer("salient", turn(item, OVERLAY)))
    plain = images.resize_picture(picture, 1024, 768)
    np.testing.assert_array_equal((tinted != plain).any(axis=2), found)


@pytest.mark.parametrize("size", [(HEIGHT, WIDTH), (1, 1), (2, 300)])
def test_salient_sees_nothing_in_a_uniform_picture(size):
    picture = np.full((*size, 3), 140, dtype=np.uint8)
    assert not (pixels(answer("salient", turn(sample(picture=picture), MASK))) > 127).any()


@pytest.mark.parametrize(("method", "form"), FLOORS)
def test_floors_never_look_at_the_truth(method, form):
    shown = turn(box_sample(16, 24, 48, 72, target_count=3), form)
    other = box_sample(2, 3, 90, 80, target_count=40)
    replies = {answer(method, replace(shown, truth=truth)) for truth in (shown.truth, other, None)}
    assert len(replies) == 1


@pytest.mark.parametrize(
    ("method", "form"), [("salient", NEAR_BRIGHT), ("prior_ramp", MASK), ("planner", DOTS)]
)
def test_other_forms_of_answer_are_refused(method, form):
    with pytest.raises(GensightError, match=f"'{method}' has no answer of the form"):
        answer(method, turn(sample(), form))
