"""How often intervals hold the truth: the table of PROTOCOLS 2.2, run again, but for counts.

The generators resemble the papers' data: IoUs that pile up at 0 and 1, unions of very different
size, depth errors that the pictures of a recording share, rates that are alike within a cluster.
Coverage is known to about 0.7 points; the tolerance is the table's 2.5.
"""

from __future__ import annotations

import numpy as np
import pytest

from gensight import metrics
from gensight.statistics import interval, wilson_interval

TOLERANCE = 2.5


def grouped(n, clusters):
    return [f"c{place % clusters:04}" for place in range(n)]


def iou(rng, n):
    return np.where(rng.random(n) < 0.15, 0.0, rng.beta(2, 0.6, n))


def giou(rng, n):
    return {"iou": iou(rng, n)}, grouped(n, n)


def ciou(rng, n):
    union = np.exp(9 + 0.9 * rng.standard_normal(n))
    return {"intersection": iou(rng, n) * union, "union": union}, grouped(n, n)


def absrel(rng, n):
    # As many recordings as NYU has: 215 of 500 pictures, 43 of 100.
    recordings = n * 43 // 100
    shared = rng.standard_normal(recordings)[np.arange(n) % recordings]
    error = 0.1 * np.exp(0.5 * shared + 0.5 * rng.standard_normal(n))
    return {"absrel": error}, grouped(n, recordings)


def rate(rng, n):
    # The five samples of a cluster are much alike: the design effect is about 3.
    chance = rng.beta(0.7, 0.3, n // 5)[np.arange(n) % (n // 5)]
    return {"absolute_error": (rng.random(n) < chance).astype(float)}, grouped(n, n // 5)


def log_error(rng, n):
    error = 0.5 * np.abs(rng.standard_normal(n)) * (rng.random(n) < 0.7)
    return {"log_error": error}, grouped(n, n)


MEAN_IOU = 85 * 2 / 2.6
#: Metric, generator, truth, n, coverage in the table (the middle of a range).
TABLE = [
    ("giou", giou, MEAN_IOU, 100, 94.3),
    ("giou", giou, MEAN_IOU, 500, 94.3),
    ("absrel", absrel, 10 * np.exp(0.25), 100, 94.3),
    ("absrel", absrel, 10 * np.exp(0.25), 500, 94.3),
    ("ciou", ciou, MEAN_IOU, 100, 92.7),
    ("ciou", ciou, MEAN_IOU, 500, 94.5),
    ("miscounted", rate, 70.0, 100, 95.0),
    ("miscounted", rate, 70.0, 500, 95.0),
    ("log_count_error", log_error, 0.35 * np.sqrt(2 / np.pi), 100, 94.8),
    ("log_count_error", log_error, 0.35 * np.sqrt(2 / np.pi), 500, 95.8),
]


@pytest.mark.parametrize(("name", "draw", "truth", "n", "expected"), TABLE)
def test_coverage_is_that_of_the_table(name, draw, truth, n, expected):
    rng, metric, held = np.random.default_rng(0), metrics.load(name), []
    for _ in range(1000 if n == 100 else 600):
        parts, clusters = draw(rng, n)
        low, high, _ = interval(metric, parts, clusters, benchmark="coverage")
        held.append(low <= truth <= high)
    assert 100 * np.mean(held) == pytest.approx(expected, abs=TOLERANCE)


def test_a_rate_that_ignores_clusters_covers_far_less():
    rng, held = np.random.default_rng(0), []
    for _ in range(600):
        parts, _ = rate(rng, 100)
        low, high, _, _ = wilson_interval(parts["absolute_error"], grouped(100, 100))
        held.append(low <= 0.7 <= high)
    # 71 to 79 % in the table.
    assert 100 * np.mean(held) == pytest.approx(75, abs=4 + TOLERANCE)
