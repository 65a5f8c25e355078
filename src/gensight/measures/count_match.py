"""Count errors, and whether the counted marks lie on the counted things.

Protocol. ProbeGen 4.1: MAE and RMSE of the number of decoded dots. PROTOCOLS 1.4 adds the
log-count error |ln((p + 1) / (c + 1))| and localised F1, because a right count from wrong places is
not counting: marks and truths are matched one to one, as many pairs as possible. Where the sample
has instance masks, a mark may take an instance that it lies in; else a true point within the gate
max(2 % of the long side, half the distance to the nearest other true point), at the work size.

Localised F1 is 2 matched / (marks + truths); without any truth it is 1 if there are no marks and 0
otherwise. A lone true point has no neighbour, and its gate is `assumed_lone_gate_share` of the long
side (assumed: the 2 % of all others).

Failure `silence_or_constant`: the answer fares as badly as the worse of a silent model (0) and of a
constant one (m): error max(c, |m - c|), log error max(ln(c + 1), |ln((m + 1) / (c + 1))|), nothing
matched, F1 0. So failing never beats either. m is `failure_constant` where the benchmark sets it,
else the median of the held-out counts, else 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.measures import Parts, PartsByFit, complete, required
from gensight.measures._matching import maximum_matching
from gensight.records import Prediction, Sample
from gensight.truths import true_count

VERSION = 2
FAILURE_POLICIES = ("silence_or_constant",)
DEFAULTS: dict[str, Any] = {
    "failure": "silence_or_constant",
    "failure_constant": None,
    "gate_share": 0.02,
    "assumed_lone_gate_share": 0.02,
}
FROZEN_CONSTANT = 5.0


def settings_from(settings: Mapping[str, Any], held_out: Iterable[Sample]) -> dict[str, Any]:
    """Return the failure constant of a benchmark from samples that are never evaluated."""
    constant = settings.get("failure_constant")
    if constant is None:
        counts = [count for count in map(true_count, held_out) if count is not None]
        constant = float(np.median(counts)) if counts else FROZEN_CONSTANT
    return {"failure_constant": _count(constant)}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare a count, and its marks where there are any, with the truth; None without a count.

    Parts: count_error (signed), absolute_error, squared_error, log_error, the failure_constant that
    a failed answer would be scored by and, where both marks and
    true places are known, matched, false_points, missed, localised_f1.
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    truth = true_count(sample)
    if truth is None:
        return None
    count = required(prediction.count, sample.sample_id, "count", "dots")
    parts = count_errors(count, truth)
    parts["failure_constant"] = _constant_of(checked)
    places = _true_places(sample, truth)
    if prediction.points is not None and places is not None:
        matched = _matched(prediction, sample, checked) if places else 0
        parts |= _localised(matched, len(prediction.points), places)
    return {None: parts}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Score a failed answer as the worse of silence and the constant, with nothing matched."""
    constant = _constant_of(complete(settings, DEFAULTS, FAILURE_POLICIES))
    truth = true_count(sample)
    if truth is None:
        return None
    fallbacks = [count_errors(value, truth) for value in (0, constant)]
    parts = max(fallbacks, key=lambda errors: errors["absolute_error"])
    parts["log_error"] = max(errors["log_error"] for errors in fallbacks)
    parts["failure_constant"] = constant
    places = _true_places(sample, truth)
    if places is not None:
        missed = {"matched": 0.0, "false_points": 0.0, "missed": float(places)}
        parts |= missed | {"localised_f1": 0.0}
    return {None: parts}


def _constant_of(settings: Mapping[str, Any]) -> float:
    constant = settings["failure_constant"]
    return FROZEN_CONSTANT if constant is None else _count(constant)


def count_errors(predicted: float, truth: float) -> Parts:
    """Return the errors of one count.

    >>> count_errors(12, 10)["squared_error"]
    4.0
    """
    error = float(predicted - truth)
    return {
        "count_error": error,
        "absolute_error": abs(error),
        "squared_error": error * error,
        "log_error": abs(math.log((predicted + 1) / (truth + 1))),
    }


def matches_in_masks(marks: np.ndarray, instances: Sequence[np.ndarray]) -> int:
    """Match marks (n, 2) as x, y in pixels of the masks, one to one, to the masks they lie in."""
    inside = np.zeros((len(marks), len(instances)), np.bool_)
    if not inside.size:
        return 0
    height, width = instances[0].shape
    columns, rows = np.floor(marks + 0.5).astype(np.int64).T
    on = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    for index, instance in enumerate(instances):
        inside[on, index] = instance[rows[on], columns[on]]
    return maximum_matching(inside)


def matches_in_gates(
    marks: np.ndarray, truths: np.ndarray, *, gate: float, lone_gate: float
) -> int:
    """Match marks (n, 2) one to one to true points (m, 2) that are near enough, in one unit.

    The gate of a true point is the larger of `gate` and half the distance to its nearest
    neighbour; a point without neighbours has `lone_gate`.
    """
    if not len(marks) or not len(truths):
        return 0
    gates = np.full(len(truths), lone_gate)
    if len(truths) > 1:
        between = _distances(truths, truths)
        np.fill_diagonal(between, np.inf)
        gates = np.maximum(gate, between.min(axis=1) / 2)
    return maximum_matching(_distances(marks, truths) <= gates)


def _distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.linalg.norm(first[:, None, :] - second[None, :, :], axis=2)


def _count(constant: Any) -> float:
    if isinstance(constant, bool) or not isinstance(constant, int | float) or not constant >= 0:
        raise SpecError(f"settings.failure_constant: expected a number from 0, got {constant!r}")
    return float(constant)


def _true_places(sample: Sample, truth: int) -> int | None:
    """Return how many true places are known, None where the truth is a bare count."""
    if truth == 0:
        return 0
    places = sample.target_instances or sample.target_points
    return len(places) if places else None


def _matched(prediction: Prediction, sample: Sample, settings: Mapping[str, Any]) -> int:
    marks = _array(prediction.points)
    if not len(marks):
        return 0
    columns = ("work_width", "work_height")
    work = tuple(
        required(getattr(prediction, name), sample.sample_id, name, "dots") for name in columns
    )
    if sample.target_instances:
        instances = [images.decode_mask(rle) for rle in sample.target_instances]
        height, width = instances[0].shape
        return matches_in_masks(images.move_points(marks, work, (width, height)), instances)
    long_side = max(work)
    return matches_in_gates(
        marks,
        images.move_points(_array(sample.target_points or []), (sample.width, sample.height), work),
        gate=settings["gate_share"] * long_side,
        lone_gate=settings["assumed_lone_gate_share"] * long_side,
    )


def _array(points: Sequence[Mapping[str, float]]) -> np.ndarray:
    return np.array([(point["x"], point["y"]) for point in points], np.float64).reshape(-1, 2)


def _localised(matched: int, marks: int, truths: int) -> Parts:
    total = marks + truths
    return {
        "matched": float(matched),
        "false_points": float(marks - matched),
        "missed": float(truths - matched),
        "localised_f1": 2 * matched / total if total else 1.0,
    }
