"""The picture that is sent: long side 1024, upright, opaque over white, eight bits."""

from __future__ import annotations

import numpy as np
import pytest
from images_by_hand import BLACK, RGB_ALPHA, chunk, exif, photograph, png, saved, words

from gensight.errors import ImageError
from gensight.images import decode_rgb, inspect, resize_picture, standardise


def sent(data, **options):
    return decode_rgb(standardise(data, **options), matte=BLACK)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_right_pictures_go_out_byte_for_byte(kind):
    data = saved(photograph(), kind)
    assert standardise(data, long_side=64) == data


@pytest.mark.parametrize(("long_side", "shape"), [(1024, (768, 1024, 3)), (32, (24, 32, 3))])
def test_the_long_side_is_brought_to_size(long_side, shape):
    picture = photograph()
    result = sent(saved(picture, "PNG"), long_side=long_side)
    assert result.shape == shape
    assert (result == resize_picture(picture, shape[1], shape[0])).all()


@pytest.mark.parametrize(("orient", "shape"), [(True, (64, 48)), (False, (48, 64))])
def test_no_orientation_tag_is_sent_on(orient, shape):
    data = saved(photograph(), "JPEG", exif=b"Exif\0\0" + exif(6))
    result = standardise(data, long_side=64, orient=orient)
    info = inspect(result)
    assert (info.height, info.width) == shape
    assert info.orientation == 1
    expected = decode_rgb(data, matte=BLACK, orient=orient)
    assert (decode_rgb(result, matte=BLACK) == expected).all()


def test_transparency_lies_over_white():
    data = png((2, 1), 8, RGB_ALPHA, [[9, 8, 7, 255, 9, 8, 7, 0]])
    result = standardise(data, long_side=2)
    assert not inspect(result).had_alpha
    assert decode_rgb(result, matte=BLACK).tolist() == [[[9, 8, 7], [255, 255, 255]]]


def test_other_depths_and_inks_become_eight_bit_rgb():
    sixteen = standardise(png((1, 1), 16, 2, [words(257, 514, 65535)]), long_side=1)
    assert (inspect(sixteen).bit_depth, inspect(sixteen).colour) == (8, "rgb")
    assert decode_rgb(sixteen, matte=BLACK).tolist() == [[[1, 2, 255]]]
    inks = saved(np.zeros((16, 16, 4), np.uint8), "JPEG", mode="CMYK")
    assert inspect(standardise(inks, long_side=16)).colour == "rgb"


def test_palettes_of_eight_bits_are_sent_as_they_are():
    data = png((2, 1), 8, 3, [[0, 1]], chunk(b"PLTE", bytes(6)))
    assert standardise(data, long_side=2) == data


def test_unreadable_inputs_are_refused():
    with pytest.raises(ImageError):
        standardise(b"<html>")


def test_without_a_long_side_a_picture_keeps_its_size():
    data = saved(photograph(), "PNG")
    assert standardise(data, long_side=None) == data
    turned = saved(photograph(), "JPEG", exif=b"Exif\0\0" + exif(6))
    info = inspect(standardise(turned, long_side=None))
    assert (info.height, info.width, info.orientation) == (64, 48, 1)
