"""The pinhole camera: rays through pixels, projection of points, windows on the picture.

World axes: x to the right, y up, z towards the viewer at rest. Camera axes: x right, y up, z to
the viewer. A ray's direction has camera component z = -1, so that the ray parameter is the z-depth
in metres. Vectors are stored component first, shape (3, ...).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEAR_M = 1e-3


@dataclass(frozen=True)
class Window:
    """A rectangle of pixels, half open: rows top..bottom, columns left..right."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def is_empty(self) -> bool:
        """Whether the window holds no pixel."""
        return self.top >= self.bottom or self.left >= self.right

    @property
    def slices(self) -> tuple[slice, slice]:
        """The window as an index of an (H, W) array."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


@dataclass(frozen=True)
class Camera:
    """Position, rotation (columns right, up, back; shape (3, 3)) and focal length in pixels."""

    position: np.ndarray
    rotation: np.ndarray
    focal_px: float
    width: int
    height: int

    def directions(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return world directions (3, ...) of rays through pixel positions, z-depth 1 long."""
        x = (u - (self.width - 1) / 2) / self.focal_px
        y = ((self.height - 1) / 2 - v) / self.focal_px
        right, up, back = self.rotation.T
        shape = (3,) + (1,) * np.broadcast(x, y).ndim
        return right.reshape(shape) * x + up.reshape(shape) * y - back.reshape(shape)

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (u, v, z-depth) of world points (3, n); depths may be zero or negative."""
        local = rotate(self.rotation.T, points - self.position[:, None])
        depth = -local[2]
        safe = np.where(np.abs(depth) < NEAR_M, NEAR_M, depth)
        u = (self.width - 1) / 2 + self.focal_px * local[0] / safe
        v = (self.height - 1) / 2 - self.focal_px * local[1] / safe
        return u, v, depth

    def window(self, corners: np.ndarray) -> Window:
        """Return the window that holds the convex hull of world points (3, n).

        The whole picture if a point is at or behind the camera; empty if the hull is outside.
        """
        u, v, depth = self.project(corners)
        if depth.min() <= NEAR_M:
            return Window(0, self.height, 0, self.width)
        return Window(
            top=int(np.clip(np.floor(v.min()), 0, self.height)),
            bottom=int(np.clip(np.ceil(v.max()) + 1, 0, self.height)),
            left=int(np.clip(np.floor(u.min()), 0, self.width)),
            right=int(np.clip(np.ceil(u.max()) + 1, 0, self.width)),
        )

    def to_camera(self, vectors: np.ndarray) -> np.ndarray:
        """Return world vectors (3, ...) in camera axes: x right, y up, z to the viewer."""
        return rotate(self.rotation.T, vectors)


@dataclass(frozen=True)
class Rays:
    """Rays through a whole pixel grid, or through a list of positions (`u`, `v` given)."""

    directions: np.ndarray
    u: np.ndarray | None = None
    v: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W) of the grid, or (n,) of the list."""
        return self.directions.shape[1:]

    def select(self, window: Window) -> tuple[slice, slice] | tuple[np.ndarray]:
        """Return the index of the rays through a window, widened by a pixel for lists."""
        if self.u is None or self.v is None:
            return window.slices
        inside = (self.u > window.left - 1) & (self.u < window.right)
        inside &= (self.v > window.top - 1) & (self.v < window.bottom)
        return (np.flatnonzero(inside),)


def rotate(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return matrix @ vectors for (3, ...) vectors, without BLAS, whose rounding may vary."""
    return np.stack(
        [row[0] * vectors[0] + row[1] * vectors[1] + row[2] * vectors[2] for row in matrix]
    )


def pixel_grid(camera: Camera) -> Rays:
    """Return the rays through every pixel centre."""
    columns = np.arange(camera.width, dtype=np.float64)[None, :]
    rows = np.arange(camera.height, dtype=np.float64)[:, None]
    return Rays(camera.directions(columns, rows))


def rays_through(camera: Camera, u: np.ndarray, v: np.ndarray) -> Rays:
    """Return the rays through a list of pixel positions (n,)."""
    return Rays(camera.directions(u, v), u, v)


def rotation_of(yaw_deg: float, pitch_deg: float, roll_deg: float) -> np.ndarray:
    """Return the rotation of a camera turned left by yaw, then down by pitch, then rolled."""
    yaw, pitch, roll = np.deg2rad([yaw_deg, -pitch_deg, roll_deg])
    turn = np.array([[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]])
    nod = np.array(
        [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    )
    tilt = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
    return np.einsum("ij,jk,kl->il", turn, nod, tilt)
