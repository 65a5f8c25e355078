"""Solids: five shapes in canonical coordinates, placed by a scale, a yaw and a centre.

Each shape lies in the canonical box given by its extents; a ray parameter does not change under
an affine map, so intersections are exact and in world units. Directions are as long as one wants:
the returned parameter multiplies them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

EPSILON = 1e-9
CAPSULE_RADIUS = 0.5
CAPSULE_HALF_LENGTH = 0.5
CORNER_SIGNS = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, 8)

Interval = tuple[np.ndarray, np.ndarray]


def _roots(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Interval:
    """Return both roots of a t^2 + 2 b t + c, ordered for a > 0; (inf, -inf) where none is real."""
    a = np.where(np.abs(a) < EPSILON, EPSILON, a)
    discriminant = b * b - a * c
    root = np.sqrt(np.maximum(discriminant, 0.0))
    real = discriminant >= 0
    return np.where(real, (-b - root) / a, np.inf), np.where(real, (-b + root) / a, -np.inf)


def _slab(o: np.ndarray, d: np.ndarray, half: float) -> Interval:
    """Return where a ray is between the planes -half and +half of one axis."""
    inverse = 1.0 / np.where(np.abs(d) < EPSILON, EPSILON, d)
    first, second = (-half - o) * inverse, (half - o) * inverse
    return np.minimum(first, second), np.maximum(first, second)


def _entry(*intervals: Interval) -> np.ndarray:
    """Return where a ray enters the intersection of convex sets; inf if it never does."""
    enter = np.maximum.reduce([near for near, _ in intervals])
    leave = np.minimum.reduce([far for _, far in intervals])
    return np.where((enter < leave) & (enter > EPSILON), enter, np.inf)


def _round(o: np.ndarray, d: np.ndarray, radius: float) -> Interval:
    """Return where a ray is inside the upright cylinder of this radius."""
    return _roots(
        d[0] * d[0] + d[2] * d[2], o[0] * d[0] + o[2] * d[2], o[0] * o[0] + o[2] * o[2] - radius**2
    )


def _ball(o: np.ndarray, d: np.ndarray, radius: float, y: float) -> Interval:
    h = o[1] - y
    return _roots(
        d[0] * d[0] + d[1] * d[1] + d[2] * d[2],
        o[0] * d[0] + h * d[1] + o[2] * d[2],
        o[0] * o[0] + h * h + o[2] * o[2] - radius**2,
    )


def hit_sphere(o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """First hit of the unit sphere."""
    return _entry(_ball(o, d, 1.0, 0.0))


def hit_box(o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """First hit of the cube from -1 to +1."""
    return _entry(*(_slab(o[axis], d[axis], 1.0) for axis in range(3)))


def hit_cylinder(o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """First hit of the upright cylinder of radius 1 from y = -1 to +1."""
    return _entry(_round(o, d, 1.0), _slab(o[1], d[1], 1.0))


def hit_cone(o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """First hit of the cone with apex at y = +1 and a base of radius 1 at y = -1."""
    height, slope = (1.0 - o[1]) / 2, -d[1] / 2
    mantle = _roots(
        d[0] * d[0] + d[2] * d[2] - slope * slope,
        o[0] * d[0] + o[2] * d[2] - height * slope,
        o[0] * o[0] + o[2] * o[2] - height * height,
    )
    first = np.full(np.broadcast(o[0], d[0]).shape, np.inf)
    for root in mantle:
        # Infinite roots are misses; the second nappe (y > 1) is no part of the solid.
        t = np.where(np.isfinite(root) & (root > EPSILON), root, 0.0)
        on_mantle = (t > 0) & (np.abs(o[1] + t * d[1]) <= 1.0)
        first = np.minimum(first, np.where(on_mantle, t, np.inf))
    base = (-1.0 - o[1]) / np.where(np.abs(d[1]) < EPSILON, EPSILON, d[1])
    x, z = o[0] + base * d[0], o[2] + base * d[2]
    on_base = (base > EPSILON) & (x * x + z * z <= 1.0)
    return np.minimum(first, np.where(on_base, base, np.inf))


def hit_capsule(o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """First hit of the capsule of radius 1/2 around the segment y = -1/2 to +1/2."""
    side = _entry(_round(o, d, CAPSULE_RADIUS), _slab(o[1], d[1], CAPSULE_HALF_LENGTH))
    top = _entry(_ball(o, d, CAPSULE_RADIUS, CAPSULE_HALF_LENGTH))
    bottom = _entry(_ball(o, d, CAPSULE_RADIUS, -CAPSULE_HALF_LENGTH))
    return np.minimum(side, np.minimum(top, bottom))


def _normal_box(p: np.ndarray) -> np.ndarray:
    face = np.argmax(np.abs(p), axis=0)
    return np.where(np.arange(3).reshape((3,) + (1,) * (p.ndim - 1)) == face, np.sign(p), 0.0)


def _normal_cylinder(p: np.ndarray) -> np.ndarray:
    on_side = np.hypot(p[0], p[2]) - 1.0 > np.abs(p[1]) - 1.0
    zero = np.zeros_like(p[0])
    side, cap = np.stack([p[0], zero, p[2]]), np.stack([zero, np.sign(p[1]), zero])
    return np.where(on_side, side, cap)


def _normal_cone(p: np.ndarray) -> np.ndarray:
    radius = np.hypot(p[0], p[2])
    on_base = np.abs(p[1] + 1.0) < np.abs(radius - (1.0 - p[1]) / 2)
    safe = np.maximum(radius, EPSILON)
    zero = np.zeros_like(radius)
    mantle = np.stack([p[0] / safe, zero + 0.5, p[2] / safe])
    return np.where(on_base, np.stack([zero, zero - 1.0, zero]), mantle)


def _normal_capsule(p: np.ndarray) -> np.ndarray:
    core = np.clip(p[1], -CAPSULE_HALF_LENGTH, CAPSULE_HALF_LENGTH)
    return np.stack([p[0], p[1] - core, p[2]])


@dataclass(frozen=True)
class Shape:
    """A shape in canonical coordinates.

    `hit` and `normal` (of any length) are functions; `extents` bound it, `reach` is its point
    farthest from the centre, `volume` its volume.
    """

    hit: Callable[[np.ndarray, np.ndarray], np.ndarray]
    normal: Callable[[np.ndarray], np.ndarray]
    extents: tuple[float, float, float]
    volume: float
    reach: tuple[float, float, float]


SHAPES: dict[str, Shape] = {
    "sphere": Shape(hit_sphere, lambda p: p, (1.0, 1.0, 1.0), 4 / 3 * np.pi, (1.0, 0.0, 0.0)),
    "box": Shape(hit_box, _normal_box, (1.0, 1.0, 1.0), 8.0, (1.0, 1.0, 1.0)),
    "cylinder": Shape(hit_cylinder, _normal_cylinder, (1.0, 1.0, 1.0), 2 * np.pi, (1.0, 1.0, 0.0)),
    "cone": Shape(hit_cone, _normal_cone, (1.0, 1.0, 1.0), 2 / 3 * np.pi, (1.0, 1.0, 0.0)),
    "capsule": Shape(
        hit_capsule, _normal_capsule, (0.5, 1.0, 0.5), np.pi * (1 / 4 + 1 / 6), (0.0, 1.0, 0.0)
    ),
}


@dataclass(frozen=True)
class Solid:
    """A shape in the world: `centre` (3,) and `scale` (3,) in metres, `yaw` in radians."""

    shape: str
    centre: np.ndarray
    scale: np.ndarray
    yaw: float

    @property
    def volume_m3(self) -> float:
        """Volume in cubic metres."""
        return SHAPES[self.shape].volume * float(np.prod(self.scale))

    @property
    def half_height(self) -> float:
        """Half the height, in metres."""
        return SHAPES[self.shape].extents[1] * float(self.scale[1])

    @cached_property
    def radius(self) -> float:
        """Radius of a ball around the centre that holds the solid, in metres."""
        return float(np.linalg.norm(np.asarray(SHAPES[self.shape].reach) * self.scale))

    @cached_property
    def corners(self) -> np.ndarray:
        """The corners (3, 8) of its box; the solid lies in their convex hull."""
        local = CORNER_SIGNS * (np.asarray(SHAPES[self.shape].extents) * self.scale)[:, None]
        return self._turn(local, self.yaw) + self.centre[:, None]

    def intersect(self, origin: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return the ray parameter of the first hit, inf where the ray misses."""
        return SHAPES[self.shape].hit(self.local(origin), self._unscaled(directions))

    def local(self, points: np.ndarray) -> np.ndarray:
        """Return world points (3, ...) in canonical coordinates."""
        return self._unscaled(points - _column(self.centre, points))

    def normals(self, points: np.ndarray) -> np.ndarray:
        """Return outward unit normals (3, ...) at world points on the surface."""
        local = SHAPES[self.shape].normal(self.local(points)) / _column(self.scale, points)
        world = self._turn(local, self.yaw)
        length = np.sqrt(world[0] ** 2 + world[1] ** 2 + world[2] ** 2)
        return world / np.maximum(length, EPSILON)

    def _unscaled(self, vectors: np.ndarray) -> np.ndarray:
        return self._turn(vectors, -self.yaw) / _column(self.scale, vectors)

    @staticmethod
    def _turn(vectors: np.ndarray, angle: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        x, y, z = vectors
        return np.stack([c * x + s * z, y, c * z - s * x])


def _column(vector: np.ndarray, like: np.ndarray) -> np.ndarray:
    return vector.reshape((3,) + (1,) * (like.ndim - 1))
