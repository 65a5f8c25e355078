"""Scenes of the built-in data set, and the same scene graph rendered once more.

A re-rendering keeps what is in the scene and changes how it is drawn: other materials, another
light, or poses that have moved a little. Only the knobs and streams of the data set are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from gensight.datasets.scenes.appearance import Materials, draw_materials, paint
from gensight.datasets.scenes.composition import Layout
from gensight.datasets.scenes.parameters import locate, parse
from gensight.datasets.scenes.scene import Scene, build
from gensight.datasets.scenes.stage import Stage

WIDTH, HEIGHT = 512, 384


@dataclass(frozen=True)
class Staged:
    """A finished scene, the knobs it was painted with and the split of its materials."""

    scene: Scene
    knobs: Mapping[str, Any]
    split: str
    name: tuple[object, ...]

    def counted(self) -> list[int]:
        """The indices of the counted things; of all things in a room."""
        wanted, plans = self.scene.layout.wanted, self.scene.layout.plans
        return [i for i, p in enumerate(plans) if not wanted or wanted.matches(p.shape, p.colour)]


@dataclass(frozen=True)
class Render:
    """A picture (H, W, 3) of a scene graph with its depth and the masks (n, H, W) of its things."""

    rgb: np.ndarray
    depth_m: np.ndarray
    silhouettes: np.ndarray


@cache
def staged(
    task: str, seed: int, rank: int, split: str, knobs: tuple[tuple[str, Any], ...]
) -> Staged:
    """Build one scene of the data set."""
    parameters = parse(
        {
            "task": task,
            "seed": seed,
            "split": split,
            "width": WIDTH,
            "height": HEIGHT,
            "knobs": dict(knobs),
        }
    )
    address = locate(parameters, rank)
    scene = build(parameters, address.scene, address.knobs)
    return Staged(scene, address.knobs, split, ("failure operators", task, seed, rank, split))


def other_materials(item: Staged, share: float, draw: int) -> Render:
    """Paint the scene with this share of its surfaces in new textures and background shades.

    Which surfaces change follows from the draw; a larger share changes those of a smaller one too.
    """
    old = _materials(item, "old")
    new = _materials(item, f"new {draw}")
    order = np.random.default_rng(draw).random(6 + len(old.thing_textures)) < share
    faces, things = order[:6], order[6:]
    mixed = Materials(
        face_colours=np.where(faces[:, None], new.face_colours, old.face_colours),
        face_textures=_mixed(faces, new.face_textures, old.face_textures),
        thing_colours=old.thing_colours,
        thing_textures=_mixed(things, new.thing_textures, old.thing_textures),
    )
    return _render(item, item.scene.layout, mixed, item.scene.to_light)


def other_light(item: Staged, degrees: float, draw: int) -> Render:
    """Paint the scene with its light carried round the upright axis by this angle."""
    turn = np.deg2rad(degrees if draw % 2 else -degrees)
    x, y, z = item.scene.to_light
    turned = np.array([np.cos(turn) * x + np.sin(turn) * z, y, np.cos(turn) * z - np.sin(turn) * x])
    return _render(item, item.scene.layout, _materials(item, "old"), turned)


def moved_things(item: Staged, severity: float, random: np.random.Generator) -> Render:
    """Paint the scene with its things moved on the floor and turned.

    Each moves by about `severity` % of the picture's long side, in its own direction. A thing whose
    new place breaks a rule of the stage stays where it was.
    """
    old = item.scene.layout
    stage, plans = Stage(old.stage.view), []
    for label, plan in enumerate(old.plans, start=1):
        solid, rod = old.stage.solids[label], old.stage.solids.get(-label)
        depth_m = float(old.stage.camera.project(solid.centre[:, None])[2][0])
        reach_m = severity / 100.0 * WIDTH * depth_m / old.stage.camera.focal_px
        angle = random.uniform(0, 2 * np.pi)
        step = reach_m * np.array([np.cos(angle), 0.0, np.sin(angle)])
        turned = solid.yaw + random.normal() * severity / 10.0
        moved = replace(solid, centre=solid.centre + step, yaw=turned)
        moved_rod = None if rod is None else replace(rod, centre=rod.centre + step)
        if stage.add(moved, moved_rod, "some") or stage.add(solid, rod, "some"):
            plans.append(plan)
    layout = Layout(stage, tuple(plans), old.wanted)
    materials = draw_materials(item.name, layout, item.split, item.knobs["palette"])
    return _render(item, layout, materials, item.scene.to_light)


def plain_render(item: Staged) -> Render:
    """Paint the scene as it is; what the other functions differ from."""
    return _render(item, item.scene.layout, _materials(item, "old"), item.scene.to_light)


def _materials(item: Staged, which: str) -> Materials:
    name = item.name if which == "old" else (*item.name, which)
    return draw_materials(name, item.scene.layout, item.split, item.knobs["palette"])


def _mixed(chosen: np.ndarray, new: tuple[Any, ...], old: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(n if c else o for c, n, o in zip(chosen, new, old, strict=True))


def _render(item: Staged, layout: Layout, materials: Materials, to_light: np.ndarray) -> Render:
    rgb = np.ascontiguousarray(paint(layout, materials, to_light, item.knobs))
    depth_m = layout.stage.depth.astype(np.float32)
    return Render(rgb, depth_m, layout.stage.silhouettes())
