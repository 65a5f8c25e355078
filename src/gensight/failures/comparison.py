"""The truth-aware classifier: how a mask differs from its target (end of PROTOCOLS 3.3)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gensight.failures.classes import Verdict
from gensight.failures.placement import best_placement
from gensight.measures.overlap import areas

GOOD_IOU = 0.7
INVERTED_GAIN = 0.3
ALIGNED_IOU, ALIGNED_GAIN = 0.85, 0.2
WRONG_IOU, OTHER_IOU = 0.1, 0.5


def truth(
    predicted_mask: np.ndarray,
    target: np.ndarray,
    other_instances: Iterable[np.ndarray] = (),
    *,
    ignored: np.ndarray | None = None,
) -> Verdict:
    """Classify a mask by its target; all bool (H, W) of one shape.

    In this order: `ok` IoU from 0.7; `spurious` something marked where nothing is asked;
    `inverted` IoU of the complement higher by more than 0.3; `wrong_object` IoU below 0.1 and at
    least 0.5 with one of the other instances; `drift` a shift of at most 10 % of the long side and
    a scale of 0.9 to 1.1 bring the IoU to 0.85 and gain 0.2; else `imprecise` or, with an IoU below
    0.1, `missed`. Features: iou, iou_complement, iou_other (where there are other instances) and,
    where a move was looked for, iou_aligned, shift_x_share, shift_y_share and scale.
    """
    counted = areas(predicted_mask, target, ignored)
    features = {"iou": counted.iou, "iou_complement": counted.inverted.iou}
    others = [areas(predicted_mask, other, ignored).iou for other in other_instances]
    if others:
        features["iou_other"] = max(others)
    found = _without_moving(features, has_target=counted.target > 0)
    if found is None:
        placed = best_placement(predicted_mask, target, ignored)
        features |= {
            "iou_aligned": placed.iou,
            "shift_x_share": placed.shift_x,
            "shift_y_share": placed.shift_y,
            "scale": placed.scale,
        }
        gained = placed.iou - placed.unmoved_iou >= ALIGNED_GAIN
        if placed.iou >= ALIGNED_IOU and gained:
            found = "drift"
        else:
            found = "imprecise" if counted.iou >= WRONG_IOU else "missed"
    return Verdict(failure_class=found, features=features)


def _without_moving(features: dict[str, float], *, has_target: bool) -> str | None:
    if features["iou"] >= GOOD_IOU:
        return "ok"
    if not has_target:
        return "spurious"
    if features["iou_complement"] - features["iou"] > INVERTED_GAIN:
        return "inverted"
    other = features.get("iou_other", 0.0)
    return "wrong_object" if features["iou"] < WRONG_IOU and other >= OTHER_IOU else None
