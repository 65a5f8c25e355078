"""Placing things on the floor or hanging from the ceiling, by proposals that the stage accepts.

Proposals are drawn in the picture (a pixel, then a depth), so things spread over the frame and not
over the floor plan; the random numbers of a thing do not depend on the things before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gensight.datasets.scenes.solids import SHAPES, Solid
from gensight.datasets.scenes.stage import Stage

# Air between the balls around two things, and to the walls, in radii: nothing touches.
SEPARATION = 1.03
WALL_MARGIN = 0.05
# At a width of 512 px: a rod is seen and hides next to nothing; chosen by eye, like the next.
ROD_RADIUS_PX = 1.3
LARGEST_RADIUS_PX = 80.0
PLACE_ATTEMPTS = 160
# A shrunk thing stays a little above the smallest countable size; chosen by eye.
SMALLEST_MARGIN, SHRINKING = 1.06, 0.85
# The middle of `composition.LARGE_VOLUME` over that of `SMALL_VOLUME`.
LARGE_TO_SMALL_VOLUME = 5.0


@dataclass(frozen=True)
class Plan:
    """A thing before it has a place.

    `radius_m` is the radius of the ball of equal volume; where it is missing, the thing gets the
    size that makes that ball `radius_px` large in the picture.
    """

    shape: str
    colour: str
    size: str | None
    hanging: bool
    aspect: tuple[float, float, float]
    yaw: float
    radius_m: float | None = None
    radius_px: float | None = None


def draw_aspect(random: np.random.Generator, shape: str) -> tuple[float, float, float]:
    """Draw the proportions of a shape; balls and capsules have only one."""
    if shape == "box":
        a, b, c = random.uniform(0.82, 1.22, 3)
        return float(a), float(b), float(c)
    if shape in ("cylinder", "cone"):
        height = random.uniform(0.9, 1.5)
        return 1.0, float(height), 1.0
    return 1.0, 1.0, 1.0


def scale_for(plan: Plan, radius_m: float) -> np.ndarray:
    """Return the scale (3,) that gives the solid the volume of a ball of this radius."""
    aspect = np.asarray(plan.aspect)
    unit = SHAPES[plan.shape].volume * float(np.prod(aspect))
    return aspect * (4 / 3 * np.pi * radius_m**3 / unit) ** (1 / 3)


def place(stage: Stage, plan: Plan, random: np.random.Generator, occlusion: str) -> Plan | None:
    """Place a planned thing and return its plan; None if no proposal is accepted.

    A thing that finds no place on the floor is hung up, and the other way round, and it becomes
    smaller: a large thing small, a thing of free size somewhat.
    """
    for attempt in range(PLACE_ATTEMPTS):
        if attempt == PLACE_ATTEMPTS // 2:
            plan = _second_choice(stage, plan)
        across, down, along, which, offset_x, offset_y = random.random(6)
        pixel = across * (stage.camera.width - 1), down * (stage.camera.height - 1)
        if occlusion == "heavy" and stage.things % 2 == 1:
            pixel = _beside(stage, which, offset_x, offset_y)
        proposal = _hang(stage, plan, pixel, along) if plan.hanging else _stand(stage, plan, pixel)
        if proposal is None or not _is_free(stage, proposal, plan.hanging):
            continue
        if stage.add(proposal, _rod(stage, proposal) if plan.hanging else None, occlusion):
            return plan
    return None


def _second_choice(stage: Stage, plan: Plan) -> Plan:
    """Return another plan for a thing without a place, of the same shape and colour."""
    if plan.radius_px is not None:
        radius_px = max(SMALLEST_MARGIN * smallest_px(stage), SHRINKING * plan.radius_px)
        return replace(plan, hanging=not plan.hanging, radius_px=radius_px)
    if plan.size == "large" and plan.radius_m is not None:
        smaller_m = plan.radius_m / LARGE_TO_SMALL_VOLUME ** (1 / 3)
        return replace(plan, hanging=not plan.hanging, size="small", radius_m=smaller_m)
    return replace(plan, hanging=not plan.hanging)


def _beside(stage: Stage, which: float, x: float, y: float) -> tuple[float, float]:
    """Return a pixel near a thing that is there already."""
    anchor = stage.solids[1 + int(which * stage.things)]
    u, v, depth = stage.camera.project(anchor.centre[:, None])
    reach = 3.2 * stage.camera.focal_px * anchor.radius / depth[0]
    column = np.clip(u[0] + (x - 0.5) * reach, 0, stage.camera.width - 1)
    row = np.clip(v[0] + (y - 0.3) * reach, 0, stage.camera.height - 1)
    return float(column), float(row)


def _stand(stage: Stage, plan: Plan, pixel: tuple[float, float]) -> Solid | None:
    """Put a thing on the floor seen at a pixel."""
    column, row = round(pixel[0]), round(pixel[1])
    if not stage.is_floor(row, column):
        return None
    depth = float(stage.room_depth[row, column])
    radius_m = _radius_m(stage, plan, depth)
    if radius_m is None:
        return None
    spot = stage.camera.position + depth * stage.rays.directions[:, row, column]
    solid = Solid(plan.shape, spot, scale_for(plan, radius_m), plan.yaw)
    raised = np.array([spot[0], solid.half_height, spot[2]])
    return Solid(plan.shape, raised, solid.scale, plan.yaw)


def _hang(stage: Stage, plan: Plan, pixel: tuple[float, float], along: float) -> Solid | None:
    """Hang a thing at a pixel, at a depth between the nearest one and the room behind."""
    column, row = round(pixel[0]), round(pixel[1])
    low, high = 1.1 * stage.view.nearest_m, 0.92 * float(stage.room_depth[row, column])
    if plan.radius_m is not None:
        full = stage.camera.focal_px * plan.radius_m
        low, high = max(low, full / largest_px(stage)), min(high, full / smallest_px(stage))
    if low >= high:
        return None
    depth = float(np.exp(np.log(low) + along * np.log(high / low)))
    radius_m = _radius_m(stage, plan, depth)
    if radius_m is None:
        return None
    centre = stage.camera.position + depth * stage.rays.directions[:, row, column]
    solid = Solid(plan.shape, centre, scale_for(plan, radius_m), plan.yaw)
    clear_below = centre[1] - solid.half_height > solid.half_height
    clear_above = stage.ceiling_m() - centre[1] > 1.3 * solid.half_height
    return solid if clear_below and clear_above else None


def smallest_px(stage: Stage) -> float:
    """Radius in pixels below which a thing would hardly be countable."""
    return float(np.sqrt(1.25 * stage.threshold / np.pi))


def largest_px(stage: Stage) -> float:
    """Radius in pixels above which a thing would fill the picture."""
    return LARGEST_RADIUS_PX * stage.camera.width / 512


def _radius_m(stage: Stage, plan: Plan, depth: float) -> float | None:
    if plan.radius_px is not None:
        return plan.radius_px * depth / stage.camera.focal_px
    if plan.radius_m is None:
        return None
    radius_px = stage.camera.focal_px * plan.radius_m / depth
    return plan.radius_m if smallest_px(stage) <= radius_px <= largest_px(stage) else None


def _is_free(stage: Stage, solid: Solid, hanging: bool) -> bool:
    """Whether a solid touches no wall, no other thing, and no rod runs through a thing."""
    gaps = solid.centre - stage.centres
    # A rod rises from a hanging thing: towards what is above it only the floor plan counts.
    gaps[(hanging & (gaps[:, 1] < 0)) | (stage.hanging & (gaps[:, 1] > 0)), 1] = 0.0
    needed = SEPARATION * (solid.radius + stage.radii)
    if ((gaps**2).sum(axis=1) < needed**2).any():
        return False
    return stage.room.holds(solid.corners, WALL_MARGIN * solid.radius)


def _rod(stage: Stage, solid: Solid) -> Solid:
    """Return the thin upright rod from the top of a hanging thing to the ceiling."""
    top = solid.centre[1] + solid.half_height
    half = (stage.ceiling_m() - top) / 2
    depth = float(stage.camera.project(solid.centre[:, None])[2][0])
    radius = ROD_RADIUS_PX * depth / stage.camera.focal_px * stage.camera.width / 512
    centre = np.array([solid.centre[0], top + half, solid.centre[2]])
    return Solid("cylinder", centre, np.array([radius, half, radius]), 0.0)
