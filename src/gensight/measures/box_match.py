"""Boxes against boxes of one class: average precision at IoU 0.5, and how well boxes fit.

Protocol. ProbeGen Appendix D names detection and no metric; these are COCO's rules for one class.
For the average precision boxes are taken by falling score, each takes the free true box that it
overlaps most, from IoU 0.5 up, and precision is read at 101 levels of recall. It is that of one
picture: the scores of drawn boxes say nothing that holds across pictures, so they order the boxes
of a picture and are never pooled. `matched`, `false_boxes` and `missed` of the same matching carry
a score-free F1 over all pictures.

`box_iou` is the mean over the true boxes of the IoU with the box that an assignment of largest
summed IoU gives them, 0 for a true box without one, so that leaving out hard objects earns nothing.
Intersection over union does not change when both boxes are stretched alike, so all is computed in
pixels of the sample's picture.

No true boxes: no predicted ones score 1 in both, any score 0. A failed answer scores 0 in both,
with all true boxes missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gensight.measures import Parts, PartsByFit, complete, required
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("zero",)
DEFAULTS: dict[str, Any] = {"failure": "zero", "iou_threshold": 0.5}
# COCO reads precision at recall 0, 0.01, ... 1.
RECALL_LEVELS = np.linspace(0, 1, 101)
EDGES = ("left", "top", "right", "bottom")


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare predicted with true boxes; None without a list of true ones.

    Parts: average_precision, box_iou, matched, false_boxes, missed.
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    if sample.target_boxes is None:
        return None
    listed = required(prediction.boxes, sample.sample_id, "boxes", "boxes")
    scores = np.array([box["score"] for box in listed], np.float64)
    # A stable sort: equal scores keep the extractor's order.
    order = np.argsort(-scores, kind="stable")
    found = _edges(listed)[order] * _to_sample(prediction, sample, len(listed))
    return {None: _parts(box_ious(found, _edges(sample.target_boxes)), checked["iou_threshold"])}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Give a failed answer 0, also where there is nothing to find, and miss every true box."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    if sample.target_boxes is None:
        return None
    missed = float(len(sample.target_boxes))
    zero = dict.fromkeys(("average_precision", "box_iou", "matched", "false_boxes"), 0.0)
    return {None: {**zero, "missed": missed}}


def box_ious(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the IoU of every pair of boxes (n, 4), (m, 4) as left, top, right, bottom: (n, m).

    >>> box_ious(np.array([[0.0, 0, 2, 1]]), np.array([[1.0, 0, 3, 1]])).round(4).tolist()
    [[0.3333]]
    """
    corners = np.minimum(first[:, None, 2:], second[None, :, 2:])
    sides = np.clip(corners - np.maximum(first[:, None, :2], second[None, :, :2]), 0, None)
    shared = sides[..., 0] * sides[..., 1]
    union = _areas(first)[:, None] + _areas(second)[None, :] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def greedy_matches(ious: np.ndarray, threshold: float) -> np.ndarray:
    """Say which predicted boxes (n, m: by falling score) are matched, bool (n,), by COCO's rule."""
    free = np.ones(ious.shape[1], np.bool_)
    matched = np.zeros(len(ious), np.bool_)
    for row, overlaps in enumerate(ious):
        allowed = np.where(free & (overlaps >= threshold), overlaps, -1.0)
        if allowed.size and allowed.max() >= 0:
            # COCO takes the last of equals.
            free[allowed.size - 1 - int(np.argmax(allowed[::-1]))] = False
            matched[row] = True
    return matched


def average_precision(matched: np.ndarray, n_true: int) -> float:
    """Return the area under the precision envelope at COCO's 101 recalls, for `n_true` > 0."""
    hits = np.cumsum(matched)
    precision = hits / np.arange(1, len(matched) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(hits / n_true, RECALL_LEVELS, side="left")
    reached = places < len(envelope)
    return float(envelope[places[reached]].sum() / len(RECALL_LEVELS))


def _parts(ious: np.ndarray, threshold: float) -> Parts:
    from scipy.optimize import linear_sum_assignment

    predicted, true = ious.shape
    matched = greedy_matches(ious, threshold)
    hits = int(matched.sum())
    if true:
        ap, overlap = average_precision(matched, true), ious[linear_sum_assignment(-ious)].sum()
    else:
        ap, overlap = float(predicted == 0), float(predicted == 0)
    return {
        "average_precision": ap,
        "box_iou": float(overlap / max(true, 1)),
        "matched": float(hits),
        "false_boxes": float(predicted - hits),
        "missed": float(true - hits),
    }


def _edges(boxes: Sequence[Mapping[str, float]]) -> np.ndarray:
    return np.array([[box[edge] for edge in EDGES] for box in boxes], np.float64).reshape(-1, 4)


def _to_sample(prediction: Prediction, sample: Sample, n_boxes: int) -> np.ndarray:
    """Return the factors from pixels of the work size to those of the sample, (4,)."""
    if not n_boxes:
        return np.ones(4)
    sides = [
        required(getattr(prediction, name), sample.sample_id, name, "boxes")
        for name in ("work_width", "work_height")
    ]
    return np.tile(np.array([sample.width, sample.height]) / sides, 2)


def _areas(boxes: np.ndarray) -> np.ndarray:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
