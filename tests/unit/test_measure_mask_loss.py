"""Where the IoU of a mask is lost: thresholds and moves by hand, sums that add up."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from spine_rows import prediction, sample

from gensight import images, metrics
from gensight.errors import RecordError
from gensight.extractors import Answer, depth, mask
from gensight.measures import mask_loss, overlap

LOSSES = ("lost_threshold", "lost_alignment", "lost_semantic", "lost_failed")


def disc(column, row=48, radius=18):
    rows, columns = np.mgrid[:96, :128]
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def sample_of(target, **masks):
    height, width = target.shape
    encoded = {name: images.encode_mask(each) for name, each in masks.items()}
    return sample(0, width=width, height=height, target_mask=images.encode_mask(target), **encoded)


def prediction_of(grey):
    return prediction(0, variant="grey", grey={"bytes": images.encode_png(grey), "path": None})


def measured(grey, target, **masks):
    return mask_loss.measure(prediction_of(grey), sample_of(target, **masks), {})[None]


def painted(mask, white=255, black=0):
    return np.where(mask, white, black).astype(np.uint8)


def check_sum(parts):
    assert math.fsum(parts[name] for name in LOSSES) == pytest.approx(1 - parts["raw_iou"])
    assert all(parts[name] >= 0 for name in LOSSES)


def test_examples_hold():
    assert doctest.testmod(mask_loss).failed == 0


def test_a_perfect_mask_loses_nothing():
    parts = measured(painted(disc(50)), disc(50))
    assert parts["raw_iou"] == parts["best_threshold_iou"] == parts["best_aligned_iou"] == 1
    check_sum(parts)


def test_a_threshold_is_lost_where_otsu_cuts_elsewhere():
    # The target is light grey in a scene whose other half is white: Otsu takes both.
    grey = painted(disc(40), white=90)
    grey[:, 70:] = 255
    target = np.zeros((96, 128), bool)
    target[:, 70:] = True
    grey[60:, :30] = 180
    parts = measured(grey, target)
    assert parts["raw_iou"] < 0.9
    assert parts["best_threshold_iou"] == 1
    assert 180 <= parts["best_threshold"] < 255
    assert parts["lost_alignment"] == parts["lost_semantic"] == 0
    check_sum(parts)


def test_a_place_is_lost_where_the_mask_lies_beside_its_target():
    parts = measured(painted(disc(55)), disc(45))
    both = np.count_nonzero(disc(55) & disc(45))
    union = np.count_nonzero(disc(55) | disc(45))
    assert parts["raw_iou"] == pytest.approx(both / union)
    assert parts["lost_threshold"] == 0
    assert parts["best_aligned_iou"] == pytest.approx(1)
    check_sum(parts)


def test_meaning_is_lost_where_something_else_is_painted():
    parts = measured(painted(disc(100)), disc(30))
    assert parts["lost_threshold"] == pytest.approx(parts["best_threshold_iou"])
    assert parts["lost_semantic"] > 0.8
    check_sum(parts)


def test_raw_iou_is_that_of_the_overlap_measure():
    """The same picture through the extractors and measures of the pipeline."""
    rng = np.random.default_rng(0)
    soft = painted(disc(60)).astype(float) * 0.6 + rng.normal(60, 20, (96, 128))
    large = images.resize_picture(soft.clip(0, 255).astype(np.uint8), 300, 211)
    answer = Answer(image=images.encode_png(large), source_width=128, source_height=96)
    (as_mask,), (as_grey,) = mask.extract(answer, {}), depth.extract(answer, {})
    asked = sample_of(disc(52))
    expected = overlap.measure(prediction(0, **as_mask.fields), asked, {})[None]["iou"]
    parts = mask_loss.measure(prediction(0, **as_grey.fields), asked, {})[None]
    assert parts["raw_iou"] == expected
    check_sum(parts)


greys = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 256, (2, 12, 9)).astype(np.uint8)
)


@given(greys)
@run(max_examples=15, deadline=None)
def test_best_threshold_is_that_of_a_search(pair):
    grey, other = pair
    target, ignored = other > 180, other % 5 == 0
    level, iou = mask_loss.best_threshold(grey, target, ignored)
    ious = [overlap.areas(grey > t, target, ignored).iou for t in range(256)]
    assert iou == pytest.approx(max(ious))
    assert level == int(np.argmax(ious))


@given(greys)
@run(max_examples=10, deadline=None)
def test_losses_add_up(pair):
    check_sum(measured(pair[0], pair[1] > 128))


def test_nothing_asked_and_nothing_but_noise_painted():
    nothing = np.zeros((96, 128), bool)
    parts = measured(painted(disc(50)), nothing)
    # The highest threshold leaves nothing, which is right here.
    assert (parts["raw_iou"], parts["best_threshold_iou"]) == (0, 1)
    check_sum(parts)


def test_sixteen_bits():
    grey = painted(disc(50)).astype(np.uint16) * 257
    assert measured(grey, disc(50))["raw_iou"] == 1


def test_ignored_pixels_take_no_part():
    parts = measured(painted(disc(30) | disc(100)), disc(30), ignore_mask=disc(100, radius=20))
    assert parts["raw_iou"] == 1


def test_no_target_is_no_ground_truth():
    everything = np.ones((96, 128), bool)
    for asked in (sample(0), sample_of(disc(30), ignore_mask=everything)):
        assert mask_loss.measure(prediction_of(painted(disc(30))), asked, {}) is None
        assert mask_loss.failed(asked, {}) is None


def test_a_failed_answer_loses_all_at_its_own_step():
    parts = mask_loss.failed(sample_of(disc(30)), {})[None]
    assert parts["raw_iou"] == 0
    assert parts["lost_failed"] == 1
    check_sum(parts)


def test_a_prediction_without_a_grey_picture_names_the_extractor():
    with pytest.raises(RecordError, match="extractor 'depth'"):
        mask_loss.measure(prediction(0), sample_of(disc(30)), {})


def test_metrics_are_points_of_iou_that_add_up():
    rows = [measured(painted(disc(55)), disc(45)), mask_loss.failed(sample_of(disc(30)), {})[None]]
    parts = {name: [row.get(name, math.nan) for row in rows] for name in rows[0]}
    losses = [
        metrics.load(f"loss_{step}").aggregate(parts)
        for step in ("threshold", "alignment", "semantic", "failed")
    ]
    mean_iou = 100 * (rows[0]["raw_iou"] + 0) / 2
    assert math.fsum(losses) == pytest.approx(100 - mean_iou)
    assert losses[3] == 50
