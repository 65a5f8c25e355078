"""The parameters of the scenes: task, seed, split, size, and the knobs that form a factorial.

A knob that is not given keeps its base value, or is drawn per scene (objects, occlusion,
depth_ratio). A knob given as one value is fixed; given as a list it becomes a factor of the
benchmark: each scene is then rendered once per combination of the listed values, from the same
random numbers, on consecutive ranks.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gensight.datasets.scenes.randomness import balanced
from gensight.errors import SpecError

TASKS = ("segmentation", "depth", "counting", "normals", "detection", "keypoints", "reading")
# Tasks that ask about floors full of things; all others ask about rooms with a few.
CROWDED_TASKS = ("counting", "detection")
SPLITS = ("main", "ood")
MIN_SIDE_PX = 128
MAX_SIDE_PX = 2048
LEAST_CROWD_PX = 384 * 288

# Base value first, then the other levels.
LEVELS: dict[str, tuple[Any, ...]] = {
    "occlusion": ("some", "none", "heavy"),
    "contrast": ("full", "medium", "low"),
    "texture": ("mixed", "plain", "rich"),
    "light": ("bright", "dim", "dark"),
    "blur": (0, 1, 2, 4),
    "palette": ("base", "shifted"),
    "style": ("photo", "flat", "line"),
    "depth_ratio": (10, 4, 30),
}
# Knobs that take any whole number in a range, by family of scenes. In counting, `objects` is the
# number of other things and `count` the number of things to count.
RANGES: dict[str, dict[str, tuple[int, int]]] = {
    "room": {"objects": (3, 16)},
    "counting": {"objects": (1, 80), "count": (0, 50)},
}

# Drawn per room scene where they are not given, each value equally often.
DRAWN: dict[str, tuple[Any, ...]] = {
    "objects": (6, 7, 8, 9),
    "occlusion": ("none", "some", "some"),
    "depth_ratio": (4, 10, 30),
}


COUNTING_DEPTH_RATIO = 4


@dataclass(frozen=True)
class SceneParameters:
    """Checked parameters; `factors` maps each given knob to its levels (one or more)."""

    task: str
    seed: int
    split: str
    width: int
    height: int
    factors: Mapping[str, tuple[Any, ...]]

    @property
    def queries_per_scene(self) -> int:
        """Two queries with different targets share a picture in segmentation, one elsewhere."""
        return 2 if self.task == "segmentation" else 1

    @property
    def combinations(self) -> list[dict[str, Any]]:
        """Every combination of the given knobs' levels, the last knob changing fastest."""
        products = itertools.product(*self.factors.values())
        return [dict(zip(self.factors, levels, strict=True)) for levels in products]

    @property
    def family(self) -> str:
        """Counting and detection share their scenes, and so do all other tasks."""
        return "counting" if self.task in CROWDED_TASKS else "room"

    @property
    def name(self) -> tuple[object, ...]:
        """The name of the random streams: task and knobs are no part of it."""
        return self.seed, self.split, self.family, self.width, self.height


@dataclass(frozen=True)
class Address:
    """Where a rank lies: its scene, the knobs of its combination, and which query of the scene."""

    scene: int
    knobs: Mapping[str, Any]
    query: int


def parse(parameters: Mapping[str, Any]) -> SceneParameters:
    """Check the dataset block of a benchmark.

    Raises:
        SpecError: an unknown key, task, split, knob or level; the message lists the allowed ones.
    """
    known = ("task", "seed", "split", "width", "height", "knobs")
    _check_keys("parameters", parameters, known)
    task = _one_of("task", parameters.get("task", "segmentation"), TASKS)
    knobs = parameters.get("knobs") or {}
    ranges = RANGES["counting" if task in CROWDED_TASKS else "room"]
    allowed = (*ranges, *LEVELS)
    _check_keys("parameters.knobs", knobs, allowed)
    checked = SceneParameters(
        task=task,
        seed=_whole("seed", parameters.get("seed", 0), 0, 2**63 - 1),
        split=_one_of("split", parameters.get("split", "main"), SPLITS),
        width=_whole("width", parameters.get("width", 512), MIN_SIDE_PX, MAX_SIDE_PX),
        height=_whole("height", parameters.get("height", 384), MIN_SIDE_PX, MAX_SIDE_PX),
        factors={name: _levels(name, knobs[name], ranges) for name in allowed if name in knobs},
    )
    _check_room_for_crowds(checked)
    return checked


def locate(parameters: SceneParameters, rank: int) -> Address:
    """Return the scene, combination and query of a rank (queries change fastest).

    Raises:
        SpecError: the rank is negative.
    """
    if rank < 0:
        raise SpecError(f"scenes: rank {rank} does not exist; ranks start at 0")
    unit, query = divmod(rank, parameters.queries_per_scene)
    combinations = parameters.combinations
    scene, combination = divmod(unit, len(combinations))
    return Address(scene, resolve(parameters, scene, combinations[combination]), query)


def resolve(parameters: SceneParameters, scene: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every knob of a scene: given, drawn for this scene, or the base.

    Counting scenes are compact, and leave their numbers of things to the design of counts.
    """
    knobs: dict[str, Any] = {knob: levels[0] for knob, levels in LEVELS.items()}
    if parameters.family == "counting":
        return {**knobs, "depth_ratio": COUNTING_DEPTH_RATIO, **given}
    drawn = {
        knob: balanced(values, scene, *parameters.name, knob) for knob, values in DRAWN.items()
    }
    return {**knobs, **drawn, **given}


def _check_room_for_crowds(parameters: SceneParameters) -> None:
    """Refuse pictures in which the crowded scenes of the counting design have no place."""
    is_small = parameters.width * parameters.height < LEAST_CROWD_PX
    if parameters.family == "counting" and "objects" not in parameters.factors and is_small:
        raise SpecError(
            f"scenes: parameters: {parameters.width} x {parameters.height} is too small to count "
            "in; use at least 384 x 288, or fix knobs.objects"
        )


def _levels(name: str, given: Any, ranges: Mapping[str, tuple[int, int]]) -> tuple[Any, ...]:
    levels = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not levels or len(set(levels)) != len(levels):
        raise SpecError(f"scenes: parameters.knobs.{name}: give each level once, got {given!r}")
    for level in levels:
        if name in ranges:
            _whole(f"knobs.{name}", level, *ranges[name])
        else:
            _one_of(f"knobs.{name}", level, LEVELS[name])
    return levels


def _check_keys(where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise SpecError(f"scenes: {where}: unknown key {key!r}; allowed: {', '.join(known)}")


def _one_of(key: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if isinstance(value, bool) or value not in allowed:
        choices = ", ".join(str(choice) for choice in allowed)
        raise SpecError(f"scenes: parameters.{key}: {value!r} is not one of {choices}")
    return value


def _whole(key: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SpecError(f"scenes: parameters.{key}: {value!r} is not a whole number {low}..{high}")
    return value
