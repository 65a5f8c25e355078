"""Masks compared with their targets: the best move against a search by hand, and the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from gensight import failures
from gensight.failures.placement import best_placement


def disc(height=96, width=128, row=48, column=64, radius=16):
    rows, columns = np.mgrid[:height, :width]
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def iou(one, other):
    union = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / union if union else 1.0


def moved(mask, down, right):
    """Return a mask moved by whole pixels; what leaves the picture is lost."""
    height, width = mask.shape
    result = np.zeros_like(mask)
    rows, columns = np.nonzero(mask)
    rows, columns = rows + down, columns + right
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    result[rows[inside], columns[inside]] = True
    return result


def best_by_hand(mask, target, ignored, reach):
    """Return the best IoU over all shifts, counted pixel by pixel."""
    found = 0.0
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            shifted = moved(mask, down, right) & ~ignored
            found = max(found, iou(shifted, target & ~ignored))
    return found


masks = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).random((3, 20, 30)) > 0.6
)


@given(masks)
@run(max_examples=8, deadline=None)
def test_best_shift_is_that_of_a_search(three):
    mask, target, ignored = three
    ignored &= np.random.default_rng(0).random(ignored.shape) > 0.5
    placed = best_placement(mask, target, ignored)
    by_hand = best_by_hand(mask, target, ignored, reach=3)
    assert placed.unmoved_iou == pytest.approx(iou(mask & ~ignored, target & ~ignored))
    # Another scale may fit better still.
    assert placed.iou >= by_hand - 1e-12
    if placed.scale == 1:
        assert placed.iou == pytest.approx(by_hand)


@pytest.mark.parametrize(("down", "right"), [(0, 9), (-6, 4), (8, -10), (0, 0)])
def test_a_shift_is_found_and_told_as_the_way_back(down, right):
    target = disc()
    placed = best_placement(moved(target, down, right), target)
    assert placed.iou == 1
    assert (placed.shift_x * 128, placed.shift_y * 128) == pytest.approx((-right, -down))


@pytest.mark.parametrize("radius", [18, 20])
def test_a_scale_is_found(radius):
    placed = best_placement(disc(radius=radius), disc(radius=19))
    larger = best_placement(disc(radius=21), disc(radius=19))
    assert placed.iou > 0.85
    assert larger.scale == 0.9
    assert larger.iou > larger.unmoved_iou + 0.1


def test_large_pictures_are_compared_on_a_small_grid():
    target = disc(960, 1280, 480, 640, 160)
    placed = best_placement(moved(target, 0, 100), target)
    assert placed.iou > 0.97
    assert placed.shift_x == pytest.approx(-100 / 1280, abs=2 / 384)


@pytest.mark.parametrize(
    ("predicted", "target", "expected"),
    [
        (np.zeros((9, 9), bool), np.zeros((9, 9), bool), 1.0),
        (np.zeros((9, 9), bool), np.ones((9, 9), bool), 0.0),
        (np.ones((9, 9), bool), np.zeros((9, 9), bool), 0.0),
        (np.ones((1, 1), bool), np.ones((1, 1), bool), 1.0),
    ],
)
def test_empty_and_tiny_masks(predicted, target, expected):
    assert best_placement(predicted, target).iou == expected


TARGET, OTHER, NOTHING = disc(column=40), disc(column=100), np.zeros((96, 128), bool)


@pytest.mark.parametrize(
    ("predicted", "target", "expected"),
    [
        (TARGET, TARGET, "ok"),
        (disc(column=43), TARGET, "ok"),  # IoU 0.79
        (moved(TARGET, 0, 12), TARGET, "drift"),
        (moved(TARGET, 9, 0), TARGET, "drift"),  # IoU 0.48
        (moved(TARGET, 0, 12)[::-1, ::-1], TARGET, "missed"),
        (~TARGET, TARGET, "inverted"),
        (OTHER, TARGET, "wrong_object"),
        (disc(column=101, radius=13), TARGET, "wrong_object"),  # IoU with the other: 0.66
        (disc(column=110, row=20), TARGET, "missed"),
        (NOTHING, TARGET, "missed"),
        (disc(column=40, radius=26), TARGET, "imprecise"),  # IoU 0.38, too large for a scale
        (TARGET, NOTHING, "spurious"),
        (NOTHING, NOTHING, "ok"),
    ],
)
def test_classes(predicted, target, expected):
    verdict = failures.truth(predicted, target, [OTHER])
    assert (verdict.failure_class, verdict.detail) == (expected, None)
    assert verdict.features["iou"] == pytest.approx(iou(predicted, target))


def test_a_slip_is_drift_only_where_the_iou_has_suffered():
    slipped = failures.truth(moved(TARGET, 0, 5), TARGET)
    assert slipped.features["iou"] < 0.7
    assert slipped.failure_class == "drift"
    near = failures.truth(moved(TARGET, 0, 3), TARGET)
    assert near.features["iou"] > 0.7
    assert near.failure_class == "ok"
    assert "iou_aligned" not in near.features


def test_ignored_pixels_hide_what_lies_there():
    ignored = disc(column=100, radius=20)
    assert failures.truth(TARGET | OTHER, TARGET).failure_class == "imprecise"
    assert failures.truth(TARGET | OTHER, TARGET, ignored=ignored).failure_class == "ok"


def test_without_other_instances_nothing_is_said_of_them():
    verdict = failures.truth(OTHER, TARGET)
    assert verdict.failure_class == "missed"
    assert "iou_other" not in verdict.features
