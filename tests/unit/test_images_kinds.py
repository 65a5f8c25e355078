"""Headers: kind, size, depth, alpha and orientation come from the bytes alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from images_by_hand import (
    GOOD_PNG,
    GREY,
    GREY_ALPHA,
    HTML,
    HUGE_PNG,
    PALETTE,
    RGB,
    RGB_ALPHA,
    chunk,
    exif,
    photograph,
    png,
    saved,
    words,
)

from gensight.errors import ImageError
from gensight.images import decode_rgb, inspect
from gensight.images.kinds import exif_orientation

PHOTO = photograph()
PHOTO_ALPHA = np.dstack([PHOTO, PHOTO[:, :, 0]])
PLTE = chunk(b"PLTE", bytes(range(6)))


def described(data):
    info = inspect(data)
    return (
        info.kind,
        (info.width, info.height),
        info.bit_depth,
        info.colour,
        info.had_alpha,
        info.orientation,
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (png((8, 1), 1, GREY, [[170]]), ("png", (8, 1), 1, "grey", False, 1)),
        (png((1, 2), 8, GREY_ALPHA, [[1, 2]] * 2), ("png", (1, 2), 8, "grey", True, 1)),
        (png((2, 1), 4, PALETTE, [[1]], PLTE), ("png", (2, 1), 4, "palette", False, 1)),
        (
            png((2, 1), 8, PALETTE, [[0, 1]], PLTE + chunk(b"tRNS", b"\0")),
            ("png", (2, 1), 8, "palette", True, 1),
        ),
        (
            png((1, 1), 16, RGB, [words(1, 2, 3)], chunk(b"eXIf", exif(6))),
            ("png", (1, 1), 16, "rgb", False, 6),
        ),
        (
            png((1, 1), 16, RGB_ALPHA, [words(1, 2, 3, 4)]),
            ("png", (1, 1), 16, "rgb", True, 1),
        ),
        (saved(PHOTO, "JPEG"), ("jpeg", (64, 48), 8, "rgb", False, 1)),
        (saved(PHOTO, "JPEG", progressive=True), ("jpeg", (64, 48), 8, "rgb", False, 1)),
        (saved(PHOTO[:, :, 0], "JPEG"), ("jpeg", (64, 48), 8, "grey", False, 1)),
        (saved(PHOTO_ALPHA, "JPEG", mode="CMYK"), ("jpeg", (64, 48), 8, "cmyk", False, 1)),
        (
            saved(PHOTO, "JPEG", exif=b"Exif\0\0" + exif(8, "<")),
            ("jpeg", (64, 48), 8, "rgb", False, 8),
        ),
        (saved(PHOTO, "WEBP"), ("webp", (64, 48), 8, "rgb", False, 1)),
        (saved(PHOTO, "WEBP", lossless=True), ("webp", (64, 48), 8, "rgb", False, 1)),
        (saved(PHOTO_ALPHA, "WEBP", lossless=True), ("webp", (64, 48), 8, "rgb", True, 1)),
        (saved(PHOTO_ALPHA, "WEBP"), ("webp", (64, 48), 8, "rgb", True, 1)),
        (saved(PHOTO, "WEBP", exif=exif(3)), ("webp", (64, 48), 8, "rgb", False, 3)),
    ],
)
def test_header_facts(data, expected):
    assert described(data) == expected


@pytest.mark.parametrize(
    ("data", "words_of_the_message"),
    [
        (b"", "empty"),
        (HTML, "web page"),
        (b"\n\n<html>", "web page"),
        (b"GIF89a" + bytes(20), "not a PNG, JPEG or WebP"),
        (HUGE_PNG, "20000x20000"),
        (GOOD_PNG[:20], "cut off"),
        (png((0, 5), 8, RGB, []), "no pixels"),
        (png((5, 5), 7, RGB, []), "IHDR"),
        (b"\xff\xd8\xff\xe0", "cut off"),
        (b"\xff\xd8\xff\xe0\0\x04ab\0\0\0\0", "damaged"),
        (b"\xff\xd8\xff\xda\0\x02", "no frame header"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "cut off"),
        (b"RIFF\x10\0\0\0WEBPXXXX" + bytes(20), "picture chunk"),
    ],
)
def test_what_is_not_a_picture_says_why(data, words_of_the_message):
    with pytest.raises(ImageError, match=words_of_the_message):
        inspect(data)


def test_the_pixel_limit_is_inclusive():
    # 89 478 485 = 5 x 17 895 697, the limit itself.
    assert inspect(png((5, 17_895_697), 1, GREY, [])).height == 17_895_697
    with pytest.raises(ImageError, match="limit"):
        inspect(png((2, 44_739_243), 1, GREY, []))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_upright_size_is_that_of_the_decoded_picture(orientation):
    data = png((3, 2), 8, GREY, [[1, 2, 3], [4, 5, 6]], chunk(b"eXIf", exif(orientation)))
    height, width = decode_rgb(data, matte=(0, 0, 0)).shape[:2]
    assert inspect(data).upright_size == (width, height)
    assert (width == 2) == (orientation >= 5)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("value", range(1, 9))
def test_orientation_in_both_byte_orders(order, value):
    assert exif_orientation(exif(value, order)) == value
    assert exif_orientation(b"Exif\0\0" + exif(value, order)) == value


@pytest.mark.parametrize(
    "block", [b"", b"MM", exif(0), exif(9), exif(6)[:14], b"XX" + exif(6)[2:], exif(6)[:8]]
)
def test_a_damaged_exif_block_says_nothing(block):
    assert exif_orientation(block) == 1


def test_a_thumbnail_inside_exif_does_not_complete_a_truncated_jpeg():
    # A second tag-free EXIF block with a whole JPEG inside, as cameras write it.
    thumbnail = saved(photograph(16, 16), "JPEG")
    data = saved(photograph(256, 256), "JPEG", exif=b"Exif\0\0" + exif(1) + thumbnail)
    assert decode_rgb(data, matte=(0, 0, 0)).shape == (256, 256, 3)
    with pytest.raises(ImageError, match="truncated"):
        decode_rgb(data[: len(data) // 2], matte=(0, 0, 0))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["PNG", "JPEG", "WEBP", ""]))
def test_no_bytes_do_more_than_raise_image_error(tail, kind):
    start = saved(PHOTO, kind)[:20] if kind else b""
    with pytest.raises(ImageError):
        decode_rgb(start + tail, matte=(0, 0, 0))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["PNG", "JPEG", "WEBP"]), st.floats(0, 1, exclude_max=True))
def test_every_truncation_is_an_error(kind, share):
    data = saved(PHOTO, kind)
    with pytest.raises(ImageError):
        decode_rgb(data[: int(share * len(data))], matte=(0, 0, 0))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["PNG", "JPEG", "WEBP"]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=8),
)
def test_damaged_bytes_are_read_or_refused(kind, changes):
    data = bytearray(saved(PHOTO, kind))
    for place, change in changes:
        data[place % len(data)] ^= change
    try:
        picture = decode_rgb(bytes(data), matte=(0, 0, 0))
    except ImageError as error:
        assert str(error)
    else:
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
