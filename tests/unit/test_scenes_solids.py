"""Solids, room and camera against hand values and an independent point-membership test."""

from __future__ import annotations

import numpy as np
import pytest

from gensight.datasets.scenes.camera import Camera, pixel_grid, rays_through, rotation_of
from gensight.datasets.scenes.randomness import balanced, stream
from gensight.datasets.scenes.room import Room, draw_view, empty_room
from gensight.datasets.scenes.solids import SHAPES, Solid


def is_inside(shape, p):
    """Membership in the canonical solid, written without any intersection code."""
    x, y, z = p
    ring = x**2 + z**2
    if shape == "sphere":
        return ring + y**2 <= 1
    if shape == "box":
        return (abs(x) <= 1) & (abs(y) <= 1) & (abs(z) <= 1)
    if shape == "cylinder":
        return (ring <= 1) & (abs(y) <= 1)
    if shape == "cone":
        return (abs(y) <= 1) & (ring <= ((1 - y) / 2) ** 2)
    core = np.clip(y, -0.5, 0.5)
    return ring + (y - core) ** 2 <= 0.25


@pytest.mark.parametrize(
    ("shape", "origin", "direction", "expected"),
    [
        ("sphere", (0, 0, 5), (0, 0, -1), 4.0),
        ("sphere", (0, 0, 5), (0, 0, -2), 2.0),
        ("sphere", (0, 1.01, 5), (0, 0, -1), np.inf),
        ("sphere", (0, 0, 5), (0, 0, 1), np.inf),
        ("box", (0, 0, 5), (0, 0, -1), 4.0),
        ("box", (3, 0, 3), (-1, 0, -1), 2.0),
        ("cylinder", (0, 5, 0), (0, -1, 0), 4.0),
        ("cylinder", (0, 0, 5), (0, 0, -1), 4.0),
        ("cylinder", (0, 1.5, 5), (0, 0, -1), np.inf),
        ("cone", (0, 5, 0), (0, -1, 0), 4.0),
        ("cone", (0, -5, 0), (0, 1, 0), 4.0),
        ("cone", (0, 0, 5), (0, 0, -1), 4.5),
        ("cone", (0, 1.5, 5), (0, 0, -1), np.inf),
        ("capsule", (0, 5, 0), (0, -1, 0), 4.0),
        ("capsule", (0, 0, 5), (0, 0, -1), 4.5),
        ("capsule", (0.49, 0.9, 5), (0, 0, -1), np.inf),
    ],
)
def test_first_hit_by_hand(shape, origin, direction, expected):
    solid = Solid(shape, np.zeros(3), np.ones(3), 0.0)
    t = solid.intersect(np.array(origin, float), np.array(direction, float)[:, None])
    assert t[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_hits_and_normals_agree_with_membership(shape):
    """Just before a hit all is outside, just behind it is inside; a miss never is inside."""
    random = np.random.default_rng(7)
    scale = np.full(3, 0.8) if shape in ("sphere", "capsule") else np.array([0.7, 1.1, 0.7])
    solid = Solid(shape, np.array([0.3, -0.2, 0.4]), scale, 0.6)
    origin = np.array([0.5, 1.0, 6.0])
    targets = solid.centre[:, None] + random.uniform(-1.2, 1.2, (3, 400))
    directions = targets - origin[:, None]
    t = solid.intersect(origin, directions)
    hit = np.isfinite(t)
    assert 50 < hit.sum() < 390
    reached = origin[:, None] + directions[:, hit] * t[hit] - solid.centre[:, None]
    assert (np.linalg.norm(reached, axis=0) <= solid.radius + 1e-9).all()
    steps = np.linspace(0.0, 2.0, 2001)
    path = origin[:, None, None] + directions[:, :, None] * steps
    inside = is_inside(shape, solid.local(path.reshape(3, -1))).reshape(400, -1)
    # Grazing chords may fall between two samples of the path, so only clear misses are judged.
    assert not inside[~hit].any()
    before = steps[None] < t[:, None] - 1e-9
    assert not (inside & before).any()
    points = origin[:, None] + directions[:, hit] * t[hit]
    normals = solid.normals(points)
    np.testing.assert_allclose((normals**2).sum(axis=0), 1.0, atol=1e-9)
    assert ((normals * directions[:, hit]).sum(axis=0) < 1e-9).all()
    assert is_inside(shape, solid.local(points - 1e-6 * normals)).all()
    assert not is_inside(shape, solid.local(points + 1e-6 * normals)).any()


@pytest.mark.parametrize("shape", SHAPES)
def test_volume_by_sampling(shape):
    solid = Solid(shape, np.zeros(3), np.array([0.5, 0.9, 0.5]), 0.2)
    random = np.random.default_rng(3)
    share = is_inside(shape, random.uniform(-1, 1, (3, 200_000))).mean()
    assert solid.volume_m3 == pytest.approx(share * 8 * np.prod(solid.scale), rel=0.02)


def test_solid_lies_in_its_window():
    """Casting a solid over the whole picture finds nothing outside its window."""
    camera = Camera(np.array([0.0, 1.0, 0.0]), rotation_of(12, 8, -7), 130.0, 160, 120)
    rays = pixel_grid(camera)
    for shape in SHAPES:
        solid = Solid(shape, np.array([0.4, 0.8, -3.0]), np.full(3, 0.6), 0.9)
        hit = np.isfinite(solid.intersect(camera.position, rays.directions))
        window = camera.window(solid.corners)
        outside = hit.copy()
        outside[window.slices] = False
        assert hit.sum() > 100
        assert not outside.any()


def test_camera_axes():
    """At rest x is right, y up; pitch looks down; roll turns the picture; z-depth is exact."""
    level = Camera(np.zeros(3), rotation_of(0, 0, 0), 100.0, 101, 81)
    u, v, depth = level.project(np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, -2.0]]))
    np.testing.assert_allclose(u, [100.0, 50.0])
    np.testing.assert_allclose(v, [40.0, -10.0])
    np.testing.assert_allclose(depth, [2.0, 2.0])
    down = Camera(np.zeros(3), rotation_of(0, 30, 0), 100.0, 101, 81)
    assert down.directions(np.array([50.0]), np.array([40.0]))[1, 0] < 0
    turned = Camera(np.array([0.2, 1.0, 0.1]), rotation_of(20, 10, 8), 90.0, 64, 48)
    u, v = np.array([3.0, 60.5]), np.array([40.25, 7.0])
    points = turned.position[:, None] + 2.5 * rays_through(turned, u, v).directions
    for found, expected in zip(turned.project(points), (u, v, np.full(2, 2.5)), strict=True):
        np.testing.assert_allclose(found, expected)


def test_room_depth_is_the_first_wall():
    room = Room(np.array([-2.0, 0.0, -6.0]), np.array([3.0, 2.5, 1.0]))
    directions = np.array([[0, 0, -1], [1, 0, -1], [0, -1, -1], [0, 1, -1]], float).T
    depth, face = room.intersect(np.array([0.0, 1.0, 0.0]), directions)
    np.testing.assert_allclose(depth, [6.0, 3.0, 1.0, 1.5])
    assert face.tolist() == [4, 1, 2, 3]
    np.testing.assert_allclose(room.normals(face)[:, 0], [0, 0, 1])


@pytest.mark.parametrize("ratio", [4, 10, 30])
def test_empty_rooms_have_the_depth_ratio(ratio):
    for index in range(4):
        view = draw_view(stream("test", index), "room", 160, 120, ratio)
        _, depth, _ = empty_room(view)
        assert depth.max() / depth.min() == pytest.approx(ratio, rel=0.05)


def test_balanced_uses_every_value_once_per_block():
    values = tuple("abcdefg")
    drawn = [balanced(values, index, "seed", 1) for index in range(21)]
    for block in range(3):
        assert sorted(drawn[7 * block : 7 * block + 7]) == list(values)
    assert drawn[:7] != drawn[7:14]
    assert drawn[5] == balanced(values, 5, "seed", 1)
