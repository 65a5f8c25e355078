"""Truth of finished scenes against a second caster without windows, buffers or increments."""

from __future__ import annotations

import numpy as np
import pytest

from gensight.datasets.scenes.parameters import locate, parse
from gensight.datasets.scenes.room import MAX_DEPTH_M, MIN_DEPTH_M
from gensight.datasets.scenes.scene import build
from gensight.datasets.scenes.stage import visible_threshold

CASES = [
    ("segmentation", {"knobs": {"occlusion": "heavy"}}, 0),
    ("segmentation", {"split": "ood"}, 2),
    ("segmentation", {"knobs": {"occlusion": "none", "depth_ratio": 4}}, 4),
    ("counting", {}, 0),
    ("counting", {"split": "ood"}, 3),
    ("counting", {"knobs": {"objects": 60, "count": 12}}, 1),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[2]}")
def case(request):
    task, extra, rank = request.param
    parameters = parse({"task": task, **extra})
    address = locate(parameters, rank)
    return build(parameters, address.scene, address.knobs), address.knobs


def cast_alone(stage, label):
    return stage.solids[label].intersect(stage.camera.position, stage.rays.directions)


def test_depth_and_ids_equal_a_full_cast(case):
    scene, _ = case
    stage = scene.layout.stage
    depth, owner = stage.room_depth.copy(), np.zeros(stage.depth.shape, int)
    for label in stage.solids:
        t = cast_alone(stage, label)
        owner[t < depth] = label
        depth = np.minimum(depth, t)
    np.testing.assert_array_equal(depth.astype(np.float32), scene.depth_m)
    np.testing.assert_array_equal(owner, stage.owner)


def test_no_grey_zone(case):
    """PROTOCOLS 4.1: each thing has v >= max(200, 0.15 %) and r >= 0.35; none is in between."""
    scene, knobs = case
    stage = scene.layout.stage
    height, width = stage.depth.shape
    threshold = max(200, 0.0015 * width * height)
    assert visible_threshold(width, height) >= threshold
    for label, mask in enumerate(scene.silhouettes, start=1):
        amodal = int(np.isfinite(cast_alone(stage, label)).sum())
        assert mask.sum() >= threshold
        assert mask.sum() >= 0.35 * amodal
        assert amodal == stage.amodal[label]
        if knobs["occlusion"] == "none":
            assert mask.sum() >= 0.97 * amodal


def test_things_do_not_touch(case):
    stage = case[0].layout.stage
    things = [solid for label, solid in stage.solids.items() if label > 0]
    for i, one in enumerate(things):
        for other in things[:i]:
            assert np.linalg.norm(one.centre - other.centre) > one.radius + other.radius
        assert stage.room.holds(one.corners, 0.0)


def test_depth_ratio_and_range(case):
    scene, knobs = case
    depth = scene.depth_m
    assert depth.max() / depth.min() == pytest.approx(knobs["depth_ratio"], rel=0.15)
    assert depth.min() > MIN_DEPTH_M
    assert depth.max() < MAX_DEPTH_M


def test_normals_face_the_viewer_and_follow_the_depth(case):
    """On smooth surfaces the normal is the cross product of neighbouring points' differences."""
    scene, _ = case
    stage = scene.layout.stage
    normals = scene.normals().astype(float)
    np.testing.assert_allclose((normals**2).sum(axis=2), 1.0, atol=1e-5)
    height, width = stage.depth.shape
    x = (np.arange(width) - (width - 1) / 2)[None] / stage.camera.focal_px
    y = ((height - 1) / 2 - np.arange(height))[:, None] / stage.camera.focal_px
    z = stage.depth
    points = np.stack([x * z, y * z, -z], axis=2)
    assert ((normals * points).sum(axis=2) < 1e-6).all()
    across, down = points[1:-1, 2:] - points[1:-1, :-2], points[:-2, 1:-1] - points[2:, 1:-1]
    numeric = np.cross(across, down)
    numeric /= np.linalg.norm(numeric, axis=2, keepdims=True)
    agreement = (numeric * normals[1:-1, 1:-1]).sum(axis=2)
    inner = np.ones(agreement.shape, bool)
    for axis, shift in ((0, 1), (0, -1), (1, 1), (1, -1)):
        inner &= np.roll(stage.owner, shift, axis)[1:-1, 1:-1] == stage.owner[1:-1, 1:-1]
        inner &= np.roll(stage.face, shift, axis)[1:-1, 1:-1] == stage.face[1:-1, 1:-1]
    # Rims of cylinders and edges of boxes lie inside one label: a small share.
    assert np.mean(agreement[inner] > 0.999) > 0.97
    assert np.median(agreement[inner & (stage.owner[1:-1, 1:-1] == 0)]) > 1 - 1e-6


def test_shadows_are_hard_and_on_the_far_side_of_the_light(case):
    """A floor point is dark iff the straight way to the light is blocked by some solid."""
    from gensight.datasets.scenes.raycaster import Hits, World, points_of, shadows_of

    scene, _ = case
    stage = scene.layout.stage
    world = World(stage.camera, stage.room, stage.solids, scene.to_light)
    hits = Hits(stage.rays, stage.depth, stage.owner, stage.face)
    points = points_of(world, hits)
    dark = shadows_of(world, hits, points)
    rows, columns = np.nonzero(stage.owner == 0)
    picked = np.random.default_rng(0).integers(0, rows.size, 600)
    rows, columns = rows[picked], columns[picked]
    starts = points[:, rows, columns] + 1e-4 * scene.to_light[:, None]
    blocked = np.zeros(600, bool)
    for solid in stage.solids.values():
        blocked |= np.isfinite(solid.intersect(starts, scene.to_light[:, None]))
    np.testing.assert_array_equal(dark[rows, columns], blocked)
    assert blocked.any()
