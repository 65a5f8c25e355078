"""What is counted: the design of counts and clutter, and the kinds of things in a scene.

The target count k and the number of other things d are independent (PROTOCOLS 4.1): k is 0 in a
tenth of the scenes, 15, 20, 30 or 50 in a tenth, and spread over 1..12 otherwise; d is spread so
widely that k and the total correlate by less than 0.3. A third of the scenes hold red things, which
break the colour gate of a dot decoder; no other scene does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gensight.datasets.scenes.colours import draw_pool
from gensight.datasets.scenes.randomness import balanced, stream

MAIN_SHAPES = ("sphere", "box", "cylinder")
HELD_OUT_SHAPES = ("cone", "capsule")
# In the split `ood` the held-out shapes are the more frequent ones.
SHAPE_POOLS = {"main": MAIN_SHAPES, "ood": (*HELD_OUT_SHAPES, *HELD_OUT_SHAPES, *MAIN_SHAPES)}
PLURALS = {
    "sphere": "spheres",
    "box": "boxes",
    "cylinder": "cylinders",
    "cone": "cones",
    "capsule": "capsules",
}

# 100 scenes: 10 zeros, 10 large counts, 80 spread over 1..12.
COUNTS = (
    *(0,) * 10, *(15,) * 4, *(20,) * 3, *(30,) * 2, 50,
    *tuple(range(1, 13)) * 6, 1, 3, 4, 6, 7, 9, 10, 12,
)  # fmt: skip
# The spread of d, not its mean, separates the count from the total: few other things or very many.
OTHERS = (*tuple(range(1, 17)) * 5, *range(60, 80))
PAIRINGS = 200
RED_SCENES = (True, False, False)
COLOURS_PER_SCENE = 4
BINS = ((0, 0, "0"), (1, 5, "1-5"), (6, 10, "6-10"), (11, 20, "11-20"), (21, 50, "21-50"))


@dataclass(frozen=True)
class Wanted:
    """What is counted: a shape, a colour, or both; how many; and how many other things."""

    shape: str | None
    colour: str | None
    count: int
    others: int
    is_red_scene: bool

    @property
    def phrase(self) -> str:
        """The plural noun phrase, e.g. "blue spheres"."""
        noun = PLURALS[self.shape] if self.shape else "objects"
        return f"{self.colour} {noun}" if self.colour else noun

    def matches(self, shape: str, colour: str) -> bool:
        """Whether a thing of this kind is one of those counted."""
        return self.shape in (None, shape) and self.colour in (None, colour)


def draw_wanted(
    name: tuple[object, ...], split: str, scene: int, knobs: Mapping[str, Any]
) -> Wanted:
    """Return what is counted in a scene.

    One other thing cannot be a distractor for two words: then only the shape is asked for.
    """
    count, others = count_design(name, scene)
    count, others = knobs.get("count", count), knobs.get("objects", others)
    is_red = balanced(RED_SCENES, scene, *name, "red")
    random = stream(*name, "wanted", scene)
    shapes = MAIN_SHAPES if split == "main" else HELD_OUT_SHAPES
    shape = shapes[random.integers(len(shapes))]
    form = ("both", "both", "shape", "colour")[random.integers(4)] if others > 1 else "shape"
    # Without anything to count, red things must be among the others.
    red_target = is_red and count > 0 and random.random() < 0.5
    # In a red scene the counted colour must be far from red as well.
    if is_red:
        colour = "red" if red_target else draw_pool(random, 2, required=("red",), counted="red")[1]
    else:
        colour = draw_pool(random, 1, excluded=("red",))[0]
    return Wanted(
        shape=None if form == "colour" else shape,
        colour=None if form == "shape" else colour,
        count=count,
        others=others,
        is_red_scene=is_red,
    )


@lru_cache(maxsize=64)
def _design_block(name: tuple[object, ...], block: int) -> tuple[tuple[int, int], ...]:
    """Return 100 pairs (k, d): the pairing, of many drawn, whose correlation is closest to 0."""
    random = stream(*name, "counts", block)
    counts = np.array(COUNTS)[random.permutation(len(COUNTS))]
    pairings = [np.array(OTHERS)[random.permutation(len(OTHERS))] for _ in range(PAIRINGS)]
    centred = counts - counts.mean()
    others = min(pairings, key=lambda d: abs(float((d * centred).sum())))
    return tuple((int(k), int(d)) for k, d in zip(counts, others, strict=True))


def count_design(name: tuple[object, ...], scene: int) -> tuple[int, int]:
    """Return the target count k and the number of other things d of a scene."""
    block, position = divmod(scene, len(COUNTS))
    return _design_block(name, block)[position]


def count_bin(count: int) -> str:
    """Return the truth bin of a count (PROTOCOLS 1.4)."""
    return next((label for low, high, label in BINS if low <= count <= high), ">50")


def kinds(random: np.random.Generator, split: str, wanted: Wanted) -> list[tuple[str, str]]:
    """Return (shape, colour) of every thing of a scene, in random order.

    The first of the others are near misses: for each word of the query one that lacks only it.
    """
    shapes = list(dict.fromkeys(SHAPE_POOLS[split]))
    pool = _pool(random, wanted)
    drawn = [
        (_draw(random, shapes, wanted.shape), _draw(random, pool, wanted.colour))
        for _ in range(wanted.count)
    ]
    others = _near_misses(random, shapes, pool, wanted)[: wanted.others]
    free = [(s, c) for s in shapes for c in pool if not wanted.matches(s, c)]
    while len(others) < wanted.others:
        others.append(free[random.integers(len(free))])
    everything = drawn + others
    return [everything[i] for i in random.permutation(len(everything))]


def _pool(random: np.random.Generator, wanted: Wanted) -> list[str]:
    required = tuple(c for c in (wanted.colour, "red" if wanted.is_red_scene else None) if c)
    excluded = () if wanted.is_red_scene else ("red",)
    return draw_pool(random, COLOURS_PER_SCENE, required, excluded, counted=wanted.colour)


def _near_misses(
    random: np.random.Generator, shapes: list[str], pool: list[str], wanted: Wanted
) -> list[tuple[str, str]]:
    """Return one kind per word of the query that lacks this word alone; red where red is due."""
    other_shapes = [shape for shape in shapes if shape != wanted.shape]
    other_colours = [colour for colour in pool if colour != wanted.colour]
    if wanted.is_red_scene and wanted.colour != "red":
        other_colours = ["red"]
    misses = []
    if wanted.colour:
        misses.append((_draw(random, shapes, wanted.shape), _draw(random, other_colours, None)))
    if wanted.shape:
        # Without a colour in the query, this is where a red scene gets its red thing.
        colour = wanted.colour or _draw(random, other_colours, None)
        misses.append((_draw(random, other_shapes, None), colour))
    return misses


def _draw(random: np.random.Generator, values: list[str], fixed: str | None) -> str:
    return fixed if fixed is not None else values[random.integers(len(values))]
