"""What counts as truth: each rule against a table of its cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gensight import images
from gensight.records import Sample
from gensight.truths import known_normals, true_count, truth_of, valid_depth

POINT = {"x": 1.0, "y": 2.0}


def sample(**truth):
    picture = {"bytes": b"", "path": None}
    facts = {"rank": 0, "cluster_id": "c", "image": picture, "width": 8, "height": 1}
    return Sample(sample_id="one", **facts, **truth)


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        ({}, "0.1 1 2 50"),
        ({"min_depth_m": 1.0}, "1 2 50"),
        ({"max_depth_m": 2.0}, "0.1 1 2"),
        ({"min_depth_m": 1.0, "max_depth_m": 10.0}, "1 2"),
        ({"valid_mask": [0, 0, 0, 1, 1, 1, 1, 1]}, "0.1 1 2 50"),
        ({"valid_mask": [1, 1, 1, 1, 1, 1, 0, 0], "max_depth_m": 1.0}, "0.1 1"),
        ({"valid_mask": [1, 1, 1, 0, 0, 0, 0, 1]}, ""),
    ],
)
def test_depth_counts_where_it_is_finite_positive_in_range_and_valid(truth, expected):
    depth_m = np.array([[-1, 0, math.nan, 0.1, 1, 2, 50, math.inf]], np.float32)
    if "valid_mask" in truth:
        mask = np.array([truth["valid_mask"]], bool)
        truth = truth | {"valid_mask": images.encode_mask(mask)}
    valid = valid_depth(sample(**truth), depth_m)
    assert valid.dtype == bool
    assert " ".join(f"{metres:g}" for metres in depth_m[valid]) == expected


def test_a_range_may_limit_predictions_only():
    depth_m = np.array([[0.0, 0.5, 2.0, 9.0, math.inf]], np.float32)
    limited = sample(min_depth_m=1.0, max_depth_m=5.0)
    assert valid_depth(limited, depth_m).tolist() == [[False, False, True, False, False]]
    free = valid_depth(limited, depth_m, caps_limit_truth=False)
    assert free.tolist() == [[False, True, True, True, False]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("normal", "known"),
    [
        ((0, 0, 1), True),
        ((0.5, -0.5, 0), True),
        ((1e-30, 0, 0), True),
        ((1e30, 1e30, 0), True),
        ((0, 0, 0), False),
        ((0, math.nan, 1), False),
        ((0, -math.inf, 1), False),
    ],
)
def test_normals_count_where_they_are_finite_and_not_zero(normal, known, dtype):
    normals = np.array([[normal, (0, 0, 1), (0, 0, 1)]], dtype)
    mask = images.encode_mask(np.array([[True, False, True]]))
    assert known_normals(sample(), normals).tolist() == [[known, True, True]]
    assert known_normals(sample(valid_mask=mask), normals).tolist() == [[known, False, True]]


@pytest.mark.parametrize(
    ("truth", "count"),
    [
        ({}, None),
        ({"target_count": 0}, 0),
        ({"target_count": 7}, 7),
        ({"target_points": []}, 0),
        ({"target_points": [POINT, POINT]}, 2),
        ({"target_count": 7, "target_points": [POINT]}, 7),
    ],
)
def test_a_count_is_stated_or_follows_from_the_points(truth, count):
    assert true_count(sample(**truth)) == truth_of(sample(**truth), "target_count") == count
    assert truth_of(sample(**truth), "target_points") == truth.get("target_points")
