"""A finished scene: attempts are made until one obeys every rule of PROTOCOLS 4.1.

An attempt has random streams of its own, derived from the seed, the scene and the attempt, so a
scene never depends on other scenes. Rejected are: views that miss the depth ratio, things without a
place or in the grey zone of visibility (while composing); rooms without two queries, and counts in
which a colour is not told apart (after painting).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gensight.datasets.scenes.appearance import blur, draw_materials, draw_to_light, paint
from gensight.datasets.scenes.colours import MIN_DIFFERENCE, differences
from gensight.datasets.scenes.composition import Layout, compose_counting, compose_room
from gensight.datasets.scenes.counting import Wanted, draw_wanted
from gensight.datasets.scenes.expressions import Seen
from gensight.datasets.scenes.facts import facts_of
from gensight.datasets.scenes.parameters import SceneParameters
from gensight.datasets.scenes.queries import Query, find_twins
from gensight.datasets.scenes.randomness import stream
from gensight.datasets.scenes.raycaster import Hits, World, normals_of, points_of
from gensight.errors import GensightError

ATTEMPTS = 150
RATIO_TOLERANCE = 0.15


@dataclass(frozen=True)
class Scene:
    """A painted scene with what is asked about it.

    `picture` is uint8 (H, W, 3); `silhouettes` bool (n, H, W), the visible masks of the things in
    the order of `layout.plans`; `queries` two for a room, none for counting.
    """

    layout: Layout
    to_light: np.ndarray
    picture: np.ndarray
    silhouettes: np.ndarray
    queries: tuple[Query, ...] = field(default=())

    @property
    def depth_m(self) -> np.ndarray:
        """Exact z-depth (H, W) in metres at pixel centres, float32."""
        return self.layout.stage.depth.astype(np.float32)

    def normals(self) -> np.ndarray:
        """Return unit normals (H, W, 3) in camera axes: x right, y up, z to the viewer; float32."""
        stage = self.layout.stage
        world = World(stage.camera, stage.room, stage.solids, self.to_light)
        hits = Hits(stage.rays, stage.depth, stage.owner, stage.face)
        normals = stage.camera.to_camera(normals_of(world, hits, points_of(world, hits)))
        return np.moveaxis(normals, 0, -1).astype(np.float32)


def build(parameters: SceneParameters, scene: int, knobs: Mapping[str, Any]) -> Scene:
    """Return a scene under a combination of knobs.

    Raises:
        GensightError: no attempt obeys the rules; the message says which knobs to relax.
    """
    for attempt in range(ATTEMPTS):
        name = (*parameters.name, scene, attempt)
        built = _attempt(parameters, scene, knobs, name)
        if built is not None:
            return built
    shown = ", ".join(f"{knob} {level}" for knob, level in knobs.items())
    raise GensightError(
        f"scenes: no scene {scene} of seed {parameters.seed} obeys the rules after {ATTEMPTS} "
        f"attempts ({shown}); use fewer objects, less occlusion or a larger picture"
    )


def _attempt(
    parameters: SceneParameters, scene: int, knobs: Mapping[str, Any], name: tuple[object, ...]
) -> Scene | None:
    size, split = (parameters.width, parameters.height), parameters.split
    wanted: Wanted | None = None
    if parameters.family == "counting":
        wanted = draw_wanted(parameters.name, split, scene, knobs)
        layout = compose_counting(name, split, size, knobs, wanted)
    else:
        layout = compose_room(name, split, size, knobs)
    if layout is None or not _keeps_ratio(layout, knobs["depth_ratio"]):
        return None
    to_light = draw_to_light(name)
    materials = draw_materials(name, layout, split, knobs["palette"])
    sharp = paint(layout, materials, to_light, knobs)
    picture, silhouettes = blur(sharp, knobs["blur"]), layout.stage.silhouettes()
    # A blur mixes a small thing with its surroundings: colours are judged without it.
    medians = median_colours(sharp, silhouettes)
    if wanted is not None:
        told_apart = colours_are_told_apart(layout, medians, wanted)
        return Scene(layout, to_light, picture, silhouettes) if told_apart else None
    facts = facts_of(see(layout, silhouettes), medians, parameters.width)
    queries = find_twins(facts, stream(*name, "queries"))
    return Scene(layout, to_light, picture, silhouettes, queries) if queries else None


def _keeps_ratio(layout: Layout, ratio: int) -> bool:
    """Things may hide the nearest or the farthest spot of the room, but not by much."""
    depth = layout.stage.depth
    return abs(float(depth.max() / depth.min()) / ratio - 1.0) <= RATIO_TOLERANCE


def median_colours(picture: np.ndarray, silhouettes: np.ndarray) -> np.ndarray:
    """Return the median colours (n, 3) of the things as painted, 0..255."""
    medians = [np.median(picture[mask], axis=0) for mask in silhouettes]
    return np.array(medians).reshape(len(medians), 3)


def colours_are_told_apart(layout: Layout, medians: np.ndarray, wanted: Wanted) -> bool:
    """Whether every thing of the counted colour differs by 20 units from all of other colours."""
    named = np.array([plan.colour == wanted.colour for plan in layout.plans])
    if wanted.colour is None or not named.any() or named.all():
        return True
    return bool((differences(medians[named], medians[~named]) >= MIN_DIFFERENCE).all())


def see(layout: Layout, silhouettes: np.ndarray) -> list[Seen]:
    """Return what the picture shows of each thing, in the order of the plans."""
    seen = []
    for label, (plan, mask) in enumerate(zip(layout.plans, silhouettes, strict=True), start=1):
        columns = np.flatnonzero(mask.any(axis=0))
        depth = layout.stage.depth[mask]
        seen.append(
            Seen(
                shape=plan.shape,
                colour=plan.colour,
                size=plan.size,
                hanging=plan.hanging,
                volume_m3=layout.stage.solids[label].volume_m3,
                left_px=int(columns[0]),
                right_px=int(columns[-1]),
                min_depth_m=float(depth.min()),
                mean_depth_m=float(depth.mean()),
            )
        )
    return seen
