"""The ceiling of counting: which crowds the oracle's dots cannot be counted in, and why.

Errors come from points so near each other that even the smallest dots touch; every other crowd, of
any number, is counted exactly. The crowds follow from seeds and are those of docs/ceilings.md.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from ceiling_pictures import BINS, CROWDS, crowd, nearest_px, photograph, points_sample
from ceiling_road import counted, scene_samples, travel

from gensight.models.reference import marks

SIZES = ((640, 480), (480, 640))
EACH = 3
#: Discs of radius 3 touch up to a distance of 7.1 px between whole pixels, and rounding a place to
#: one moves it by up to 0.71.
TOUCHING_PX = 7.1
SEPARABLE_PX = TOUCHING_PX + 2 * 0.71


@pytest.fixture(scope="module")
def crowds():
    """Return, by kind and truth bin, the sample, the error and the F1 of each crowd."""
    pictures = [photograph(*size, seed=0) for size in SIZES]
    found = {}
    for kind in CROWDS:
        for low, high in BINS:
            for seed in range(EACH):
                count = int(np.random.default_rng([low, seed]).integers(low, high + 1))
                place = seed % len(SIZES)
                points = crowd(kind, count, *SIZES[place], seed)
                sample = points_sample(points, pictures[place])
                found.setdefault((kind, low), []).append((sample, *counted(sample, "pixmo_points")))
    return found


def every(crowds):
    return [one for cell in crowds.values() for one in cell]


def test_only_points_that_touch_are_lost(crowds):
    for sample, error, _ in every(crowds):
        touching = np.count_nonzero(nearest_px(sample) < SEPARABLE_PX)
        assert -touching <= error <= 0
    assert sum(error < 0 for _, error, _ in every(crowds)) > 5


def test_dots_that_are_counted_lie_where_they_belong(crowds):
    for sample, error, f1 in every(crowds):
        n = sample.target_count
        assert f1 == pytest.approx(2 * (n + error) / (2 * n + error) if n else 1)


def test_the_ceiling_by_truth_bin(crowds):
    """Rows of things: none is lost up to 200. Groups: from some twenty on, every picture loses."""
    wrong = {cell: sum(error < 0 for _, error, _ in found) for cell, found in crowds.items()}
    assert [wrong["even", low] for low, _ in BINS] == [0] * len(BINS)
    assert [wrong["scattered", low] for low, _ in BINS[:4]] == [0] * 4
    assert [wrong["clustered", low] for low in (0, 1)] == [0, 0]
    assert [wrong["clustered", low] for low in (21, 51)] == [EACH, EACH]
    lost = [-error / sample.target_count for sample, error, _ in crowds["clustered", 51]]
    assert 0.05 < np.mean(lost) < 0.25


def test_the_radius_of_a_dot_is_the_printed_rule(crowds):
    for sample, *_ in every(crowds):
        nearest = nearest_px(sample)
        size = np.array([1024, 768] if sample.width > sample.height else [768, 1024])
        points = np.array([(p["x"], p["y"]) for p in sample.target_points]).reshape(-1, 2)
        scaled = (points + 0.5) * size / (sample.width, sample.height) - 0.5
        printed = [
            8 if math.isinf(distance) else min(max(math.floor(0.45 * distance) - 1, 3), 8)
            for distance in nearest
        ]
        assert marks.dot_radii_px(scaled).tolist() == printed


@pytest.mark.parametrize("radius", [3, 4, 5, 6, 7, 8])
def test_dots_of_the_rule_do_not_touch(radius):
    """At whole pixels a radius of 3 parts discs from 7.1 px on; larger ones come at more."""
    apart = TOUCHING_PX if radius == 3 else (radius + 1) / 0.45
    for x in range(30):
        for y in range(x + 1):
            if math.hypot(x, y) > apart:
                mask = np.zeros((80, 80), np.uint8)
                for corner in ((20, 20), (20 + x, 20 + y)):
                    cv2.circle(mask, corner, radius, 255, cv2.FILLED)
                assert cv2.connectedComponents(mask)[0] - 1 == 2
    mask = np.zeros((80, 80), np.uint8)
    for corner in ((20, 20), (27, 21)):
        cv2.circle(mask, corner, 3, 255, cv2.FILLED)
    assert cv2.connectedComponents(mask)[0] - 1 == 1


@pytest.mark.parametrize(
    ("colour", "counts"), [((200, 20, 20), 4), ((224, 31, 0), 4), ((226, 29, 29), 0)]
)
def test_dots_on_red_are_seen_where_the_red_differs_by_more_than_the_gate(colour, counts):
    """A scene of nearly the colour of the dots hides them: that is the interface, not a model."""
    picture = np.full((480, 640, 3), colour, np.uint8)
    points = np.array([(100, 100), (500, 100), (100, 400), (500, 400)])
    sample = points_sample(points, picture)
    assert travel(sample, "pixmo_points").prediction.count == counts


def test_scenes_are_counted_exactly_also_the_red_ones():
    samples = scene_samples("counting", range(10), width=384, height=288)
    assert any("red" in tag for sample in samples for tag in sample.tags)
    assert {counted(sample, "scenes_counting") for sample in samples} == {(0, 1.0)}
