"""A confusion set for the blind failure classifier, made without knowing it (PROTOCOLS 3.4).

Every case is an input, an answer to it, and the class that its operator makes by construction. Each
operator has a severity on a continuous scale that begins where nobody should see a fault: compare
the share of each class with the severity, not with an expected one. A third of every set and more
are right answers that look like a failure (`is_hard`).

What the classes mean here, by the paper's account of failures (ProbeGen 4.6) where it has one:

    ok            the asked form, registered to the input
    copy          the input comes back, perhaps resaved or resized (counting: `unmarked_copy`)
    filter        the input under one change of colour or tone
    drift         the right answer under one movement of the plane: shifted, turned, seen aslant
    drift_local   the right answer bent, each place in its own direction
    stylised      the input redrawn in a style, in place
    rerender      the scene drawn anew: textures, light, poses or viewpoint are others
    unrelated     a picture of something else, or the depth of something else
    inverted      a mask with its target black
    degenerate    no picture: one colour, fog, a black frame
    overlay       the target tinted on the input
    cutout        the target as it looks, on a plain or faded ground
    colour_mask   the target, or every thing, in colours
    outline       the border of the target as a line
    grey          a map in many greys where a mask was asked for
    colormap      depth in false colours
    mask          black and white where depth or dots were asked for
    flat_regions  patches of one grey each where depth was asked for
    other_format  panels, words, edges, normals; boxes, crosses, numbers, dots without the picture

Operators and sources of split A and split B are disjoint. A classifier is tuned on A and reported
on B. Where the shared sample pictures are there, both splits have more cases; the others stay.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from failure_operators import (
    formats,
    honest_a,
    honest_b,
    overlays,
    renders,
    sources,
    styles,
    tones,
    warps,
)
from failure_operators.shots import Operator, Shot, Shown

__all__ = ["CLASSES", "OPERATORS", "TASKS", "Case", "cases", "make", "plan"]

CLASSES = (
    *("ok", "copy", "filter", "unmarked_copy", "drift", "drift_local", "stylised", "rerender"),
    *("unrelated", "inverted", "degenerate", "overlay", "cutout", "colour_mask", "outline"),
    *("grey", "colormap", "mask", "flat_regions", "other_format"),
)
TASKS = ("segmentation", "depth", "counting")
MODULES = (honest_a, honest_b, tones, warps, styles, overlays, formats, renders)
OPERATORS: dict[str, Operator] = {
    operator.name: operator for module in MODULES for operator in module.OPERATORS
}


@dataclass(frozen=True, eq=False)
class Case:
    """One input with one answer, both uint8 RGB, and the class of the answer.

    `truth` is bool (H, W) for segmentation, depth in metres (H, W) or points (n, 2: x, y) in
    pixels of the input. `OPERATORS[operator]` has the unit of the severity. Photographs without
    measured depth have a stand-in.
    """

    input_rgb: np.ndarray
    output_rgb: np.ndarray
    true_class: str
    operator: str
    severity: float
    source: str
    truth: np.ndarray


def cases(split: str, task: str, *, limit: int | None = None) -> Iterator[Case]:
    """Yield the cases of a split ("A" or "B") and a task, the same ones in the same order.

    Classes take turns, hard right answers have every third place: a prefix, which `limit` gives,
    is as mixed as the whole.
    """
    for operator, severity, name in plan(split, task)[:limit]:
        yield make(operator, severity, task, name)


def make(operator: Operator, severity: float, task: str, source_name: str) -> Case:
    """Return one case of a plan; it depends on these four alone."""
    source = sources.load(operator.split, source_name)
    seed = int.from_bytes(_hash(task, operator.name, severity, source.name)[:16], "big")
    shot = Shot(task, source, severity, np.random.default_rng(seed))
    shown = operator.function(shot)
    if not isinstance(shown, Shown):
        shown = Shown(shot.rgb, shown, shot.truth)
    return Case(
        input_rgb=shown.input_rgb,
        output_rgb=shown.output_rgb,
        true_class=true_class(operator, task),
        operator=operator.name,
        severity=severity,
        source=source.name,
        truth=shown.truth,
    )


def plan(split: str, task: str) -> list[tuple[Operator, float, str]]:
    """Return what `cases` will make: operator, severity and source."""
    listed = [
        (operator, severity, name)
        for operator in OPERATORS.values()
        if operator.split == split and task in operator.tasks
        for severity in operator.severities
        for name in _chosen(operator, severity, task)
    ]
    listed.sort(key=lambda entry: _hash(task, entry[0].name, entry[1], entry[2]))
    turns: dict[str, list[tuple[Operator, float, str]]] = defaultdict(list)
    for entry in listed:
        turns["hard" if entry[0].is_hard else true_class(entry[0], task)].append(entry)
    hard = turns.pop("hard")
    others = _in_turns(turns)
    mixed = []
    while others:
        mixed += [*hard[:1], *others[:2]]
        hard, others = hard[1:], others[2:]
    return mixed + hard


def true_class(operator: Operator, task: str) -> str:
    """Return the class of an operator's answers; a copy without marks has a name of its own."""
    is_unmarked = operator.true_class == "copy" and task == "counting"
    return "unmarked_copy" if is_unmarked else operator.true_class


def _chosen(operator: Operator, severity: float, task: str) -> list[str]:
    """Return the sources of one severity: some of the shipped, and one of the shared ones."""
    chosen: list[str] = []
    for shared, number in ((False, operator.per_severity), (True, 1)):
        names = [
            name
            for name in sources.names(operator.split, task, shared=shared)
            if (operator.sources is None or name in operator.sources)
            and not name.startswith(operator.without)
        ]
        names.sort(key=lambda name: _hash(task, operator.name, severity, name))
        chosen += names[:number]
    return chosen


def _in_turns(
    groups: dict[str, list[tuple[Operator, float, str]]],
) -> list[tuple[Operator, float, str]]:
    """Return the entries of all groups, one of each group at a time."""
    longest = max(len(group) for group in groups.values())
    ordered = [groups[name] for name in CLASSES if name in groups]
    return [group[turn] for turn in range(longest) for group in ordered if turn < len(group)]


def _hash(*name: object) -> bytes:
    return hashlib.sha256("/".join(map(str, name)).encode()).digest()
