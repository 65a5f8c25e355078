"""Where the IoU of a mask is lost: at the threshold, by its place, or in what it shows.

Protocol: PROTOCOLS 5.1, on the grey picture that the extractor `depth` keeps, so one picture gives
both the mask that is scored and those that it could have been:

    raw_iou             the mask of the extractor `mask` (Otsu, with its degenerate rule), on the
                        target's grid: the IoU of `overlap`
    best_threshold_iou  the best of all 256 thresholds, from two histograms of the grey picture on
                        that grid, inside and outside the target
    best_aligned_iou    that mask at its best shift (10 % of the long side) and scale (0.9 to 1.1)
    1 - that            no threshold and no move help: another thing is painted

No step is negative: the raw mask is among the thresholds, the unmoved one among the moves. All
look at the truth, so they say what an error is made of and never what a better reader would score.
Pixels of `ignore_mask` take no part. A failed answer loses everything at a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight import images
from gensight.extractors import Answer, mask
from gensight.failures.placement import best_placement
from gensight.measures import PartsByFit, complete, required
from gensight.measures.overlap import areas
from gensight.records import Prediction, Sample

VERSION = 1
# Modules whose versions count as its own: it computes with their rules.
USES = {"extractors": ["mask"], "measures": ["overlap"]}
FAILURE_POLICIES = ("zero",)
DEFAULTS: dict[str, Any] = {"failure": "zero"}
LEVELS = 256


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return the three IoUs and the losses between them; None without a target.

    Parts (shares): raw_iou, best_threshold_iou, best_aligned_iou; lost_threshold, lost_alignment,
    lost_semantic, lost_failed, which add up to 1 - raw_iou; and best_threshold (0 to 255).
    """
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    picture = required(prediction.grey, sample.sample_id, "grey", "depth")
    truth = _truth(sample)
    if truth is None:
        return None
    target, ignored = truth
    raw_iou = _raw_iou(picture["bytes"], sample, target, ignored)
    grey = images.to_eight_bits(images.decode_grey(picture["bytes"], matte=(0, 0, 0), orient=False))
    placed = images.resize_picture(grey, *target.shape[::-1])
    threshold, threshold_iou = best_threshold(placed, target, ignored)
    threshold_iou = max(threshold_iou, raw_iou)
    move = best_placement(placed > threshold, target, ignored)
    aligned_iou = min(1.0, threshold_iou + max(0.0, move.iou - move.unmoved_iou))
    return {
        None: {
            "raw_iou": raw_iou,
            "best_threshold_iou": threshold_iou,
            "best_aligned_iou": aligned_iou,
            "best_threshold": float(threshold),
            "lost_threshold": threshold_iou - raw_iou,
            "lost_alignment": aligned_iou - threshold_iou,
            "lost_semantic": 1 - aligned_iou,
            "lost_failed": 0.0,
        }
    }


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Book the whole loss of a failed answer, IoU 0, on its own step; None without a target."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    if _truth(sample) is None:
        return None
    ious = ("raw_iou", "best_threshold_iou", "best_aligned_iou")
    losses = ("lost_threshold", "lost_alignment", "lost_semantic")
    return {None: {**dict.fromkeys((*ious, *losses), 0.0), "lost_failed": 1.0}}


def best_threshold(
    grey: np.ndarray, target: np.ndarray, ignored: np.ndarray | None = None
) -> tuple[int, float]:
    """Return the level t whose mask {grey > t} has the highest IoU, and that IoU.

    `grey` is uint8 (H, W), the masks bool (H, W). Of equal thresholds the lowest. 255 is the empty
    mask, which is right (1) where there is no target.

    >>> best_threshold(np.array([[0, 90, 200]], np.uint8), np.array([[False, True, True]]))
    (0, 1.0)
    """
    counted = np.ones_like(target) if ignored is None else ~ignored
    inside = np.bincount(grey[target & counted], minlength=LEVELS)
    outside = np.bincount(grey[~target & counted], minlength=LEVELS)
    # Pixels above level t are those of all higher levels.
    hit, extra = (histogram.sum() - histogram.cumsum() for histogram in (inside, outside))
    union = inside.sum() + extra
    ious = np.divide(hit, union, out=np.ones(LEVELS), where=union > 0)
    best = int(ious.argmax())
    return best, float(ious[best])


def _raw_iou(
    picture: bytes, sample: Sample, target: np.ndarray, ignored: np.ndarray | None
) -> float:
    answer = Answer(
        image=picture, source_width=sample.width, source_height=sample.height, orient_source=False
    )
    (reading,) = mask.extract(answer, {"variants": ["otsu"]})
    predicted = images.decode_mask(reading.fields["mask"])
    return areas(images.resize_mask(predicted, *target.shape[::-1]), target, ignored).iou


def _truth(sample: Sample) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return target and ignored pixels on one grid, None where nothing can be compared."""
    if sample.target_mask is None:
        return None
    target = images.decode_mask(sample.target_mask)
    if sample.ignore_mask is None:
        return target, None
    ignored = images.resize_mask(images.decode_mask(sample.ignore_mask), *target.shape[::-1])
    return None if ignored.all() else (target, ignored)
