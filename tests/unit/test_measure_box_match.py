"""Box matching against COCO's own evaluation, brute force, and values worked out by hand."""

from __future__ import annotations

import contextlib
import io
from itertools import permutations

import numpy as np
import pytest

from gensight import metrics
from gensight.errors import GensightError, RecordError
from gensight.measures import box_match
from gensight.records import Prediction, Sample

WIDTH, HEIGHT = 640, 480
EDGES = ("left", "top", "right", "bottom", "score")


def boxes(rows, scores=None):
    scores = [1.0] * len(rows) if scores is None else scores
    return [
        dict(zip(EDGES, (*map(float, row), float(score)), strict=True))
        for row, score in zip(rows, scores, strict=True)
    ]


def sample_of(rows):
    return Sample(
        sample_id="s",
        rank=0,
        cluster_id="c",
        image={},
        width=WIDTH,
        height=HEIGHT,
        target_boxes=None if rows is None else boxes(rows),
    )


def prediction_of(rows, scores=None, size=(WIDTH, HEIGHT)):
    return Prediction(
        sample_id="s",
        rank=0,
        cluster_id="c",
        variant="drawn",
        status="ok",
        outcome="ok",
        work_width=size[0],
        work_height=size[1],
        boxes=boxes(rows, scores),
    )


def measured(predicted, true, scores=None, **settings):
    return box_match.measure(prediction_of(predicted, scores), sample_of(true), settings)[None]


A, B, C = (10, 10, 110, 110), (200, 50, 300, 150), (400, 300, 500, 400)


def test_perfect_boxes():
    parts = measured([A, B, C], [C, A, B])
    assert parts == {
        "average_precision": pytest.approx(1),
        "box_iou": 1,
        "matched": 3,
        "false_boxes": 0,
        "missed": 0,
    }


def test_half_overlap_is_a_match_and_less_is_none():
    # 100 x 100 against 100 x 50 of it: IoU exactly one half.
    half, less = (10, 10, 110, 60), (10, 10, 110, 59)
    assert measured([half], [A])["matched"] == 1
    assert measured([less], [A])["matched"] == 0
    assert measured([less], [A], iou_threshold=0.4)["matched"] == 1
    assert measured([less], [A])["box_iou"] == pytest.approx(0.49)


def test_average_precision_by_hand():
    """True, false, true, of three true: precision 1 up to recall 1/3, 2/3 up to 2/3, then 0."""
    parts = measured([A, (550, 10, 600, 60), B], [A, B, C], scores=[0.9, 0.8, 0.7])
    # Recalls 0.00 .. 0.33 (34 levels) at 1, 0.34 .. 0.66 (33 levels) at 2/3.
    assert parts["average_precision"] == pytest.approx((34 + 33 * 2 / 3) / 101)
    assert (parts["matched"], parts["false_boxes"], parts["missed"]) == (2, 1, 1)
    assert parts["box_iou"] == pytest.approx(2 / 3)


def test_a_second_box_on_the_same_thing_is_false():
    parts = measured([A, (11, 10, 111, 110)], [A])
    assert (parts["matched"], parts["false_boxes"]) == (1, 1)
    assert parts["average_precision"] == pytest.approx(1)
    first_wrong = measured([(11, 60, 111, 160), A], [A], scores=[0.9, 0.8])
    assert first_wrong["average_precision"] == pytest.approx(0.5)


def by_coco(predicted, scores, true):
    """Return AP at IoU 0.5 of one picture by pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def xywh(row):
        left, top, right, bottom = map(float, row)
        return [left, top, right - left, bottom - top]

    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": 1, "width": WIDTH, "height": HEIGHT}],
            "categories": [{"id": 1, "name": "thing"}],
            "annotations": [
                {
                    "id": index,
                    "image_id": 1,
                    "category_id": 1,
                    "iscrowd": 0,
                    "bbox": xywh(row),
                    "area": xywh(row)[2] * xywh(row)[3],
                }
                for index, row in enumerate(true, 1)
            ],
        }
        truth.createIndex()
        found = truth.loadRes(
            [
                {"image_id": 1, "category_id": 1, "bbox": xywh(row), "score": float(score)}
                for row, score in zip(predicted, scores, strict=True)
            ]
        )
        evaluation = COCOeval(truth, found, "bbox")
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.params.maxDets = [1000]
        evaluation.params.areaRng = [[0, 1e10]]
        evaluation.params.areaRngLbl = ["all"]
        evaluation.evaluate()
        evaluation.accumulate()
    return float(evaluation.eval["precision"][0, :, 0, 0, 0].mean())


def random_boxes(rng, count):
    corners = rng.integers(0, 300, (count, 2))
    return np.hstack([corners, corners + rng.integers(40, 160, (count, 2))])


def jittered(rng, true, extra):
    moved = true + rng.integers(-25, 26, true.shape)
    rows = np.vstack([moved, random_boxes(rng, extra)])
    return rows[rng.permutation(len(rows))]


@pytest.mark.parametrize("seed", range(25))
def test_average_precision_is_coco_s(seed):
    rng = np.random.default_rng(seed)
    true = random_boxes(rng, int(rng.integers(1, 12)))
    predicted = jittered(rng, true, int(rng.integers(0, 8)))
    scores = rng.permutation(len(predicted)) / 7 if seed % 2 else rng.integers(0, 3, len(predicted))
    parts = measured(predicted, true, scores)
    assert parts["average_precision"] == pytest.approx(by_coco(predicted, scores, true), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_box_iou_is_that_of_the_best_assignment(seed):
    rng = np.random.default_rng(seed)
    true = random_boxes(rng, int(rng.integers(1, 5)))
    predicted = jittered(rng, true, int(rng.integers(0, 3)))[: int(rng.integers(1, 6))]

    def iou(first, second):
        sides = np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2])
        shared = float(np.prod(np.clip(sides, 0, None)))
        areas = [float(np.prod(box[2:] - box[:2])) for box in (first, second)]
        return shared / (sum(areas) - shared)

    few, many = sorted((predicted, true), key=len)
    best = max(
        sum(iou(box, many[place]) for box, place in zip(few, places, strict=True))
        for places in permutations(range(len(many)), len(few))
    )
    assert measured(predicted, true)["box_iou"] == pytest.approx(best / len(true))


def test_the_work_size_does_not_matter():
    stretch = np.array([2, 1.5, 2, 1.5])
    prediction = prediction_of(np.array([A, B]) * stretch, size=(1280, 720))
    parts = box_match.measure(prediction, sample_of([A, B]), {})[None]
    assert parts["box_iou"] == pytest.approx(1)


@pytest.mark.parametrize(("predicted", "score"), [([], 1.0), ([A], 0.0)])
def test_where_nothing_is_there_only_silence_is_right(predicted, score):
    parts = measured(predicted, [])
    assert (parts["average_precision"], parts["box_iou"]) == (score, score)
    assert (parts["false_boxes"], parts["missed"]) == (len(predicted), 0)


def test_no_boxes_find_nothing():
    parts = measured([], [A, B])
    assert parts == box_match.failed(sample_of([A, B]), {})[None]
    assert (parts["average_precision"], parts["box_iou"], parts["missed"]) == (0, 0, 2)


def test_a_failed_answer_scores_nothing_even_where_silence_is_right():
    parts = box_match.failed(sample_of([]), {})[None]
    assert (parts["average_precision"], parts["box_iou"], parts["missed"]) == (0, 0, 0)


def test_without_true_boxes_there_is_no_truth():
    assert box_match.measure(prediction_of([A]), sample_of(None), {}) is None
    assert box_match.failed(sample_of(None), {}) is None


def test_a_prediction_of_another_extractor_is_named():
    prediction = Prediction(
        sample_id="s", rank=0, cluster_id="c", variant="otsu", status="ok", outcome="ok"
    )
    with pytest.raises(RecordError, match="holds no boxes; name the extractor 'boxes'"):
        box_match.measure(prediction, sample_of([A]), {})
    with pytest.raises(GensightError, match="failure"):
        box_match.measure(prediction, sample_of([A]), {"failure": "one"})


def test_boxes_without_area_overlap_nothing():
    point = np.array([[5.0, 5, 5, 5]])
    assert box_match.box_ious(point, point).tolist() == [[0.0]]


def test_metrics_over_pictures():
    rows = [measured([A, B], [A, B]), measured([A], [B]), measured([], [A, B, C])]
    parts = {name: [row[name] for row in rows] for name in rows[0]}
    assert metrics.load("ap50").aggregate(parts) == pytest.approx(100 / 3)
    assert metrics.load("mean_box_iou").aggregate(parts) == pytest.approx(100 / 3)
    # Matched 2, false 1, missed 4.
    assert metrics.load("box_f1").aggregate(parts) == pytest.approx(100 * 4 / 9)
    assert metrics.load("box_f1").value(rows[0]) == 100
