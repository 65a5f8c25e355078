"""Angles between normals on exact shapes: a plane, a sphere, each convention of the answer form."""

import numpy as np
import pytest

from gensight import images
from gensight.errors import GensightError
from gensight.measures import normal_angle
from gensight.records import Prediction, Sample


def sphere(size=64):
    """Normals of a sphere seen from afar (x right, y up, z to the viewer), NaN beside it."""
    rows, columns = np.mgrid[:size, :size]
    x, y = (columns - size / 2 + 0.5) / (size / 2), -(rows - size / 2 + 0.5) / (size / 2)
    outside = x**2 + y**2 > 0.95
    z = np.sqrt(np.where(outside, np.nan, 1 - x**2 - y**2))
    return np.dstack([x, y, z])


def tilted(degrees, size=8):
    angle = np.radians(degrees)
    return np.tile([np.sin(angle), 0.0, np.cos(angle)], (size, size, 1))


def painted(normals, levels=255):
    return np.rint((np.nan_to_num(normals) + 1) / 2 * levels)


def sample_of(normals, valid=None):
    height, width = normals.shape[:2]
    return Sample(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        image={"bytes": b"", "path": None},
        width=width,
        height=height,
        target_normals=images.encode_array(normals.astype(np.float32)),
        valid_mask=None if valid is None else images.encode_mask(valid),
    )


def prediction_of(colour):
    return Prediction(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        variant="normals",
        status="ok",
        outcome="ok",
        normals={"bytes": images.encode_png(colour), "path": None},
    )


def measured(colour, normals, settings=None, valid=None):
    return normal_angle.measure(prediction_of(colour), sample_of(normals, valid), settings or {})[
        None
    ]


@pytest.mark.parametrize(
    ("dtype", "levels", "limit"), [(np.uint8, 255, 0.3), (np.uint16, 65535, 2e-3)]
)
def test_true_picture_is_as_good_as_its_levels(dtype, levels, limit):
    parts = measured(painted(sphere(), levels).astype(dtype), sphere())
    assert parts["mean_angle_deg"] < limit
    assert parts["within_11"] == 1.0
    assert parts["n_valid"] == np.isfinite(sphere()).all(axis=2).sum()


@pytest.mark.parametrize(
    ("degrees", "within"),
    [(5, (1, 1, 1)), (15, (0, 1, 1)), (25, (0, 0, 1)), (60, (0, 0, 0))],
)
def test_tilted_plane(degrees, within):
    flat = painted(tilted(0)).astype(np.uint8)
    parts = measured(flat, tilted(degrees))
    assert parts["mean_angle_deg"] == pytest.approx(degrees, abs=0.4)
    assert parts["median_angle_deg"] == pytest.approx(degrees, abs=0.4)
    assert (parts["within_11"], parts["within_22"], parts["within_30"]) == within


@pytest.mark.parametrize("axis", range(3))
def test_answer_form_names_the_direction_of_each_channel(axis):
    name, other = [("red", "left"), ("green", "down"), ("blue", "away")][axis]
    flipped = sphere()
    flipped[..., axis] *= -1
    settings = {"answer_form": {"kind": "normals", name: other}}
    assert measured(painted(flipped).astype(np.uint8), sphere(), settings)["mean_angle_deg"] < 0.3
    assert measured(painted(flipped).astype(np.uint8), sphere())["mean_angle_deg"] > 30


def test_picture_of_another_size_is_brought_to_the_truth():
    parts = measured(painted(tilted(40, 32)).astype(np.uint8), tilted(40, 8))
    assert parts["mean_angle_deg"] < 0.4


def test_invalid_pixels_take_no_part():
    true = tilted(0)
    true[0], true[1] = np.nan, 0.0
    valid = np.ones((8, 8), bool)
    valid[2] = False
    colour = painted(tilted(0)).astype(np.uint8)
    colour[:3] = 0
    parts = measured(colour, true, valid=valid)
    assert parts["n_valid"] == 5 * 8
    assert parts["mean_angle_deg"] < 0.4


@pytest.mark.parametrize(
    ("predicted", "true", "expected"),
    [
        ((0, 0, 1), (0, 0, 1), 0),
        ((0, 0, 3), (0, 0, -2), 180),
        ((1, 0, 0), (0, 1, 0), 90),
        ((0, 0, 0), (0, 0, 1), 90),
        ((1e-4, 0, 1), (0, 0, 1), np.degrees(1e-4)),
    ],
)
def test_angles(predicted, true, expected):
    pair = (np.array([vector], float) for vector in (predicted, true))
    assert normal_angle.angles_deg(*pair)[0] == pytest.approx(expected, rel=1e-6)


def test_failed_answer_faces_the_viewer():
    parts = normal_angle.failed(sample_of(tilted(40)), {})[None]
    assert parts["mean_angle_deg"] == pytest.approx(40, abs=1e-4)
    assert parts["within_30"] == 0.0


def test_without_valid_truth_there_is_none():
    columns = {"sample_id": "s", "rank": 0, "cluster_id": "c", "image": {}, "width": 4, "height": 4}
    prediction = prediction_of(np.zeros((4, 4, 3), np.uint8))
    for sample in (Sample(**columns), sample_of(np.zeros((4, 4, 3)))):
        assert normal_angle.failed(sample, {}) is None
        assert normal_angle.measure(prediction, sample, {}) is None


def test_unknown_direction_names_the_allowed_ones():
    with pytest.raises(GensightError, match="right, left, up"):
        measured(np.zeros((8, 8, 3), np.uint8), tilted(0), {"answer_form": {"red": "east"}})
