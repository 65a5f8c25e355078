"""What stands in a scene, and where: rooms with a few things, and floors full of counted things.

Rooms (segmentation, depth, normals) draw attributes from small pools, so that most things share
colour, shape or size with another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensight.datasets.scenes.colours import draw_pool
from gensight.datasets.scenes.counting import SHAPE_POOLS, Wanted, kinds
from gensight.datasets.scenes.placement import (
    SMALLEST_MARGIN,
    Plan,
    draw_aspect,
    place,
    smallest_px,
)
from gensight.datasets.scenes.randomness import stream
from gensight.datasets.scenes.room import draw_view
from gensight.datasets.scenes.stage import Stage

# At a width of 512 px and a middling depth; chosen by eye.
SMALL_RADIUS_PX = 30.0
# Times that ball: small and large are 4 times apart or more, far above the 1.8 that `large` needs.
SMALL_VOLUME = (0.9, 1.1)
LARGE_VOLUME = (4.5, 5.5)
# Enough to keep depth from following the row; chosen by eye.
HANGING_SHARE = {"room": 0.35, "counting": 0.2}

# The share of the picture that counted and other things cover together, at most;
# chosen by eye, less where nothing may be hidden.
LARGEST_COVER = {"some": 0.28, "heavy": 0.28, "none": 0.2}
# At a width of 512 px: a few things do not fill the picture; chosen by eye.
LARGEST_MEAN_PX = 30.0


@dataclass(frozen=True)
class Layout:
    """A composed scene: the stage with its things, and their plans in the order of labels."""

    stage: Stage
    plans: tuple[Plan, ...]
    wanted: Wanted | None


def compose_room(
    name: tuple[object, ...], split: str, size: tuple[int, int], knobs: Mapping[str, Any]
) -> Layout | None:
    """Compose a room scene; None if this attempt fails (no view, or no place for a thing)."""
    view = draw_view(stream(*name, "view"), "room", *size, knobs["depth_ratio"])
    if view is None:
        return None
    stage = Stage(view)
    pool = draw_pool(stream(*name, "pool"), 4)
    # A depth towards the near end, where a small thing has its nominal size in the picture.
    middle_m = view.nearest_m * knobs["depth_ratio"] ** 0.28
    unit_m = SMALL_RADIUS_PX * size[0] / 512 * middle_m / view.camera.focal_px
    plans = []
    for index in range(knobs["objects"]):
        random = stream(*name, "thing", index)
        plan = place(
            stage, _room_plan(random, SHAPE_POOLS[split], pool, unit_m), random, knobs["occlusion"]
        )
        if plan is None:
            return None
        plans.append(plan)
    return Layout(stage, tuple(plans), None)


def _room_plan(
    random: np.random.Generator, shapes: tuple[str, ...], pool: list[str], unit_m: float
) -> Plan:
    shape, colour = shapes[random.integers(len(shapes))], pool[random.integers(len(pool))]
    size = ("small", "large")[random.integers(2)]
    volume = random.uniform(*(SMALL_VOLUME if size == "small" else LARGE_VOLUME))
    return Plan(
        shape=shape,
        colour=colour,
        size=size,
        hanging=bool(random.random() < HANGING_SHARE["room"]),
        aspect=draw_aspect(random, shape),
        yaw=float(random.uniform(0, 2 * np.pi)),
        radius_m=float(unit_m * volume ** (1 / 3)),
    )


def compose_counting(
    name: tuple[object, ...],
    split: str,
    size: tuple[int, int],
    knobs: Mapping[str, Any],
    wanted: Wanted,
) -> Layout | None:
    """Compose a scene for counting; None if this attempt fails."""
    view = draw_view(stream(*name, "view"), "counting", *size, knobs["depth_ratio"])
    if view is None:
        return None
    stage = Stage(view)
    random = stream(*name, "things")
    plans = []
    mean_px = _mean_radius_px(stage, wanted.count + wanted.others, knobs["occlusion"])
    # Rods would cross other things: where nothing may be hidden, things stand.
    hanging_share = 0.0 if knobs["occlusion"] == "none" else HANGING_SHARE["counting"]
    for shape, colour in kinds(random, split, wanted):
        radius_px = max(SMALLEST_MARGIN * smallest_px(stage), mean_px * random.uniform(0.85, 1.15))
        plan = Plan(
            shape=shape,
            colour=colour,
            size=None,
            hanging=bool(random.random() < hanging_share),
            aspect=draw_aspect(random, shape),
            yaw=float(random.uniform(0, 2 * np.pi)),
            radius_px=float(radius_px),
        )
        placed = place(stage, plan, random, knobs["occlusion"])
        if placed is None:
            return None
        plans.append(placed)
    return Layout(stage, tuple(plans), wanted)


def _mean_radius_px(stage: Stage, things: int, occlusion: str) -> float:
    """Return the radius at which so many things cover their share of the picture, within limits."""
    area = LARGEST_COVER[occlusion] * stage.camera.width * stage.camera.height / max(things, 1)
    most = LARGEST_MEAN_PX * stage.camera.width / 512
    return float(np.clip(np.sqrt(area / np.pi), 1.1 * smallest_px(stage), most))
