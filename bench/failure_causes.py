"""The causal check of PROTOCOLS 3.4: undo the drift that is claimed, and score again.

A drift is worth its name if undoing it repairs the answer. Masks are moved back by what the blind
features say, and by what the truth-aware classifier says; their gain is in IoU. Marked copies are
warped back onto their input; their gain is in localised F1. At least 80 % of the drift items should
gain 0.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from gensight import failures, images
from gensight.extractors import Answer, dots, mask
from gensight.measures.count_match import matches_in_gates
from gensight.measures.overlap import areas

WANTED_GAIN = 0.2
# The gate of localised F1, as a share of the long side.
GATE_SHARE = 0.02


@dataclass(frozen=True)
class Undone:
    """One claim of drift: who claims it, and the score before and after it is undone."""

    claim: str
    true_class: str
    operator: str
    severity: float
    source: str
    score: str
    before: float
    after: float


def undo(case: Any, task: str, verdict: failures.Verdict) -> tuple[Undone | None, float | None]:
    """Return what undoing the case's drift gains, None where none is claimed, and a mask's IoU."""
    if task == "counting":
        is_global = verdict.name == "drift:global"
        return (_counted(case, verdict.features) if is_global else None), None
    if task != "segmentation":
        return None, None
    predicted = _mask(case)
    compared = failures.truth(predicted, case.truth)
    iou = compared.features["iou"]
    if compared.failure_class == "drift":
        found = compared.features
        back = _moved(predicted, found["shift_x_share"], found["shift_y_share"], found["scale"])
        return _undone("truth", case, "iou", iou, areas(back, case.truth).iou), iou
    if verdict.name == "drift:possible":
        found = verdict.features
        shift = found["edge_shift_x_share"], found["edge_shift_y_share"]
        back = _moved(predicted, *shift, found["edge_scale"])
        return _undone("blind", case, "iou", iou, areas(back, case.truth).iou), iou
    return None, iou


def _undone(claim: str, case: Any, score: str, before: float, after: float) -> Undone:
    return Undone(
        claim=claim,
        true_class=case.true_class,
        operator=case.operator,
        severity=case.severity,
        source=case.source,
        score=score,
        before=round(before, 4),
        after=round(after, 4),
    )


def _answer(case: Any, output_rgb: np.ndarray) -> Answer:
    height, width = case.input_rgb.shape[:2]
    return Answer(
        image=images.encode_png(output_rgb),
        source=images.encode_png(case.input_rgb),
        source_width=width,
        source_height=height,
    )


def _mask(case: Any) -> np.ndarray:
    """Return the mask that the extractor reads, at the size of the truth."""
    (reading,) = mask.extract(_answer(case, case.output_rgb), {})
    height, width = case.truth.shape
    return images.resize_mask(images.decode_mask(reading.fields["mask"]), width, height)


def _moved(found: np.ndarray, right: float, down: float, scale: float) -> np.ndarray:
    """Return a mask moved by shares of the long side, after being scaled about the centre."""
    height, width = found.shape
    long_side = max(height, width)
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 0, scale)
    matrix[:, 2] += right * long_side, down * long_side
    levels = cv2.warpAffine(found.astype(np.uint8) * 255, matrix, (width, height))
    return levels > 127


def _counted(case: Any, features: dict[str, float]) -> Undone:
    """Compare localised F1 of the marks as they are and on the answer warped back."""
    height, width = case.output_rgb.shape[:2]
    matrix = cv2.getRotationMatrix2D(
        ((width - 1) / 2, (height - 1) / 2), -features["rotation_deg"], features["scale"]
    )
    long_side = max(height, width)
    matrix[:, 2] += features["shift_x_share"] * long_side, features["shift_y_share"] * long_side
    back = cv2.warpAffine(
        case.output_rgb,
        matrix,
        (width, height),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    scores = [_localised_f1(case, rgb) for rgb in (case.output_rgb, back)]
    return _undone("blind", case, "localised F1", *scores)


def _localised_f1(case: Any, output_rgb: np.ndarray) -> float:
    (reading,) = dots.extract(_answer(case, output_rgb), {})
    marks = np.array([(p["x"], p["y"]) for p in reading.fields["points"]]).reshape(-1, 2)
    size = reading.fields["work_width"], reading.fields["work_height"]
    places = images.move_points(case.truth, case.input_rgb.shape[1::-1], size)
    gate = GATE_SHARE * max(size)
    matched = matches_in_gates(marks, places, gate=gate, lone_gate=gate)
    total = len(marks) + len(places)
    return 2 * matched / total if total else 1.0


def summary(undone: Iterable[Undone]) -> dict[str, Any]:
    """Return, for each claim, how many could gain enough, how many did, and the mean gain.

    Where less than 0.2 was lost, no undoing can gain it.
    """
    groups: dict[str, list[Undone]] = {}
    for found in undone:
        right = "drift" if found.true_class.startswith("drift") else "others"
        groups.setdefault(f"{found.claim}, {found.score}, {right}", []).append(found)
    return {name: _summary(group) for name, group in sorted(groups.items())}


def _summary(group: list[Undone]) -> dict[str, float]:
    gains = [found.after - found.before for found in group]
    return {
        "claims": len(group),
        "could_gain": sum(found.before <= 1 - WANTED_GAIN for found in group),
        "gained": sum(gain >= WANTED_GAIN for gain in gains),
        "mean_gain": round(math.fsum(gains) / len(gains), 3),
    }
