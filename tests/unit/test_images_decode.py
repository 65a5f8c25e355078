"""Pixels: hand-made truth for every kind of picture, and agreement with Pillow on the fast path."""

from __future__ import annotations

import numpy as np
import pytest
from images_by_hand import (
    BLACK,
    GREY,
    GREY_ALPHA,
    PALETTE,
    RGB,
    RGB_ALPHA,
    WHITE,
    chunk,
    exif,
    photograph,
    png,
    read_by_pillow,
    saved,
    words,
)

from gensight.errors import ImageError
from gensight.images import (
    decode_colour,
    decode_grey,
    decode_rgb,
    encode_jpeg,
    encode_png,
    to_eight_bits,
)

PLTE = chunk(b"PLTE", bytes([10, 20, 30, 200, 100, 0, 0, 0, 255]))
RED = (255, 0, 0)


def luma(red, green, blue):
    """Rec. 601 in whole numbers, with 15-bit weights, rounded half up as OpenCV does."""
    return (9798 * red + 19235 * green + 3735 * blue + 16384) >> 15


# (bytes, matte, RGB of each pixel of the one row, grey of each pixel)
HAND_MADE = {
    "grey 8": (
        png((3, 1), 8, GREY, [[0, 100, 255]]),
        BLACK,
        [[0] * 3, [100] * 3, [255] * 3],
        [0, 100, 255],
    ),
    "grey 1": (png((4, 1), 1, GREY, [[0b10100000]]), BLACK, [[255] * 3, [0] * 3] * 2, [255, 0] * 2),
    "grey 2": (
        png((4, 1), 2, GREY, [[0b00011011]]),
        BLACK,
        [[v] * 3 for v in (0, 85, 170, 255)],
        [0, 85, 170, 255],
    ),
    "grey 4": (png((2, 1), 4, GREY, [[0x3F]]), BLACK, [[51] * 3, [255] * 3], [51, 255]),
    "rgb 8": (
        png((2, 1), 8, RGB, [[255, 0, 0, 1, 2, 3]]),
        BLACK,
        [[255, 0, 0], [1, 2, 3]],
        [luma(255, 0, 0), luma(1, 2, 3)],
    ),
    "palette 8": (
        png((3, 1), 8, PALETTE, [[2, 0, 1]], PLTE),
        BLACK,
        [[0, 0, 255], [10, 20, 30], [200, 100, 0]],
        [luma(0, 0, 255), luma(10, 20, 30), luma(200, 100, 0)],
    ),
    "palette 2": (
        png((3, 1), 2, PALETTE, [[0b01001000]], PLTE),
        BLACK,
        [[200, 100, 0], [10, 20, 30], [0, 0, 255]],
        [luma(200, 100, 0), luma(10, 20, 30), luma(0, 0, 255)],
    ),
    "palette with transparency": (
        png((3, 1), 8, PALETTE, [[0, 1, 2]], PLTE + chunk(b"tRNS", bytes([0, 51]))),
        WHITE,
        # 51 / 255 is one fifth: 200/5 + 255*4/5 = 244, 100/5 + 204 = 224, 204.
        [[255, 255, 255], [244, 224, 204], [0, 0, 255]],
        [255, luma(244, 224, 204), luma(0, 0, 255)],
    ),
    "grey alpha 8": (
        png((3, 1), 8, GREY_ALPHA, [[200, 255, 200, 0, 200, 102]]),
        BLACK,
        [[200] * 3, [0] * 3, [80] * 3],
        [200, 0, 80],
    ),
    "rgba 8": (
        png((3, 1), 8, RGB_ALPHA, [[10, 20, 30, 255, 10, 20, 30, 0, 250, 100, 50, 51]]),
        RED,
        [[10, 20, 30], [255, 0, 0], [254, 20, 10]],
        [luma(10, 20, 30), luma(255, 0, 0), luma(254, 20, 10)],
    ),
    "grey 16": (
        png((2, 1), 16, GREY, [words(1000, 65535)]),
        BLACK,
        [[4] * 3, [255] * 3],
        [1000, 65535],
    ),
    "rgb 16": (
        png((1, 1), 16, RGB, [words(1000, 2000, 65535)]),
        BLACK,
        [[4, 8, 255]],
        [luma(1000, 2000, 65535)],
    ),
    "rgba 16": (
        png((2, 1), 16, RGB_ALPHA, [words(1000, 2000, 3000, 65535, 5, 5, 5, 0)]),
        (255, 0, 1),
        [[4, 8, 12], [255, 0, 1]],
        [luma(1000, 2000, 3000), luma(65535, 0, 257)],
    ),
    "grey alpha 16": (
        png((2, 1), 16, GREY_ALPHA, [words(50000, 13107, 40000, 65535)]),
        BLACK,
        # 13107 / 65535 is one fifth.
        [[39] * 3, [156] * 3],
        [10000, 40000],
    ),
    "grey 8 with a transparent level": (
        png((2, 1), 8, GREY, [[7, 8]], chunk(b"tRNS", words(7))),
        WHITE,
        [[255] * 3, [8] * 3],
        [255, 8],
    ),
    "grey 2 with a transparent level": (
        png((2, 1), 2, GREY, [[0b01100000]], chunk(b"tRNS", words(2))),
        WHITE,
        [[85] * 3, [255] * 3],
        [85, 255],
    ),
    "grey 16 with a transparent level": (
        png((2, 1), 16, GREY, [words(7, 1000)], chunk(b"tRNS", words(7))),
        WHITE,
        [[255] * 3, [4] * 3],
        [65535, 1000],
    ),
    "rgb 8 with a transparent colour": (
        png((2, 1), 8, RGB, [[1, 2, 3, 1, 2, 4]], chunk(b"tRNS", words(1, 2, 3))),
        WHITE,
        [[255] * 3, [1, 2, 4]],
        [255, luma(1, 2, 4)],
    ),
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made_pixels(name):
    data, matte, rgb, grey = HAND_MADE[name]
    decoded = decode_rgb(data, matte=matte)
    assert decoded.dtype == np.uint8
    assert decoded.tolist() == [rgb]
    decoded = decode_grey(data, matte=matte)
    assert decoded.dtype == (np.uint16 if "16" in name else np.uint8)
    assert decoded.tolist() == [grey]


def test_sixteen_bits_are_kept_in_grey_and_scaled_by_257_in_rgb():
    levels = np.arange(0, 65536, 13, dtype=np.uint16).reshape(1, -1)
    data = encode_png(levels)
    assert (decode_grey(data, matte=BLACK) == levels).all()
    assert decode_colour(data, matte=BLACK).dtype == np.uint16
    expected = np.floor(levels / 257 + 0.5).astype(np.uint8)
    assert (decode_rgb(data, matte=BLACK)[:, :, 0] == expected).all()
    assert to_eight_bits(np.array([0, 128, 129, 65535], np.uint16)).tolist() == [0, 0, 1, 255]


def test_all_alphas_over_all_levels_are_rounded_to_nearest():
    level, alpha = np.meshgrid(np.arange(256), np.arange(256))
    rows = np.dstack([level, alpha]).astype(np.uint8).reshape(256, -1)
    data = png((256, 256), 8, GREY_ALPHA, [row.tobytes() for row in rows])
    expected = np.floor((level * alpha + 60 * (255 - alpha)) / 255 + 0.5)
    assert (decode_grey(data, matte=(60, 60, 60)) == expected).all()


ENCODINGS = {
    "png": ("PNG", {}),
    "png optimised": ("PNG", {"optimize": True}),
    "jpeg": ("JPEG", {"quality": 90}),
    "jpeg 4:4:4": ("JPEG", {"quality": 90, "subsampling": 0}),
    "jpeg progressive": ("JPEG", {"progressive": True}),
    "webp": ("WEBP", {"quality": 80}),
    "webp lossless": ("WEBP", {"lossless": True}),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_fast_path_agrees_with_pillow(name):
    kind, options = ENCODINGS[name]
    data = saved(photograph(), kind, **options)
    reading = read_by_pillow(data)
    decoded = decode_rgb(data, matte=BLACK)
    # Lossy decoders may round a transform differently; nothing else may differ.
    tolerance = 0 if kind == "PNG" or "lossless" in options else 2
    assert np.abs(decoded.astype(int) - reading).max() <= tolerance
    red, green, blue = np.moveaxis(decoded.astype(int), 2, 0)
    assert (decode_grey(data, matte=BLACK) == luma(red, green, blue)).all()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_stored_grey_agrees_with_pillow(kind):
    data = saved(photograph()[:, :, 0], kind)
    grey = read_by_pillow(data, "L")
    assert (decode_grey(data, matte=BLACK) == grey).all()
    assert (decode_rgb(data, matte=BLACK) == grey[:, :, None]).all()


@pytest.mark.parametrize("lossless", [True, False])
def test_webp_alpha_shows_the_matte(lossless):
    rgba = np.dstack([photograph(), np.full((48, 64), 255, np.uint8)])
    rgba[:, :32, 3] = 0
    data = saved(rgba, "WEBP", lossless=lossless, exact=True)
    decoded = decode_rgb(data, matte=(9, 8, 7))
    assert (decoded[:, :32] == (9, 8, 7)).all()
    if lossless:
        assert (decoded[:, 32:] == rgba[:, 32:, :3]).all()


def test_cmyk_jpeg_in_adobe_ink_levels():
    # (cyan, magenta, yellow, black) in 0..255 of ink, 16x16 blocks against JPEG's mixing.
    inks = [(0, 0, 0, 0), (255, 0, 0, 0), (0, 255, 255, 0), (0, 0, 0, 255), (0, 0, 0, 128)]
    expected = [(255, 255, 255), (0, 255, 255), (255, 0, 0), (0, 0, 0), (127, 127, 127)]
    blocks = np.repeat(np.repeat(np.array([inks], np.uint8), 16, 0), 16, 1)
    data = saved(blocks, "JPEG", mode="CMYK", quality=100)
    decoded = decode_rgb(data, matte=BLACK)[8, 8::16]
    assert np.abs(decoded.astype(int) - expected).max() <= 3
    assert decode_grey(data, matte=BLACK)[8, 8] >= 252


# What the viewer sees of the stored raster [[1, 2, 3], [4, 5, 6]], by EXIF's definitions.
UPRIGHT = {
    1: [[1, 2, 3], [4, 5, 6]],
    2: [[3, 2, 1], [6, 5, 4]],
    3: [[6, 5, 4], [3, 2, 1]],
    4: [[4, 5, 6], [1, 2, 3]],
    5: [[1, 4], [2, 5], [3, 6]],
    6: [[4, 1], [5, 2], [6, 3]],
    7: [[6, 3], [5, 2], [4, 1]],
    8: [[3, 6], [2, 5], [1, 4]],
}


@pytest.mark.parametrize("orientation", UPRIGHT)
def test_exif_orientation_is_applied_or_ignored_as_asked(orientation):
    rows, block = [[1, 2, 3], [4, 5, 6]], chunk(b"eXIf", exif(orientation))
    data = png((3, 2), 8, GREY, rows, block)
    assert decode_grey(data, matte=BLACK).tolist() == UPRIGHT[orientation]
    assert decode_grey(data, matte=BLACK, orient=False).tolist() == rows
    with_alpha = [[v for level in row for v in (level, 255)] for row in rows]
    data = png((3, 2), 8, GREY_ALPHA, with_alpha, block)
    assert decode_rgb(data, matte=WHITE)[:, :, 1].tolist() == UPRIGHT[orientation]


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_agrees_with_pillow(kind, orientation):
    import io

    from PIL import Image, ImageOps

    block = (b"Exif\0\0" if kind == "JPEG" else b"") + exif(orientation)
    data = saved(photograph(), kind, exif=block)
    with Image.open(io.BytesIO(data)) as picture:
        upright = np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    decoded = decode_rgb(data, matte=BLACK)
    assert decoded.shape == upright.shape
    assert np.abs(decoded.astype(int) - upright).max() <= 2
    assert decode_rgb(data, matte=BLACK, orient=False).shape == (48, 64, 3)


def test_a_picture_as_matte_follows_the_upright_size():
    rows = [[0, 0, 0, 0, 0, 0]] * 2
    data = png((3, 2), 8, GREY_ALPHA, rows, chunk(b"eXIf", exif(6)))
    matte = np.arange(18, dtype=np.uint8).reshape(3, 2, 3)
    assert (decode_rgb(data, matte=matte) == matte).all()
    large = np.full((30, 20, 3), (5, 6, 7), np.uint8)
    assert (decode_rgb(data, matte=large) == (5, 6, 7)).all()
    with pytest.raises(ValueError, match="matte"):
        decode_rgb(data, matte=np.zeros((3, 2), np.uint8))


def test_tall_pictures_are_composited_in_strips_without_seams():
    level, alpha = np.meshgrid(np.arange(3), np.arange(600) % 256)
    rows = np.dstack([level * 100, alpha]).astype(np.uint8).reshape(600, -1)
    data = png((3, 600), 8, GREY_ALPHA, [row.tobytes() for row in rows])
    matte = np.arange(600 * 9).reshape(600, 3, 3).astype(np.uint8)
    expected = np.floor(
        (level[:, :, None] * 100 * alpha[:, :, None] + matte * (255.0 - alpha[:, :, None])) / 255
        + 0.5
    )
    assert (decode_rgb(data, matte=matte) == expected).all()


def test_the_matte_has_no_default():
    with pytest.raises(TypeError, match="matte"):
        decode_rgb(encode_png(photograph()))
    with pytest.raises(TypeError, match="matte"):
        decode_grey(encode_png(photograph()))


def test_damaged_pixels_of_a_whole_file_are_refused():
    data = bytearray(saved(photograph(), "PNG"))
    data[len(data) // 2] ^= 0x55
    with pytest.raises(ImageError, match="damaged"):
        decode_rgb(bytes(data), matte=BLACK)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(48, 64), (48, 64, 3), (1, 1), (1, 5, 3)])
@pytest.mark.parametrize("compression", [0, 1, 6])
def test_png_round_trip(dtype, shape, compression):
    array = np.random.default_rng(3).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    data = encode_png(array, compression=compression)
    assert data == encode_png(array.copy(order="F"), compression=compression)
    decode = decode_grey if array.ndim == 2 else decode_colour
    assert decode(data, matte=BLACK).dtype == dtype
    assert (decode(data, matte=BLACK) == array).all()


def test_jpeg_round_trip_is_close_and_worse_at_lower_quality():
    picture = photograph()
    errors = [
        np.abs(
            decode_rgb(encode_jpeg(picture, quality=q), matte=BLACK) - picture.astype(int)
        ).mean()
        for q in (95, 50, 10)
    ]
    assert errors[0] < errors[1] < errors[2]
    assert errors[0] < 3


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2)),
        np.zeros((2, 2), bool),
        np.zeros((2, 2, 4), np.uint8),
        np.zeros((0, 2), np.uint8),
    ],
)
def test_only_pictures_are_encoded(array):
    with pytest.raises(ValueError, match="a picture is"):
        encode_png(array)
