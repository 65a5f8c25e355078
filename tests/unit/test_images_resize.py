"""Resampling keeps centres: against exact box averages, mirrors, centroids and round trips."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from images_by_hand import photograph

from gensight.images import (
    fit_long_side,
    move_points,
    resize_depth,
    resize_labels,
    resize_mask,
    resize_picture,
)

# Upscaling, downscaling, by whole and broken factors, and one side of each.
SIZES = [
    ((64, 48), (40, 30)),
    ((64, 48), (103, 77)),
    ((63, 47), (21, 61)),
    ((50, 37), (100, 74)),
    ((64, 48), (32, 24)),
    ((41, 31), (40, 30)),
    ((100, 7), (3, 20)),
]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((640, 480), (1024, 768)),
        ((1242, 375), (1024, 309)),
        ((2048, 2), (1024, 1)),
        ((5000, 1), (1024, 1)),
        ((3, 2), (1024, 683)),
        ((427, 640), (683, 1024)),
        ((1024, 1024), (1024, 1024)),
        # 2048 x 1025 halves to 512.5: rounded up, whatever the parity.
        ((2048, 1025), (1024, 513)),
        ((2048, 1027), (1024, 514)),
    ],
)
def test_fit_long_side(size, expected):
    assert fit_long_side(*size) == expected


def overlap(source, target):
    """Return the overlap of each target pixel with each source pixel, in whole 1/target units."""
    weights = np.zeros((target, source), np.int64)
    for row in range(target):
        for column in range(source):
            start = max(row * source, column * target)
            end = min((row + 1) * source, (column + 1) * target)
            weights[row, column] = max(0, end - start)
    return weights


@pytest.mark.parametrize(("source", "target"), SIZES)
def test_mask_is_the_exact_area_majority(source, target):
    (width, height), (new_width, new_height) = source, target
    rng = np.random.default_rng(0)
    differing = 0
    for share in (0.2, 0.5, 0.8):
        mask = rng.random((height, width)) < share
        sums = overlap(height, new_height) @ mask.astype(np.int64) @ overlap(width, new_width).T
        covered = sums / (height * width)
        # Weights of 11 bits leave pixels within half a percent of one half undecided.
        decided = (np.abs(covered - 0.5) > 0.005) | (2 * sums == height * width)
        result = resize_mask(mask, new_width, new_height)
        differing += (result != (covered >= 0.5))[decided].sum()
    assert differing == 0


@pytest.mark.parametrize(("source", "target"), [*SIZES, ((640, 480), (1024, 768))])
def test_small_masks_are_resized_like_whole_ones(source, target):
    """Only the surroundings of the foreground are computed: nothing may depend on that."""
    (width, height), rng = source, np.random.default_rng(7)
    for _ in range(20):
        mask = np.zeros((height, width), bool)
        x, y = rng.integers(0, width), rng.integers(0, height)
        mask[y : y + rng.integers(1, 20), x : x + rng.integers(1, 20)] = True
        mask &= rng.random(mask.shape) < 0.8
        framed = mask.copy()
        framed[[0, 0, -1, -1], [0, -1, 0, -1]] = True
        # The corners force the whole picture; pixels that they do not touch must agree.
        difference = resize_mask(framed, *target) ^ resize_mask(mask, *target)
        reach = -(-target[1] // height), -(-target[0] // width)
        difference[: reach[0], : reach[1]] = difference[: reach[0], -reach[1] :] = False
        difference[-reach[0] :, : reach[1]] = difference[-reach[0] :, -reach[1] :] = False
        assert not difference.any()


@pytest.mark.parametrize(("source", "target"), SIZES)
@pytest.mark.parametrize("axis", [0, 1])
def test_mask_resizing_commutes_with_mirrors(source, target, axis):
    rng = np.random.default_rng(1)
    for _ in range(20):
        mask = rng.random(source[::-1]) < 0.5
        mirrored = np.flip(resize_mask(np.flip(mask, axis), *target), axis)
        assert (mirrored == resize_mask(mask, *target)).all()


@pytest.mark.parametrize("width", [401, 641, 1024, 1203, 1923])
def test_the_edges_of_a_thin_bar_stay_symmetric(width):
    bar = np.zeros((5, 641), bool)
    bar[:, 320] = True
    resized = resize_mask(bar, width, 5)
    assert (resized == resized[:, ::-1]).all()
    if width >= 641:
        assert resized[0].sum() == pytest.approx(width / 641, abs=1)


@pytest.mark.parametrize("factor", [2, 3, 5])
def test_whole_number_enlargement_copies_and_comes_back(factor):
    mask = np.random.default_rng(2).random((20, 30)) < 0.5
    enlarged = resize_mask(mask, 30 * factor, 20 * factor)
    assert (enlarged == np.kron(mask, np.ones((factor, factor), bool))).all()
    assert (resize_mask(enlarged, 30, 20) == mask).all()


@pytest.mark.parametrize("value", [False, True])
def test_empty_and_full_masks_stay(value):
    assert (resize_mask(np.full((48, 64), value), 101, 33) == value).all()


def test_a_right_size_is_returned_as_it_is():
    mask, picture = np.ones((3, 4), bool), photograph()
    assert resize_mask(mask, 4, 3) is mask
    assert resize_picture(picture, 64, 48) is picture


def blob(rng, width, height, share):
    """Return an ellipse, a turned rectangle or a ragged blob of about this share of the picture."""
    rows, columns = np.mgrid[:height, :width]
    radius = np.sqrt(share * width * height / np.pi)
    stretch, turn = np.sqrt(rng.uniform(0.6, 1.7)), rng.uniform(0, np.pi)
    across = columns - rng.uniform(0.35, 0.65) * width
    down = rows - rng.uniform(0.35, 0.65) * height
    along = (across * np.cos(turn) + down * np.sin(turn)) / stretch
    beside = (down * np.cos(turn) - across * np.sin(turn)) * stretch
    kind = rng.integers(3)
    if kind == 0:
        return along**2 + beside**2 <= radius**2
    if kind == 1:
        return np.maximum(np.abs(along), np.abs(beside)) <= 0.886 * radius
    ragged = cv2.GaussianBlur(rng.standard_normal((height, width)), (0, 0), radius / 3)
    return (ragged > 0) & (np.hypot(along, beside) < 1.6 * radius)


@pytest.mark.parametrize(
    ("size", "work"),
    [((640, 480), (1024, 768)), ((500, 375), (1024, 768)), ((333, 500), (682, 1024))],
)
def test_round_trip_over_the_work_size(size, work):
    """PROTOCOLS "Decided": IoU >= .98 for masks of at least 1 % of the picture, mean >= .99."""
    rng = np.random.default_rng(4)
    masks = [blob(rng, *size, share) for share in (0.012, 0.05, 0.2) for _ in range(5)]
    back = [resize_mask(resize_mask(mask, *work), *size) for mask in masks]
    overlaps = [(a & b).sum() / (a | b).sum() for a, b in zip(masks, back, strict=True)]
    assert min(mask.mean() for mask in masks) >= 0.008
    assert min(overlaps) >= 0.98
    assert np.mean(overlaps) >= 0.99


def centroid(mask):
    """Return the (x, y) centre of mass on the continuous extent of the picture."""
    rows, columns = np.nonzero(mask)
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5])


def centroid_shifts(radius, size, target, count=20):
    """Return how far disc centroids move, in pixels of the original, over random places."""
    rng, (width, height) = np.random.default_rng(radius), size
    rows, columns = np.mgrid[:height, :width]
    scale = np.array(target) / size
    shifts = []
    for _ in range(count):
        place = rng.uniform(radius + 1, np.array(size) - radius - 1)
        disc = np.hypot(columns - place[0], rows - place[1]) <= radius
        shifts.append(centroid(resize_mask(disc, *target)) / scale - centroid(disc))
    return np.array(shifts)


@pytest.mark.parametrize(
    ("size", "target"),
    [
        ((640, 480), (1024, 768)),
        ((640, 480), (320, 240)),
        ((500, 375), (1024, 768)),
        ((640, 480), (500, 375)),
    ],
)
def test_centroids_stay(size, target):
    """No mask of a few per cent moves by 0.1 px x scale, and small ones have no common drift."""
    assert np.abs(centroid_shifts(120, size, target, 8)).max() < 0.1
    assert np.abs(centroid_shifts(8, size, target, 40).mean(0)).max() < 0.1


def test_banned_nearest_would_fail_the_centroid_rule():
    """The rule has teeth: the banned filter moves every disc by a quarter pixel when halving."""
    rows, columns = np.mgrid[:480, :640]
    disc = (np.hypot(columns - 301.3, rows - 250.8) <= 80).astype(np.uint8)
    halved = cv2.resize(disc, (320, 240), interpolation=cv2.INTER_NEAREST)
    assert np.abs(2 * centroid(halved) - centroid(disc)).max() > 0.2


def test_picture_ramps_keep_their_place():
    """A linear ramp, sampled between pixel centres, stays the same ramp away from the border."""
    ramp = np.tile(np.arange(0, 256, 2, dtype=np.uint8), (16, 1))
    for width in (64, 200, 256):
        centres = (np.arange(width) + 0.5) * 128 / width - 0.5
        result = resize_picture(ramp, width, 16)[8].astype(float)
        inner = slice(width // 16, -width // 16)
        assert np.abs(result - 2 * centres)[inner].max() <= 1


def test_picture_enlargement_is_clipped():
    edge = np.zeros((8, 8), np.uint8)
    edge[:, 4:] = 255
    enlarged = resize_picture(edge, 32, 8)
    assert enlarged[0, 0] == 0
    assert enlarged[0, -1] == 255


def test_one_side_may_shrink_while_the_other_grows():
    stripes = np.zeros((8, 64), np.uint8)
    stripes[:, ::2] = 200
    # Eight columns average to 100 before anything is enlarged: no stripe survives as an alias.
    assert (resize_picture(stripes, 8, 32) == 100).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_labels_are_those_at_pixel_centres(dtype):
    labels = (np.arange(12) * 1000 % 251).astype(dtype).reshape(3, 4)
    enlarged = resize_labels(labels, 8, 9)
    assert (enlarged == np.kron(labels, np.ones((3, 2), dtype))).all()
    assert enlarged.dtype == dtype
    assert (resize_labels(enlarged, 4, 3) == labels).all()
    assert resize_labels(labels, 4, 3) is labels


def test_labels_agree_with_the_centre_aligned_filter_of_opencv():
    labels = np.random.default_rng(5).integers(0, 255, (37, 53)).astype(np.uint8)
    for width, height in ((97, 61), (41, 23), (53, 80)):
        expected = cv2.resize(labels, (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
        assert (resize_labels(labels, width, height) == expected).all()


def test_depth_ramps_keep_their_place():
    ramp = np.tile(np.linspace(1, 10, 64), (48, 1))
    slope = 9 / 63
    for width in (32, 100, 640):
        centres = (np.arange(width) + 0.5) * 64 / width - 0.5
        result = resize_depth(ramp, width, 48)[20]
        inner = slice(width // 16, -width // 16)
        assert np.abs(result - (1 + slope * centres))[inner].max() < 1e-9
    assert resize_depth(ramp, 64, 48) is ramp


@pytest.mark.parametrize(
    ("point", "size", "new_size", "expected"),
    [
        ((0, 0), (4, 4), (8, 8), (0.5, 0.5)),
        ((3, 1), (4, 2), (8, 8), (6.5, 5.5)),
        ((-0.5, 3.5), (4, 4), (10, 7), (-0.5, 6.5)),
        ((7, 2), (16, 16), (8, 4), (3.25, 0.125)),
        ((2, 3), (5, 7), (5, 7), (2, 3)),
    ],
)
def test_points_move_with_the_picture(point, size, new_size, expected):
    """Pixel centres are whole numbers, so the outer edges -1/2 and size - 1/2 stay edges."""
    moved = move_points(np.array([point], np.float64), size, new_size)
    assert moved.tolist() == [list(expected)]
    assert move_points(np.zeros((0, 2)), size, new_size).shape == (0, 2)
