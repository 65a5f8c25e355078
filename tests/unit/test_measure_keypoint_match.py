"""Named points: PCK by hand, OKS against COCO's own evaluation."""

from __future__ import annotations

import contextlib
import io
import math

import numpy as np
import pytest

from gensight import images, metrics
from gensight.errors import GensightError, RecordError
from gensight.measures import keypoint_match
from gensight.records import Prediction, Sample

WIDTH, HEIGHT = 400, 300
COCO_NAMES = ["nose"] + [
    f"{side}_{part}"
    for part in ("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")
    for side in ("left", "right")
]
BOX = {"left": 100.0, "top": 50.0, "right": 180.0, "bottom": 250.0, "score": 1.0}


def points(places):
    return [{"name": name, "x": float(x), "y": float(y)} for name, (x, y) in places.items()]


def sample_of(places, box=BOX, **columns):
    return Sample(
        sample_id="s",
        rank=0,
        cluster_id="c",
        image={},
        width=WIDTH,
        height=HEIGHT,
        target_keypoints=None if places is None else points(places),
        target_boxes=None if box is None else [box],
        **columns,
    )


def prediction_of(places, size=(WIDTH, HEIGHT)):
    return Prediction(
        sample_id="s",
        rank=0,
        cluster_id="c",
        variant="diff_colour_blob",
        status="ok",
        outcome="ok",
        work_width=size[0],
        work_height=size[1],
        keypoints=points(places),
    )


def measured(places, sample, **settings):
    return keypoint_match.measure(prediction_of(places), sample, settings)[None]


def test_the_reach_is_a_tenth_of_the_long_side_of_the_box():
    sample = sample_of({"nose": (140, 100), "chin": (140, 120)})
    assert measured({"nose": (160, 100), "chin": (140, 140)}, sample)["correct"] == 2
    assert measured({"nose": (160.1, 100), "chin": (140, 140)}, sample)["correct"] == 1


@pytest.mark.parametrize("boxes", [None, [], [BOX, BOX]])
def test_without_one_box_the_long_side_of_the_picture_counts(boxes):
    sample = sample_of({"nose": (140, 100)}, box=None)
    sample = Sample(**{**vars(sample), "target_boxes": boxes})
    assert measured({"nose": (180, 100)}, sample) == {"correct": 1, "labelled": 1}
    assert measured({"nose": (180.1, 100)}, sample)["correct"] == 0


def test_missing_points_are_wrong_and_unlabelled_ones_take_no_part():
    sample = sample_of({"nose": (140, 100), "chin": (140, 120)})
    parts = measured({"nose": (140, 100), "ear": (0, 0)}, sample)
    assert (parts["correct"], parts["labelled"]) == (1, 2)
    assert parts["oks"] == pytest.approx(0.5)


def test_places_are_moved_from_the_work_size_to_the_sample_s():
    places = np.array([(140, 100)])
    moved = images.move_points(places, (WIDTH, HEIGHT), (1024, 768))[0]
    prediction = prediction_of({"nose": moved}, size=(1024, 768))
    parts = keypoint_match.measure(prediction, sample_of({"nose": (140, 100)}), {})[None]
    assert parts["oks"] == pytest.approx(1)


def test_similarity_by_hand():
    # d^2 = 25, 2 area (2 sigma)^2 = 2 * 5000 * 0.01 = 100.
    assert keypoint_match.similarity(5, 5000, 0.05) == pytest.approx(math.exp(-0.25))
    assert keypoint_match.similarity(math.inf, 5000, 0.05) == 0


def by_coco(true, marked, area):
    """Return OKS by pycocotools, over all 17 points, some of them not labelled."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def triples(places, visible):
        rows = [(*places.get(name, (0, 0)), visible * (name in places)) for name in COCO_NAMES]
        return np.array(rows, float).ravel().tolist()

    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": 1, "width": WIDTH, "height": HEIGHT}],
            "categories": [{"id": 1, "name": "person"}],
            "annotations": [
                {
                    "id": 1,
                    "image_id": 1,
                    "category_id": 1,
                    "iscrowd": 0,
                    "bbox": [100, 50, 80, 200],
                    "area": area,
                    "num_keypoints": len(true),
                    "keypoints": triples(true, 2),
                }
            ],
        }
        truth.createIndex()
        found = truth.loadRes(
            [{"image_id": 1, "category_id": 1, "score": 1.0, "keypoints": triples(marked, 1)}]
        )
        evaluation = COCOeval(truth, found, "keypoints")
        evaluation.params.imgIds, evaluation.params.catIds = [1], [1]
        evaluation._prepare()
        return float(evaluation.computeOks(1, 1)[0, 0])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("with_mask", [False, True])
def test_oks_is_coco_s(seed, with_mask):
    rng = np.random.default_rng(seed)
    named = [name for name in COCO_NAMES if rng.random() < 0.7]
    true = {name: rng.uniform((100, 50), (180, 250)).tolist() for name in named}
    marked = {
        name: (np.array(true.get(name, (0, 0))) + rng.normal(0, 12, 2)).tolist()
        for name in COCO_NAMES
    }
    columns, area = {}, 80 * 200
    if with_mask:
        mask = np.zeros((HEIGHT, WIDTH), bool)
        mask[60:240, 110:170] = True
        columns, area = {"target_mask": images.encode_mask(mask)}, int(mask.sum())
    parts = measured(marked, sample_of(true, **columns))
    assert parts["oks"] == pytest.approx(by_coco(true, marked, area), rel=1e-9)


def test_spread_of_a_name_that_coco_does_not_have():
    sample = sample_of({"handle": (140, 100)})
    one = measured({"handle": (150, 100)}, sample)["oks"]
    assert one == pytest.approx(keypoint_match.similarity(10, 80 * 200, 0.072))
    wide = measured({"handle": (150, 100)}, sample, assumed_sigma=0.2)["oks"]
    named = measured({"handle": (150, 100)}, sample, sigmas={"handle": 0.2})["oks"]
    assert one < wide == named


def test_a_failed_answer_marks_nothing():
    sample = sample_of({"nose": (140, 100), "chin": (140, 120)})
    assert keypoint_match.failed(sample, {})[None] == {"correct": 0, "labelled": 2, "oks": 0}
    assert measured({}, sample) == keypoint_match.failed(sample, {})[None]


@pytest.mark.parametrize("places", [None, {}])
def test_without_labelled_points_there_is_no_truth(places):
    sample = sample_of(places)
    assert keypoint_match.measure(prediction_of({}), sample, {}) is None
    assert keypoint_match.failed(sample, {}) is None


def test_a_prediction_of_another_extractor_is_named():
    prediction = Prediction(
        sample_id="s", rank=0, cluster_id="c", variant="otsu", status="ok", outcome="ok"
    )
    with pytest.raises(RecordError, match="holds no keypoints"):
        keypoint_match.measure(prediction, sample_of({"nose": (1, 1)}), {})
    with pytest.raises(GensightError, match="failure"):
        keypoint_match.failed(sample_of({"nose": (1, 1)}), {"failure": "one"})


def test_metrics_over_pictures():
    first = measured({"nose": (140, 100)}, sample_of({"nose": (140, 100)}))
    second = measured({}, sample_of(dict.fromkeys(("nose", "chin", "ear"), (140, 100))))
    parts = {name: [first[name], second[name]] for name in first}
    assert metrics.load("pck10").aggregate(parts) == 25
    assert metrics.load("oks").aggregate(parts) == 50
