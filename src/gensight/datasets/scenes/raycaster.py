"""Casting rays into a finished scene: what they hit, its normal, and hard shadows.

The same code serves the pixel grid (truth) and lists of sub-pixel rays (anti-aliased edges).
Every solid is tried only inside the window of its projected box.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gensight.datasets.scenes.camera import Camera, Rays, Window
from gensight.datasets.scenes.room import Room
from gensight.datasets.scenes.solids import Solid

SHADOW_START = 1e-4


@dataclass(frozen=True)
class World:
    """A room with its solids by label (see `Stage`) and the unit vector towards the light."""

    camera: Camera
    room: Room
    solids: dict[int, Solid]
    to_light: np.ndarray

    @cached_property
    def windows(self) -> dict[int, Window]:
        """Where each solid can be seen."""
        return {label: self.camera.window(solid.corners) for label, solid in self.solids.items()}

    @cached_property
    def shadow_windows(self) -> dict[int, Window]:
        """Where each solid's shadow can be seen.

        It lies in the hull of the solid's box and of this box moved along the light to the floor.
        """
        windows = {}
        for label, solid in self.solids.items():
            reach = solid.corners[1].max() / self.to_light[1]
            moved = solid.corners - reach * self.to_light[:, None]
            windows[label] = self.camera.window(np.concatenate([solid.corners, moved], axis=1))
        return windows


@dataclass(frozen=True)
class Hits:
    """What rays hit: z-depth, label, face of the room (where the label is 0); shape of the rays."""

    rays: Rays
    depth: np.ndarray
    owner: np.ndarray
    face: np.ndarray

    @property
    def directions(self) -> np.ndarray:
        """World directions (3, ...), z-depth 1 long."""
        return self.rays.directions


def cast(world: World, rays: Rays) -> Hits:
    """Return the first hit of every ray; every ray hits, since the room is closed."""
    origin = world.camera.position
    depth, face = world.room.intersect(origin, rays.directions)
    owner = np.zeros(depth.shape, np.int16)
    for label, solid in world.solids.items():
        index = rays.select(world.windows[label])
        t = solid.intersect(origin, rays.directions[:, *index])
        closer = t < depth[index]
        depth[index] = np.where(closer, t, depth[index])
        owner[index] = np.where(closer, np.int16(label), owner[index])
    return Hits(rays, depth, owner, face)


def points_of(world: World, hits: Hits) -> np.ndarray:
    """Return the world points (3, ...) of hits."""
    shape = (3,) + (1,) * hits.depth.ndim
    return world.camera.position.reshape(shape) + hits.depth * hits.directions


def parts_of(world: World, hits: Hits) -> Iterator[tuple[int, Solid, tuple[np.ndarray, ...]]]:
    """Yield (label, solid, index of its visible hits) for every solid that is seen."""
    for label, solid in world.solids.items():
        index = hits.rays.select(world.windows[label])
        inside = np.nonzero(hits.owner[index] == label)
        if not inside[0].size:
            continue
        if hits.owner.ndim == 2:
            rows, columns = index
            yield label, solid, (inside[0] + rows.start, inside[1] + columns.start)
        else:
            yield label, solid, (index[0][inside[0]],)


def normals_of(world: World, hits: Hits, points: np.ndarray) -> np.ndarray:
    """Return the outward unit normals (3, ...) of hits in world axes."""
    normals = world.room.normals(hits.face)
    for _, solid, index in parts_of(world, hits):
        normals[:, *index] = solid.normals(points[:, *index])
    return normals


def shadows_of(world: World, hits: Hits, points: np.ndarray) -> np.ndarray:
    """Return whether hits lie in the hard shadow of another solid (bool, shape of the hits).

    Convex solids do not shadow themselves: facing away from the light is left to the shading.
    """
    dark = np.zeros(hits.depth.shape, bool)
    light = world.to_light.reshape((3,) + (1,) * hits.depth.ndim)
    for label, solid in world.solids.items():
        index = hits.rays.select(world.shadow_windows[label])
        starts = points[:, *index] + SHADOW_START * light
        blocked = np.isfinite(solid.intersect(starts, light))
        dark[index] |= blocked & (hits.owner[index] != label)
    return dark
