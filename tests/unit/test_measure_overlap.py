"""Mask overlap: the empty rules, ignored pixels, two grids, against pycocotools."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from pycocotools import mask as coco

from gensight import images
from gensight.errors import GensightError
from gensight.measures import overlap
from gensight.records import Prediction, Sample


def box(height, width, top, left, bottom, right):
    mask = np.zeros((height, width), bool)
    mask[top:bottom, left:right] = True
    return mask


def sample_of(target, **masks):
    height, width = target.shape
    return Sample(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        image={"bytes": b"", "path": None},
        width=width,
        height=height,
        target_mask=images.encode_mask(target),
        **{name: images.encode_mask(mask) for name, mask in masks.items()},
    )


def prediction_of(mask):
    return Prediction(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        variant="otsu",
        status="ok",
        outcome="ok",
        mask=images.encode_mask(mask),
    )


def measured(predicted, target, settings=None, **masks):
    return overlap.measure(prediction_of(predicted), sample_of(target, **masks), settings or {})[
        None
    ]


NOTHING = np.zeros((20, 30), bool)
LEFT = box(20, 30, 0, 0, 20, 15)
TOP = box(20, 30, 0, 0, 10, 30)


@pytest.mark.parametrize(
    ("predicted", "target", "intersection", "union", "iou"),
    [
        (LEFT, LEFT, 300, 300, 1.0),
        (LEFT, TOP, 150, 450, 1 / 3),
        (LEFT, ~LEFT, 0, 600, 0.0),
        (NOTHING, LEFT, 0, 300, 0.0),
        (LEFT, NOTHING, 0, 300, 0.0),
        (NOTHING, NOTHING, 0, 0, 1.0),
    ],
)
def test_areas_and_empty_rules(predicted, target, intersection, union, iou):
    parts = measured(predicted, target)
    assert (parts["intersection"], parts["union"], parts["iou"]) == (intersection, union, iou)
    assert parts["area_target"] == target.sum()
    assert parts["area_predicted"] == predicted.sum()


@pytest.mark.parametrize(
    ("predicted", "target", "expected"),
    [(~LEFT, LEFT, 1.0), (LEFT, LEFT, 0.0), (LEFT, TOP, 1 / 3), (NOTHING, LEFT, 0.5)],
)
def test_inverted_masks_show_in_the_complement(predicted, target, expected):
    assert measured(predicted, target)["iou_complement"] == pytest.approx(expected)


def test_ignored_pixels_take_no_part():
    ignored = box(20, 30, 0, 0, 20, 5)
    parts = measured(LEFT, TOP, ignore_mask=ignored)
    assert (parts["intersection"], parts["union"]) == (100, 350)
    assert parts["iou_complement"] == pytest.approx(150 / 400)


def test_everything_ignored_is_no_ground_truth():
    sample = sample_of(LEFT, ignore_mask=~NOTHING)
    assert overlap.measure(prediction_of(LEFT), sample, {}) is None
    assert overlap.failed(sample, {}) is None


def test_no_target_is_no_ground_truth():
    columns = {"sample_id": "s", "rank": 0, "cluster_id": "c", "image": {}, "width": 4, "height": 4}
    assert overlap.measure(prediction_of(LEFT), Sample(**columns), {}) is None
    assert overlap.failed(Sample(**columns), {}) is None


def test_query_twin():
    parts = measured(LEFT, LEFT, twin_mask=TOP)
    assert parts["iou"] - parts["iou_twin"] == pytest.approx(2 / 3)
    assert "iou_twin" not in measured(LEFT, LEFT)


def test_returned_size_is_brought_to_the_target():
    large = np.kron(TOP, np.ones((3, 2), bool))
    assert measured(large, TOP)["iou"] == 1.0


def test_both_grids_are_kept():
    at_target = measured(LEFT, TOP, {"long_side_px": 60})
    at_work = measured(LEFT, TOP, {"long_side_px": 60, "eval_at": "work"})
    assert (at_target["intersection"], at_target["intersection_work"]) == (150, 600)
    assert (at_work["intersection"], at_work["intersection_target"]) == (600, 150)
    assert (at_work["union"], at_work["union_target"]) == (1800, 450)
    assert at_work["area_target"] == 4 * at_target["area_target"]


def test_work_grid_is_reached_straight_from_the_returned_size():
    # One column of 60: by way of the target's 30 columns it would come back two columns wide.
    fine = np.zeros((40, 60), bool)
    fine[:, 31] = True
    parts = measured(fine, NOTHING, {"long_side_px": 60})
    assert parts["union_work"] == 40


@pytest.mark.parametrize("target", [LEFT, NOTHING])
@pytest.mark.parametrize("eval_at", ["target", "work"])
def test_failed_answer(target, eval_at):
    settings = {"long_side_px": 60, "eval_at": eval_at}
    parts = overlap.failed(sample_of(target, twin_mask=TOP), settings)[None]
    assert (parts["iou"], parts["iou_twin"], parts["intersection"]) == (0.0, 0.0, 0.0)
    scale = {"target": 1, "work": 4}
    other = {"target": "work", "work": "target"}[eval_at]
    assert parts["union"] == scale[eval_at] * target.sum()
    assert parts[f"union_{other}"] == scale[other] * target.sum()
    assert "area_predicted" not in parts


def test_failed_answer_leaves_ignored_pixels_out():
    ignored = box(20, 30, 0, 0, 20, 5)
    assert overlap.failed(sample_of(LEFT, ignore_mask=ignored), {})[None]["union"] == 200


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"eval_at": "input"}, "target, work"), ({"failure": "exclude"}, "zero")],
)
def test_unknown_settings_name_the_allowed_values(settings, message):
    with pytest.raises(GensightError, match=message):
        overlap.failed(sample_of(LEFT), settings)


def test_masks_of_two_shapes_are_refused():
    with pytest.raises(ValueError, match="differ in shape"):
        overlap.areas(LEFT, LEFT.T)


masks = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).random((2, 9, 13)) < [[[0.3]], [[0.6]]]
)


@given(masks)
@run(deadline=None)
def test_iou_agrees_with_pycocotools_and_is_symmetric(pair):
    first, second = pair
    counted = overlap.areas(first, second)
    encoded = [coco.encode(np.asfortranarray(mask.astype(np.uint8))) for mask in pair]
    assert counted.iou == pytest.approx(coco.iou(encoded[:1], encoded[1:], [False])[0, 0])
    assert counted.iou == overlap.areas(second, first).iou
    assert 0 <= counted.iou <= 1
    assert counted.inverted == overlap.areas(~first, second)
