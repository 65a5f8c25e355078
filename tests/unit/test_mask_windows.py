"""Masks kept as the box around their foreground, against loops over every pixel."""

from __future__ import annotations

from itertools import product
from math import lcm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.errors import ImageError
from gensight.images import decode_window, encode_mask, resize_mask, resize_window

SIDES = st.integers(1, 12)


@st.composite
def masks(draw, height=SIDES, width=SIDES):
    """Draw a box somewhere in an empty mask, filled, speckled or empty."""
    mask = np.zeros((draw(height), draw(width)), bool)
    rows, columns = (sorted(draw(st.tuples(*[st.integers(0, side)] * 2))) for side in mask.shape)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    speckled = random.random(mask.shape) < draw(st.sampled_from([0.1, 0.5, 1]))
    mask[slice(*rows), slice(*columns)] = speckled[slice(*rows), slice(*columns)]
    return mask


def window_of(mask):
    return decode_window(encode_mask(mask))


def foreground(mask):
    """Return the places (row, column) of the foreground."""
    return [place for place in product(*map(range, mask.shape)) if mask[place]]


def covered(mask, width, height):
    """Return the share of each target pixel that is foreground, by counting.

    The cells are those that both grids are made of.
    """
    fine = [lcm(*sides) for sides in zip(mask.shape, (height, width), strict=True)]
    copies = [side // own for side, own in zip(fine, mask.shape, strict=True)]
    cells = np.kron(mask, np.ones(copies, np.int64))
    blocks = cells.reshape(height, fine[0] // height, width, fine[1] // width)
    return blocks.mean((1, 3))


@settings(deadline=None)
@given(masks())
def test_a_window_is_the_least_box_of_the_foreground(mask):
    window, places = window_of(mask), foreground(mask)
    assert (window.height, window.width) == mask.shape
    assert window.area == len(places)
    assert window.pixels.dtype == bool
    assert (window.whole() == mask).all()
    if not places:
        assert window.pixels.size == 0
        return
    rows, columns = zip(*places, strict=True)
    assert (window.top, window.left) == (min(rows), min(columns))
    assert window.pixels.shape == (max(rows) - min(rows) + 1, max(columns) - min(columns) + 1)


@pytest.mark.parametrize(
    ("counts", "places"),
    [
        ([12], []),
        ([0, 12], list(product(range(3), range(4)))),
        ([12, 0], []),
        ([5, 0, 7], []),
        ([6, 0, 6], []),
        ([0, 0, 12], []),
        ([3, 0, 1, 1, 7, 0, 0], [(1, 1)]),
        ([11, 1], [(2, 3)]),
        ([0, 1, 11], [(0, 0)]),
        ([2, 2, 8], [(0, 1), (2, 0)]),
    ],
)
def test_runs_of_nothing_and_at_the_borders(counts, places):
    assert foreground(decode_window({"size": [3, 4], "counts": counts}).whole()) == places


@pytest.mark.parametrize("counts", [[5, 3, 3], [5, 3, 5], [-1, 13], []])
def test_runs_that_do_not_fill_the_mask_are_refused(counts):
    with pytest.raises(ImageError, match="the runs of a mask sum to"):
        decode_window({"size": [3, 4], "counts": counts})


@settings(deadline=None)
@given(SIDES, SIDES, st.data())
def test_shared_pixels_are_those_in_both(height, width, data):
    pair = [data.draw(masks(st.just(height), st.just(width))) for _ in range(2)]
    first, second = map(window_of, pair)
    both = set(foreground(pair[0])) & set(foreground(pair[1]))
    assert first.shared(second) == second.shared(first) == len(both)


def test_boxes_that_do_not_meet_share_nothing():
    mask = np.zeros((6, 9), bool)
    mask[1:3, 2:4] = True
    for turned in (mask[::-1], mask[:, ::-1], mask[::-1, ::-1]):
        assert window_of(mask).shared(window_of(turned)) == 0


def test_masks_of_two_sizes_share_nothing_that_could_be_counted():
    with pytest.raises(ValueError, match="differ in shape"):
        window_of(np.ones((3, 4), bool)).shared(window_of(np.ones((4, 3), bool)))


@settings(deadline=None)
@given(masks(), SIDES, SIDES)
def test_resizing_is_the_area_majority(mask, width, height):
    resized = resize_window(window_of(mask), width, height)
    assert (resized.width, resized.height) == (width, height)
    share = covered(mask, width, height)
    # Weights of 11 bits, and rounding between the two sides where one shrinks and the other grows,
    # leave pixels within half a percent of one half undecided.
    decided = np.abs(share - 0.5) > 0.005
    assert ((resized.whole() == (share >= 0.5)) | ~decided).all()
    assert (resized.whole() == resize_mask(mask, width, height)).all()


def test_a_right_size_is_returned_as_it_is():
    window = window_of(np.eye(3, 4, dtype=bool))
    assert resize_window(window, 4, 3) is window
