"""The angle between predicted and true surface normals.

Protocol. ProbeGen 4.6 asks for a picture whose channels hold the normal and leaves the convention
open; the prompt's answer form declares it (camera frame, x right, y up, z to the viewer by
default; each axis goes from -1..1 to 0..255). The picture is brought to the grid of the truth as
vectors, then normalised. Errors are those of the surface-normal literature: mean and median angle,
share of pixels within 11.25, 22.5 and 30 degrees (Eigen and Fergus, ICCV 2015), per picture.

Valid pixels have a finite true normal of non-zero length and lie in `valid_mask`. A predicted
vector of length zero says nothing and is taken to be perpendicular (90 degrees).

Failure `viewer_facing`: the constant normal (0, 0, 1), which carries no information.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.measures import Parts, PartsByFit, complete, required
from gensight.records import Prediction, Sample
from gensight.truths import DIRECTIONS, known_normals

VERSION = 1
FAILURE_POLICIES = ("viewer_facing",)
DEFAULTS: dict[str, Any] = {"failure": "viewer_facing"}
VIEWER = (0.0, 0.0, 1.0)
DEFAULT_FORM = {"red": "right", "green": "up", "blue": "viewer"}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare the predicted normals with the true ones; None without a valid pixel.

    Parts: mean_angle_deg, median_angle_deg, within_11, within_22, within_30 (shares), n_valid.
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    picture = required(prediction.normals, sample.sample_id, "normals", "normals")
    colour = images.decode_colour(picture["bytes"], matte=(0, 0, 0), orient=False)
    return _measure(normals_of(colour, checked.get("answer_form", {})), sample)


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Give a failed answer the angles of a constant normal to the viewer."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return _measure(np.array([[VIEWER]], np.float32), sample)


def normals_of(colour: np.ndarray, answer_form: Mapping[str, Any]) -> np.ndarray:
    """Read a picture (H, W, 3) of uint8 or uint16 as camera-frame vectors, float32 (H, W, 3).

    >>> normals_of(np.array([[[255, 0, 255]]], np.uint8), {"green": "down"}).tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    vectors = np.zeros(colour.shape, np.float32)
    half = np.iinfo(colour.dtype).max / 2
    for channel, (name, default) in enumerate(DEFAULT_FORM.items()):
        direction = answer_form.get(name, default)
        if direction not in DIRECTIONS:
            allowed = ", ".join(DIRECTIONS)
            raise SpecError(f"answer_form.{name}: '{direction}' is not known; allowed: {allowed}")
        axis, sign = DIRECTIONS[direction]
        vectors[..., axis] = sign * (colour[..., channel] / half - 1)
    return vectors


def angles_deg(predicted: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Return the angles in degrees between vectors (n, 3) of any length; 90 for a zero vector.

    >>> angles_deg(np.array([[0.0, 0, 2], [1, 0, 1]]), np.array([[0.0, 0, 1], [0, 0, 1]])).tolist()
    [0.0, 45.0]
    """
    # atan2 keeps small angles, which arccos of a rounded cosine loses.
    sine = _lengths(np.cross(predicted, true))
    cosine = np.einsum("ij,ij->i", predicted, true)
    angles = np.degrees(np.arctan2(sine, cosine))
    return np.where((sine == 0) & (cosine == 0), 90.0, angles)


def angle_parts(angles: np.ndarray) -> Parts:
    """Return the statistics of angles in degrees, (n,) with n at least 1."""
    shares = {"within_11": 11.25, "within_22": 22.5, "within_30": 30.0}
    return {
        "mean_angle_deg": float(angles.mean()),
        "median_angle_deg": float(np.median(angles)),
        **{name: float(np.mean(angles < limit)) for name, limit in shares.items()},
        "n_valid": float(angles.size),
    }


def _measure(predicted: np.ndarray, sample: Sample) -> PartsByFit | None:
    if sample.target_normals is None:
        return None
    true = images.decode_array(sample.target_normals).astype(np.float64)
    height, width = true.shape[:2]
    valid = known_normals(sample, true)
    if not valid.any():
        return None
    unit = _normalised(predicted.astype(np.float64))
    placed = np.dstack(
        [images.resize_depth(unit[..., axis].copy(), width, height) for axis in range(3)]
    )
    return {None: angle_parts(angles_deg(placed[valid], true[valid]))}


def _normalised(vectors: np.ndarray) -> np.ndarray:
    length = _lengths(vectors)[..., np.newaxis]
    return vectors / np.where(length > 0, length, 1.0)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    # numpy.linalg.norm along an axis of three takes four times as long.
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
