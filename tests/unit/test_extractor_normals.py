"""Normal extractor: the colour channels survive untouched."""

from __future__ import annotations

import numpy as np
import pytest
from images_by_hand import BLACK, RGB_ALPHA, photograph, png

from gensight.extractors import Answer
from gensight.extractors import normals as normal_extractor
from gensight.images import decode_colour, encode_png


def read(data):
    answer = Answer(image=data, source_width=64, source_height=48)
    (reading,) = normal_extractor.extract(answer, {})
    return reading


def colour_of(reading):
    return decode_colour(reading.fields["normals"]["bytes"], matte=BLACK)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_channels_are_kept_with_their_bits(dtype):
    picture = photograph().astype(dtype) * (np.iinfo(dtype).max // 255)
    reading = read(encode_png(picture))
    assert reading.variant == "rgb"
    assert colour_of(reading).dtype == dtype
    assert (colour_of(reading) == picture).all()
    assert reading.fields["degenerate_output"] is False


def test_one_channel_with_contrast_is_enough():
    """Red, green and blue of equal luma differ only in colour, which is all that counts here."""
    picture = np.full((48, 64, 3), 128, np.uint8)
    assert read(encode_png(picture)).fields["degenerate_output"] is True
    picture[:, 32:, 2] = 255
    assert read(encode_png(picture)).fields["degenerate_output"] is False


def test_transparency_is_black():
    data = png((2, 1), 8, RGB_ALPHA, [[9, 8, 7, 255, 9, 8, 7, 0]])
    assert colour_of(read(data)).tolist() == [[[9, 8, 7], [0, 0, 0]]]
