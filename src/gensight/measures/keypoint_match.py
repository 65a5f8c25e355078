"""Named points against named points: PCK and object keypoint similarity.

Protocol. ProbeGen Appendix D names keypoints and no metric; the two usual ones are meant. A point
is right (PCK) within `pck_share` of a reference length of its true place: the long side of the true
box where the sample has exactly one, else the long side of the picture (assumed). OKS is COCO's:
the mean over labelled points of exp(-d^2 / (2 area (2 sigma)^2)), with COCO's sigmas for its 17
human points and `assumed_sigma` for any other name; the area is that of the target mask, else of
the only true box, in px; without both OKS is not defined.

Points that are not labelled take no part, whatever was marked; a labelled point that was not marked
is wrong and has similarity 0. A failed answer marks nothing. Distances are in pixels of the
sample's picture. No labelled points: no ground truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight import images
from gensight.measures import Parts, PartsByFit, complete, required
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("zero",)
DEFAULTS: dict[str, Any] = {
    "failure": "zero",
    "pck_share": 0.1,
    # The median of COCO's, for names that COCO does not have.
    "assumed_sigma": 0.072,
    # By name, over COCO's.
    "sigmas": {},
}
# COCO keypoint evaluation (cocoapi, cocoeval.py), for one side; `left_` and `right_` have the same.
COCO_SIGMAS = {
    "nose": 0.026,
    "eye": 0.025,
    "ear": 0.035,
    "shoulder": 0.079,
    "elbow": 0.072,
    "wrist": 0.062,
    "hip": 0.107,
    "knee": 0.087,
    "ankle": 0.089,
}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare marked with labelled points; None without labelled ones.

    Parts: correct, labelled and, where an area is known, oks.
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    if not sample.target_keypoints:
        return None
    listed = required(prediction.keypoints, sample.sample_id, "keypoints", "keypoints")
    marked = {}
    if listed:
        work = tuple(
            required(getattr(prediction, name), sample.sample_id, name, "keypoints")
            for name in ("work_width", "work_height")
        )
        places = np.array([(point["x"], point["y"]) for point in listed], np.float64)
        moved = images.move_points(places, work, (sample.width, sample.height))
        marked = dict(zip((point["name"] for point in listed), moved.tolist(), strict=True))
    return {None: _parts(marked, sample, checked)}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Score a failed answer as one that marks nothing."""
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: _parts({}, sample, checked)} if sample.target_keypoints else None


def similarity(distance_px: float, area_px: float, sigma: float) -> float:
    """Return COCO's similarity of one point, 1 at its true place.

    >>> round(similarity(10, 10_000, 0.05), 4)
    0.6065
    """
    return math.exp(-(distance_px**2) / (2 * area_px * (2 * sigma) ** 2))


def _parts(marked: Mapping[str, list[float]], sample: Sample, settings: Mapping[str, Any]) -> Parts:
    labelled = sample.target_keypoints or []
    reach, area = settings["pck_share"] * _reference_px(sample), _area_px(sample)
    correct, similarities = 0, []
    for point in labelled:
        distance = math.inf
        if point["name"] in marked:
            distance = math.dist(marked[point["name"]], (point["x"], point["y"]))
        correct += distance <= reach
        if area:
            similarities.append(similarity(distance, area, _sigma(point["name"], settings)))
    parts = {"correct": float(correct), "labelled": float(len(labelled))}
    if area:
        parts["oks"] = math.fsum(similarities) / len(labelled)
    return parts


def _sigma(name: str, settings: Mapping[str, Any]) -> float:
    bare = name.removeprefix("left_").removeprefix("right_")
    return settings["sigmas"].get(name, COCO_SIGMAS.get(bare, settings["assumed_sigma"]))


def _reference_px(sample: Sample) -> float:
    """Return the long side of the only true box, else of the picture."""
    sides = _box_sides(sample)
    return max(sides) if sides else max(sample.width, sample.height)


def _area_px(sample: Sample) -> float:
    """Return the area of the target in px, 0 where it is not known."""
    if sample.target_mask is not None:
        return float(np.count_nonzero(images.decode_mask(sample.target_mask)))
    sides = _box_sides(sample)
    return sides[0] * sides[1] if sides else 0.0


def _box_sides(sample: Sample) -> tuple[float, float] | None:
    if not sample.target_boxes or len(sample.target_boxes) != 1:
        return None
    (box,) = sample.target_boxes
    return box["right"] - box["left"], box["bottom"] - box["top"]
