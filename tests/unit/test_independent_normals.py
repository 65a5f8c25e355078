"""Normals once more: arccos of dot products, thresholds of 11.25, 22.5 and 30 degrees."""

from __future__ import annotations

import numpy as np
import pytest

from gensight import images, metrics
from gensight.measures import normal_angle
from gensight.records import Prediction, Sample

CONVENTIONS = (
    {"red": "right", "green": "up", "blue": "viewer"},
    {"red": "left", "green": "down", "blue": "viewer"},
    {"red": "up", "green": "right", "blue": "away"},
)
AXES = {"right": (0, 1), "left": (0, -1), "up": (1, 1), "down": (1, -1)}
AXES |= {"viewer": (2, 1), "away": (2, -1)}
SIZES = ((31, 47), (1, 5), (64, 20))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def truth_of(random, height, width):
    """Return true normals with holes of every kind, and a mask."""
    true = random.normal((0, 0, 1.5), 1, (height, width, 3))
    true = unit(true).astype(np.float32)
    true[random.random((height, width)) < 0.1] = 0
    true[random.random((height, width)) < 0.1] = np.nan
    return true, random.random((height, width)) < 0.8


def picture_of(random, true, form, bits):
    """Paint disturbed normals in the channels that the form names."""
    turned = unit(np.nan_to_num(true) + random.normal(0, 0.25, true.shape) + (0, 0, 1e-3))
    channels = [AXES[form[name]] for name in ("red", "green", "blue")]
    painted = np.stack([sign * turned[..., axis] for axis, sign in channels], axis=2)
    dtype = np.uint8 if bits == 8 else np.uint16
    return np.rint((painted + 1) / 2 * np.iinfo(dtype).max).astype(dtype)


def angles_by_hand(colour, true, mask, form):
    """Return the angle in degrees at every valid pixel, one pixel at a time."""
    found = []
    for row, column in np.argwhere(mask):
        normal = true[row, column].astype(float)
        if not np.isfinite(normal).all() or not normal.any():
            continue
        vector = np.zeros(3)
        for channel, name in enumerate(("red", "green", "blue")):
            axis, sign = AXES[form[name]]
            share = colour[row, column, channel] / np.iinfo(colour.dtype).max
            vector[axis] = sign * (2 * share - 1)
        cosine = vector @ normal / np.linalg.norm(vector) / np.linalg.norm(normal)
        found.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return np.array(found)


def measured(colour, true, mask, form):
    head = {"sample_id": "s", "rank": 0, "cluster_id": "c"}
    sample = Sample(
        **head,
        image={},
        width=true.shape[1],
        height=true.shape[0],
        target_normals=images.encode_array(true),
        valid_mask=images.encode_mask(mask),
    )
    stored = {"bytes": images.encode_png(colour), "path": None}
    prediction = Prediction(**head, variant="rgb", status="ok", outcome="ok", normals=stored)
    settings = {"answer_form": {"kind": "normals", **form}}
    parts = normal_angle.measure(prediction, sample, settings)
    return None if parts is None else parts[None]


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("form", CONVENTIONS)
def test_angles_are_those_of_dot_products(bits, form):
    random = np.random.default_rng(bits)
    parts, by_hand = [], []
    for size in SIZES:
        true, mask = truth_of(random, *size)
        colour = picture_of(random, true, form, bits)
        parts.append(measured(colour, true, mask, form))
        by_hand.append(angles_by_hand(colour, true, mask, form))
        assert parts[-1]["n_valid"] == len(by_hand[-1])
    expected = {
        "mean_angle": np.mean([angles.mean() for angles in by_hand]),
        "median_angle": np.mean([np.median(angles) for angles in by_hand]),
        "within_11": 100 * np.mean([np.mean(angles < 11.25) for angles in by_hand]),
        "within_22": 100 * np.mean([np.mean(angles < 22.5) for angles in by_hand]),
        "within_30": 100 * np.mean([np.mean(angles < 30) for angles in by_hand]),
    }
    for name, value in expected.items():
        metric = metrics.load(name)
        columns = {key: [one[key] for one in parts] for key in parts[0]}
        assert metric.aggregate(columns) == pytest.approx(value, rel=1e-5), name
    assert 10 < expected["within_11"] < expected["within_30"] < 100


def test_a_larger_answer_is_averaged_as_vectors():
    """Two by two vectors of unit length are added up; a mean of colours would weigh them."""
    random = np.random.default_rng(5)
    true, mask = truth_of(random, 20, 30)
    colour = picture_of(random, np.kron(true, np.ones((2, 2, 1), np.float32)), CONVENTIONS[0], 8)
    vectors = unit(2 * (colour / 255) - 1)
    mean = vectors.reshape(20, 2, 30, 2, 3).mean(axis=(1, 3))
    known = mask & np.isfinite(true).all(axis=2) & (np.nan_to_num(true) != 0).any(axis=2)
    cosine = (unit(mean)[known] * true[known]).sum(axis=1)
    angles = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    parts = measured(colour, true, mask, CONVENTIONS[0])
    assert parts["mean_angle_deg"] == pytest.approx(angles.mean(), rel=1e-4)
    assert parts["within_22"] == pytest.approx(np.mean(angles < 22.5), abs=0.005)
