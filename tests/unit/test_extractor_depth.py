"""Depth extractor: the grey map survives untouched, at its size and bit depth."""

from __future__ import annotations

import numpy as np
import pytest
from images_by_hand import BLACK, GREY_ALPHA, photograph, png, read_by_pillow, saved

from gensight.extractors import Answer
from gensight.extractors import depth as depth_extractor
from gensight.images import decode_grey, encode_png


def read(data, width=64, height=48):
    answer = Answer(image=data, source_width=width, source_height=height)
    (reading,) = depth_extractor.extract(answer, {})
    return reading


def grey_of(reading):
    return decode_grey(reading.fields["grey"]["bytes"], matte=BLACK)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_is_kept_with_its_bits(dtype):
    ramp = np.linspace(0, np.iinfo(dtype).max, 48 * 64).reshape(48, 64).astype(dtype)
    reading = read(encode_png(ramp))
    assert reading.variant == "grey"
    assert grey_of(reading).dtype == dtype
    assert (grey_of(reading) == ramp).all()
    assert reading.fields["degenerate_output"] is False
    assert reading.fields["bit_depth"] == np.iinfo(dtype).bits


def test_colour_becomes_luma_as_pillow_has_it():
    data = saved(photograph(), "PNG")
    difference = grey_of(read(data)).astype(int) - read_by_pillow(data, "L")
    # Pillow rounds its 16-bit weights down now and then.
    assert np.abs(difference).max() <= 1


def test_another_size_is_kept():
    assert grey_of(read(saved(photograph(96, 128), "JPEG"))).shape == (96, 128)


def test_transparency_is_black():
    data = png((2, 1), 8, GREY_ALPHA, [[200, 255, 200, 0]])
    assert grey_of(read(data)).tolist() == [[200, 0]]


@pytest.mark.parametrize("level", [0, 128, 255])
def test_constant_pictures_are_kept_and_flagged(level):
    reading = read(encode_png(np.full((48, 64), level, np.uint8)))
    assert reading.status == "ok"
    assert reading.fields["degenerate_output"] is True
    assert (grey_of(reading) == level).all()
    assert reading.fields["facts"] == {"contrast": 0.0}
