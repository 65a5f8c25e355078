"""The room and the view into it: six planes, and a depth ratio that is a knob.

The inverse z-depth of a plane is affine in pixel coordinates, so inside a convex room the inverse
depth of a picture is the maximum of six affine functions. Its largest value, the nearest depth,
lies in a corner of the picture; the farthest depth is found on a coarse grid (PROTOCOLS 4.1: walls,
ceiling, roll within 10 degrees and random pitch and height keep a vertical ramp from solving it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensight.datasets.scenes.camera import Camera, Rays, pixel_grid, rays_through, rotation_of

# Faces in the order of the planes: low x, high x, low y, high y, low z, high z.
FACES = ("left", "right", "floor", "ceiling", "back", "front")
FLOOR = FACES.index("floor")

# Caps that exclude nothing: by NEAREST_M rooms reach from about 0.7 m to 39 m.
MIN_DEPTH_M = 0.1
MAX_DEPTH_M = 50.0
# By depth ratio: the larger it is, the nearer the room begins, so that it does not become a hall.
NEAREST_M = {4: (0.8, 2.5), 10: (0.7, 1.8), 30: (0.7, 1.3)}
# Roll as in PROTOCOLS 4.1; yaw and pitch chosen by eye, so that walls meet the view aslant.
MAX_ROLL_DEG = 10.0
MAX_YAW_DEG = 25.0
# Degrees below the horizon: level on average in rooms, looking down where things are counted.
PITCH_DEG = {"room": (-18.0, 20.0), "counting": (14.0, 34.0)}
VIEW_ATTEMPTS = 200
# Rays a side: depth is smooth but for the edges of the room, and forty searches use the grid.
COARSE = 33
# Room for things to stand on, most of all where they are counted; chosen by eye.
LEAST_FLOOR_SHARE = {"room": 0.12, "counting": 0.55}


@dataclass(frozen=True)
class Room:
    """An axis-aligned box seen from inside: `low` and `high` corners (3,) in metres."""

    low: np.ndarray
    high: np.ndarray

    def intersect(
        self, origin: np.ndarray, directions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return z-depth and face index where rays from inside leave the room."""
        depth = np.full(directions.shape[1:], np.inf)
        face = np.zeros(directions.shape[1:], np.int8)
        for axis in range(3):
            d = directions[axis]
            safe = np.where(np.abs(d) < 1e-12, 1e-12, d)
            reach = np.where(d > 0, self.high[axis] - origin[axis], self.low[axis] - origin[axis])
            t = np.abs(reach / safe)
            closer = t < depth
            depth = np.where(closer, t, depth)
            face = np.where(closer, 2 * axis + (d > 0), face).astype(np.int8)
        return depth, face

    def normals(self, face: np.ndarray) -> np.ndarray:
        """Return the inward unit normals (3, ...) of face indices."""
        inward = np.zeros((6, 3))
        for index in range(6):
            inward[index, index // 2] = 1.0 if index % 2 == 0 else -1.0
        return np.moveaxis(inward[face], -1, 0)

    def holds(self, corners: np.ndarray, margin_m: float) -> bool:
        """Whether points (3, n) keep a margin to the walls and lie between floor and ceiling."""
        sides = np.array([margin_m, -1e-9, margin_m])
        low, high = self.low + sides, self.high - sides
        return bool(np.all(corners >= low[:, None]) and np.all(corners <= high[:, None]))


@dataclass(frozen=True)
class View:
    """A camera in a room, with the nearest and the farthest z-depth of the empty room."""

    camera: Camera
    room: Room
    nearest_m: float
    farthest_m: float


def draw_view(
    random: np.random.Generator, family: str, width: int, height: int, ratio: int
) -> View | None:
    """Draw a room and a camera whose farthest depth is `ratio` times its nearest one.

    None if no attempt reaches the ratio.
    """
    for _ in range(VIEW_ATTEMPTS):
        camera, room = _draw_unscaled(random, family, width, height)
        low, high = NEAREST_M[ratio]
        wanted_m = float(np.exp(random.uniform(np.log(low), np.log(high))))
        nearest = _depths(camera, room, _corner_rays(camera)).min()
        camera, room = _scaled(camera, room, wanted_m / nearest)
        view = _with_back_wall(camera, room, wanted_m, ratio, LEAST_FLOOR_SHARE[family])
        if view is not None:
            return view
    return None


def _draw_unscaled(
    random: np.random.Generator, family: str, width: int, height: int
) -> tuple[Camera, Room]:
    """Draw pitch, roll, yaw, focal length, eye height and walls; lengths are relative."""
    rotation = rotation_of(
        yaw_deg=random.uniform(-MAX_YAW_DEG, MAX_YAW_DEG),
        pitch_deg=random.uniform(*PITCH_DEG[family]),
        roll_deg=random.uniform(-MAX_ROLL_DEG, MAX_ROLL_DEG),
    )
    focal_px = width * random.uniform(0.8, 1.05)
    eye, above, left, right = random.uniform([0.7, 0.7, 1.2, 1.2], [2.0, 2.2, 3.5, 3.5])
    room = Room(np.array([-left, 0.0, -1e6]), np.array([right, eye + above, 2.0]))
    return Camera(np.array([0.0, eye, 0.0]), rotation, focal_px, width, height), room


def _scaled(camera: Camera, room: Room, factor: float) -> tuple[Camera, Room]:
    moved = Camera(
        camera.position * factor, camera.rotation, camera.focal_px, camera.width, camera.height
    )
    return moved, Room(room.low * factor, room.high * factor)


def _with_back_wall(
    camera: Camera, room: Room, nearest_m: float, ratio: int, least_floor: float
) -> View | None:
    """Move the back wall until the farthest depth is as wanted; None if that is impossible."""
    rays = _coarse_rays(camera)
    wanted_m = nearest_m * ratio
    if _depths(camera, room, rays).max() < wanted_m:
        return None
    close, far = nearest_m, 4 * wanted_m
    for _ in range(40):
        middle = (close + far) / 2
        if _depths(camera, _closed(room, middle), rays).max() < wanted_m:
            close = middle
        else:
            far = middle
    closed = _closed(room, far)
    nearest = _depths(camera, closed, _corner_rays(camera)).min()
    floor_share = float(np.mean(closed.intersect(camera.position, rays.directions)[1] == FLOOR))
    if nearest < 0.98 * nearest_m or floor_share < least_floor:
        return None
    return View(camera, closed, float(nearest), wanted_m)


def _closed(room: Room, distance_m: float) -> Room:
    return Room(np.array([room.low[0], room.low[1], -distance_m]), room.high)


def _depths(camera: Camera, room: Room, rays: Rays) -> np.ndarray:
    return room.intersect(camera.position, rays.directions)[0]


def _corner_rays(camera: Camera) -> Rays:
    right, bottom = camera.width - 1.0, camera.height - 1.0
    return rays_through(
        camera, np.array([0.0, right, 0.0, right]), np.array([0.0, 0.0, bottom, bottom])
    )


def _coarse_rays(camera: Camera) -> Rays:
    u, v = np.meshgrid(
        np.linspace(0, camera.width - 1, COARSE), np.linspace(0, camera.height - 1, COARSE)
    )
    return rays_through(camera, u.ravel(), v.ravel())


def empty_room(view: View) -> tuple[Rays, np.ndarray, np.ndarray]:
    """Return the pixel rays with the z-depth and face index of the room without things."""
    rays = pixel_grid(view.camera)
    depth, face = view.room.intersect(view.camera.position, rays.directions)
    return rays, depth, face
