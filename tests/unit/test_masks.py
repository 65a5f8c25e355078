"""Masks: COCO run lengths, the COCO rasteriser, and the encodings of ground-truth files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as arrays
from images_by_hand import (
    GREY,
    GREY_ALPHA,
    HTML,
    PALETTE,
    RGB,
    chunk,
    exif,
    photograph,
    png,
    saved,
    words,
)

from gensight.errors import ImageError
from gensight.images import (
    decode_array,
    decode_mask,
    encode_array,
    encode_mask,
    polygons_to_mask,
    read_mask,
)


def runs_by_hand(mask):
    """Return the run lengths down the columns, a run of zeros first."""
    runs, current = [0], False
    for pixel in mask.T.ravel():
        if pixel != current:
            runs.append(0)
            current = pixel
        runs[-1] += 1
    return runs


MASKS = arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=12))


@settings(deadline=None)
@given(MASKS)
def test_round_trip_in_every_form_of_counts(mask):
    rle = encode_mask(mask)
    assert rle["size"] == list(mask.shape)
    assert isinstance(rle["counts"], str)
    for counts in (rle["counts"], rle["counts"].encode(), runs_by_hand(mask)):
        decoded = decode_mask({"size": rle["size"], "counts": counts})
        assert decoded.dtype == bool
        assert decoded.flags.c_contiguous
        assert (decoded == mask).all()


@settings(deadline=None)
@given(MASKS)
def test_coding_is_that_of_pycocotools(mask):
    from pycocotools import mask as reference

    rle = reference.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert encode_mask(mask) == {"size": rle["size"], "counts": rle["counts"].decode()}


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999])
@pytest.mark.parametrize("side", [3, 40, 700])
def test_coding_is_that_of_pycocotools_on_long_runs(share, side):
    from pycocotools import mask as reference

    mask = np.random.default_rng(side).random((1100, side)) < share
    rle = reference.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert encode_mask(mask)["counts"] == rle["counts"].decode()
    assert (decode_mask(rle) == mask).all()


def test_memory_order_does_not_matter():
    mask = np.random.default_rng(0).random((30, 20)) < 0.5
    wide = np.zeros((30, 40), bool)
    wide[:, ::2] = mask
    assert encode_mask(np.asfortranarray(mask)) == encode_mask(mask) == encode_mask(wide[:, ::2])


def test_published_string():
    """COCO's own coding of [5, 3, 92] in 10x10, worked out by hand: 5 bits and '0' each."""
    mask = decode_mask({"size": [10, 10], "counts": [5, 3, 92]})
    assert np.argwhere(mask).tolist() == [[5, 0], [6, 0], [7, 0]]
    # 5 -> '5', 3 -> '3', 92 - 0 = 0b10_11100 -> 0b111100 + 48 = 'l', then 2 + 48 = '2'.
    assert encode_mask(mask)["counts"] == "53l2"


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2), np.uint8), np.zeros((0, 2), bool), np.zeros(3, bool)]
)
def test_only_masks_are_encoded(array):
    with pytest.raises(ValueError, match="a mask is bool"):
        encode_mask(array)


@pytest.mark.parametrize("counts", [[5, 3, 91], [5, 3, 93], [-1, 101], []])
def test_runs_that_do_not_fill_the_mask_are_refused(counts):
    with pytest.raises(ImageError, match="runs"):
        decode_mask({"size": [10, 10], "counts": counts})


@pytest.mark.parametrize("counts", ["", "`", "53l2`", "5 3", "oooooooooooo1", b"\xff53"])
def test_damaged_counts_are_refused(counts):
    with pytest.raises(ImageError, match="mask"):
        decode_mask({"size": [10, 10], "counts": counts})


def test_long_runs_and_long_differences():
    """Runs beyond 15 bits and falling runs use several characters and the sign bit."""
    mask = np.zeros((1000, 900), bool)
    mask[:, 500:502] = True
    mask[3, 700] = True
    rle = encode_mask(mask)
    assert (decode_mask(rle) == mask).all()
    assert (decode_mask({**rle, "counts": runs_by_hand(mask)}) == mask).all()


def square(low, high):
    return [low, low, high, low, high, high, low, high]


def test_polygon_follows_the_coco_rasteriser():
    mask = polygons_to_mask([square(10, 20)], 40, 40)
    expected = np.zeros((40, 40), bool)
    expected[10:20, 10:20] = True
    assert mask.sum() == 100
    assert (mask == expected).all()


def test_polygons_are_united_and_overlaps_count_once():
    mask = polygons_to_mask([square(10, 20), square(15, 25)], 40, 50)
    assert mask.shape == (40, 50)
    assert mask.sum() == 100 + 100 - 25
    assert not polygons_to_mask([], 4, 5).any()
    with pytest.raises(ValueError, match="three or more"):
        polygons_to_mask([[1, 1, 2, 2]], 4, 5)


SHAPE = np.zeros((8, 8), np.uint8)
SHAPE[2:5, 3:7] = 1
SHAPE[6, 1] = 1
PLTE = chunk(b"PLTE", bytes([0, 0, 0, 128, 0, 0]))
ENCODINGS = {
    "grey 0 and 255": png((8, 8), 8, GREY, SHAPE * 255),
    "grey 0 and 1": png((8, 8), 8, GREY, SHAPE),
    "1 bit": png((8, 8), 1, GREY, np.packbits(SHAPE, axis=1)),
    "palette": png((8, 8), 8, PALETTE, SHAPE, PLTE),
    "palette of 1 bit": png((8, 8), 1, PALETTE, np.packbits(SHAPE, axis=1), PLTE),
    "palette with a transparent background": png(
        (8, 8), 8, PALETTE, SHAPE, PLTE + chunk(b"tRNS", b"\0")
    ),
    "equal channels": png((8, 8), 8, RGB, np.repeat(SHAPE * 255, 3, axis=1)),
    "16 bits": png((8, 8), 16, GREY, [words(*(row * 40000)) for row in SHAPE.astype(int)]),
    "turned tag": png((8, 8), 8, GREY, SHAPE, chunk(b"eXIf", exif(6))),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_is_the_same_mask(name):
    mask = read_mask(ENCODINGS[name])
    assert mask.dtype == bool
    assert (mask == (SHAPE == 1)).all()


@pytest.mark.parametrize("level", [0, 1, 255])
def test_constant_mask_files(level):
    assert (read_mask(png((2, 2), 8, GREY, [[level] * 2] * 2)) == bool(level)).all()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (png((3, 1), 8, GREY, [[0, 1, 255]]), "one foreground level, this one has 2"),
        (saved(photograph()[:, :, 0], "PNG"), "two levels"),
        (png((2, 1), 8, RGB, [[0, 0, 0, 255, 0, 0]]), "colours"),
        (png((1, 1), 8, GREY_ALPHA, [[255, 0]]), "transparency"),
        (HTML, "web page"),
        (ENCODINGS["1 bit"][:-5], "truncated"),
    ],
)
def test_a_mask_file_is_never_guessed(data, message):
    with pytest.raises(ImageError, match=message):
        read_mask(data)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([[1.5, np.nan], [np.inf, -0.0]]),
        np.arange(12, dtype=np.uint16).reshape(2, 2, 3)[:, ::-1],
        np.array([[True, False]]),
        np.arange(4, dtype=">f8").reshape(2, 2),
        np.zeros((0, 3), np.float32),
    ],
)
def test_arrays_round_trip(array):
    stored = encode_array(array)
    back = decode_array(stored)
    assert back.dtype == array.dtype.newbyteorder("<")
    np.testing.assert_array_equal(back, array)
    assert stored == encode_array(np.asfortranarray(array))


def test_stored_arrays_are_little_endian_in_c_order():
    stored = encode_array(np.array([[1, 2], [3, 4]], ">u2", order="F"))
    assert stored == {"bytes": b"\1\0\2\0\3\0\4\0", "dtype": "uint16", "shape": [2, 2]}


def test_arrays_of_the_wrong_length_are_refused():
    with pytest.raises(ImageError, match="3 bytes"):
        decode_array({"bytes": b"abc", "dtype": "uint16", "shape": [2, 2]})
    with pytest.raises(ValueError, match="numbers"):
        encode_array(np.array(["a"]))
