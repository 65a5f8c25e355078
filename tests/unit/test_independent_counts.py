"""Count errors and localised F1 once more: plain sums, and matchings by SciPy.

Failed answers are scored by the sentence of PROTOCOLS 1.4: the worse of silence and the constant.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from gensight import images, metrics
from gensight.measures import count_match
from gensight.records import Prediction, Sample

#: Sizes of pictures, and those at long side 1024 (the other side rounded half up).
SIZES = {(640, 427): (1024, 683), (333, 500): (682, 1024), (2000, 31): (1024, 16)}


def sample_of(size, count, **truth):
    return Sample(
        sample_id="s",
        rank=0,
        cluster_id="c",
        image={},
        width=size[0],
        height=size[1],
        target_count=count,
        **truth,
    )


def prediction_of(marks, work):
    return Prediction(
        sample_id="s",
        rank=0,
        cluster_id="c",
        variant="dots",
        status="ok",
        outcome="ok",
        count=len(marks),
        points=listed(marks),
        work_width=work[0],
        work_height=work[1],
    )


def listed(points):
    return [{"x": float(x), "y": float(y)} for x, y in points]


def columns(parts, *names):
    return {name: [one.get(name, math.nan) for one in parts] for name in names}


@pytest.mark.parametrize("seed", range(3))
def test_errors_are_plain_sums_with_failures_at_their_worst(seed):
    random = np.random.default_rng(seed)
    truths = random.poisson(random.choice([0, 3, 40], 60))
    answers = np.maximum(0, truths + random.integers(-4, 5, 60))
    failed = random.random(60) < 0.2
    constant = float(np.median(truths))
    settings = count_match.settings_from({}, [sample_of((9, 9), int(t)) for t in truths])
    assert settings == {"failure_constant": constant}
    parts, errors, logs = [], [], []
    for truth, answer, fails in zip(truths.tolist(), answers.tolist(), failed, strict=True):
        sample = sample_of((640, 427), truth)
        if fails:
            parts.append(count_match.failed(sample, settings)[None])
            errors.append(max(truth, abs(constant - truth)))
            said = (0, constant)
        else:
            given = prediction_of(np.zeros((answer, 2)), (1024, 683))
            parts.append(count_match.measure(given, sample, settings)[None])
            errors.append(abs(answer - truth))
            said = (answer,)
        logs.append(max(abs(math.log((one + 1) / (truth + 1))) for one in said))
    found = {
        name: metrics.load(name).aggregate(columns(parts, part))
        for name, part in (
            ("mae", "absolute_error"),
            ("rmse", "squared_error"),
            ("log_count_error", "log_error"),
        )
    }
    assert found["mae"] == pytest.approx(sum(errors) / 60)
    assert found["rmse"] == pytest.approx(math.sqrt(sum(e * e for e in errors) / 60))
    assert found["log_count_error"] == pytest.approx(sum(logs) / 60)


def near(truths, random, work, spread):
    """Return marks near most truths, some of them doubled, and some that belong to nothing."""
    kept = truths[random.random(len(truths)) < 0.8]
    doubled = kept[random.random(len(kept)) < 0.2]
    marks = np.concatenate([kept, doubled]) + random.normal(
        0, spread, (len(kept) + len(doubled), 2)
    )
    return np.concatenate([marks, random.uniform(0, work, (random.integers(0, 4), 2))])


def f1_of(matched, marks, truths):
    return 2 * matched / (marks + truths) if marks + truths else 1.0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(8))
def test_marks_are_assigned_to_points_within_their_gates(size, seed):
    """Hungarian assignment at the work size; a pair beyond its gate costs more than all others."""
    random, work = np.random.default_rng(seed), SIZES[size]
    points = random.uniform(0, size, (int(random.integers(0, 25)), 2))
    points = np.concatenate([points, points[:2]])  # Duplicates are things of their own.
    placed = (points + 0.5) * work / size - 0.5
    marks = near(placed, random, work, 15)
    sample = sample_of(size, len(points), target_points=listed(points))
    parts = count_match.measure(prediction_of(marks, work), sample, {})[None]
    gates = []
    for place, point in enumerate(placed):
        others = [math.dist(point, one) for k, one in enumerate(placed) if k != place]
        gates.append(max(0.02 * 1024, min(others, default=0) / 2))
    distance = np.array([[math.dist(mark, point) for point in placed] for mark in marks])
    distance = distance.reshape(len(marks), len(points))
    inside = distance <= gates if len(points) else np.zeros_like(distance, bool)
    picked = linear_sum_assignment(np.where(inside, distance, 1e7))
    matched = np.count_nonzero(inside[picked])
    assert parts["matched"] == matched
    assert parts["false_points"] == len(marks) - matched
    assert parts["missed"] == len(points) - matched
    assert parts["localised_f1"] == pytest.approx(f1_of(matched, len(marks), len(points)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(6))
def test_marks_are_matched_to_the_masks_they_lie_in(size, seed):
    """Overlapping instances, marks outside of everything, and more marks than instances."""
    random, work = np.random.default_rng(100 + seed), SIZES[size]
    width, height = size
    rows, across = np.mgrid[:height, :width]
    middles = random.uniform(0, size, (int(random.integers(1, 12)), 2))
    radii = random.uniform(5, 60, len(middles))
    masks = [np.hypot(across - x, rows - y) <= r for (x, y), r in zip(middles, radii, strict=True)]
    masks = [mask for mask in masks if mask.any()]
    marks = near((middles + 0.5) * work / size - 0.5, random, work, 30)
    sample = sample_of(
        size, len(masks), target_instances=[images.encode_mask(mask) for mask in masks]
    )
    parts = count_match.measure(prediction_of(marks, work), sample, {})[None]
    inside = np.zeros((len(marks), len(masks)), int)
    for place, mark in enumerate(marks):
        x, y = (math.floor((c + 0.5) * s / w) for c, s, w in zip(mark, size, work, strict=True))
        if 0 <= x < width and 0 <= y < height:
            inside[place] = [mask[y, x] for mask in masks]
    matching = maximum_bipartite_matching(csr_matrix(inside), perm_type="column")
    matched = int(np.count_nonzero(matching >= 0))
    assert parts["matched"] == matched
    assert parts["localised_f1"] == pytest.approx(f1_of(matched, len(marks), len(masks)))


def test_precision_and_recall_are_pooled_over_pictures():
    random = np.random.default_rng(7)
    parts, totals = [], np.zeros(3)
    for _ in range(12):
        points = random.uniform(0, (640, 427), (int(random.integers(0, 9)), 2))
        marks = near((points + 0.5) * 1.6 - 0.5, random, (1024, 683), 5)
        sample = sample_of((640, 427), len(points), target_points=listed(points))
        one = count_match.measure(prediction_of(marks, (1024, 683)), sample, {})[None]
        parts.append(one)
        totals += one["matched"], len(marks), len(points)
    given = columns(parts, "matched", "false_points", "missed")
    for name, below in (("mark_precision", totals[1]), ("mark_recall", totals[2])):
        assert metrics.load(name).aggregate(given) == pytest.approx(100 * totals[0] / below)
