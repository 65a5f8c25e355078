"""The shapes of a drawing: one line of text each, flattened to polygons with whole-number corners.

A line reads `[plain] kind colour numbers...`; coordinates are hundredths of the drawing's side,
x to the right, y down, angles in degrees from x towards y:

    ellipse  centre x y, radii x y [, turn]
    chord    centre x y, radii x y, from, to            the part of an ellipse cut off by a line
    wedge    centre x y, radii x y, from, to            the same with the centre: a slice
    box      left, top, right, bottom
    polygon  x y, x y, ...
    blob     x y, x y, ...                              closed and smooth; the corners attract it
    line     width, x y, x y, ...                       with round ends and joints
    curve    width, x y, x y, ...                       an open blob
    arc      width, centre x y, radii x y, from, to

In an outlined drawing every shape has an outline except a `plain` one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[int, int]
Polygon = list[Point]
Path = list[tuple[float, float]]

#: Corners are whole numbers of thousandths of a hundredth: the raster needs no floating point.
UNITS = 1000
SIDE = 100 * UNITS
DEGREES_PER_CORNER = 8
DEGREES_PER_END = 30
STEPS_PER_BEND = 6


@dataclass(frozen=True)
class Shape:
    """Polygons that are filled together, their colour's name, and the outline around them."""

    colour: str
    polygons: list[Polygon]
    outline: list[Polygon]
    is_stroke: bool


def read_shape(text: str, outline_width: float | None) -> Shape:
    """Read one line; `outline_width` is in hundredths of the side, None draws no outline.

    Raises:
        ValueError: the kind is unknown or its numbers are not as many as it needs.
    """
    words = text.split()
    is_plain = words[0] == "plain"
    kind, colour, *rest = words[is_plain:]
    if kind not in (*FILLED, *DRAWN):
        raise ValueError(
            f"{text!r}: there is no shape {kind!r}; use {', '.join((*FILLED, *DRAWN))}"
        )
    numbers = [float(word) for word in rest]
    has_outline = outline_width is not None and not is_plain
    if kind in FILLED:
        path = FILLED[kind](*numbers)
        outline = _stroke([*path, path[0]], outline_width) if has_outline else []
        return Shape(colour, [_whole(path)], outline, is_stroke=False)
    width, *others = numbers
    path = DRAWN[kind](*others)
    outline = _stroke(path, width + 2 * outline_width) if has_outline else []
    return Shape(colour, _stroke(path, width), outline, is_stroke=True)


def _ellipse(x: float, y: float, wide: float, high: float, turn: float = 0) -> Path:
    corners = _around(0, 0, wide, high, 0, 360)[:-1]
    across, down = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return [(x + p * across - q * down, y + p * down + q * across) for p, q in corners]


def _around(x: float, y: float, wide: float, high: float, start_deg: float, end_deg: float) -> Path:
    steps = max(2, math.ceil(abs(end_deg - start_deg) / DEGREES_PER_CORNER))
    angles = [start_deg + (end_deg - start_deg) * step / steps for step in range(steps + 1)]
    return [
        (x + wide * math.cos(math.radians(angle)), y + high * math.sin(math.radians(angle)))
        for angle in angles
    ]


def _wedge(x: float, y: float, *others: float) -> Path:
    return [(x, y), *_around(x, y, *others)]


def _box(left: float, top: float, right: float, bottom: float) -> Path:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _straight(*numbers: float) -> Path:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _blob(*numbers: float) -> Path:
    """Return a closed quadratic B-spline: it passes halfway between corners, bending at each."""
    corners = _straight(*numbers)
    halves = [
        _between(one, other) for one, other in zip(corners, corners[1:] + corners[:1], strict=True)
    ]
    starts = halves[-1:] + halves[:-1]
    return [
        point
        for start, corner, end in zip(starts, corners, halves, strict=True)
        for point in _bend(start, corner, end)
    ]


def _curve(*numbers: float) -> Path:
    """Return an open quadratic B-spline from the first corner to the last."""
    first, *inner, last = _straight(*numbers)
    halves = [_between(one, other) for one, other in pairwise(inner)]
    bends = zip([first, *halves], inner, [*halves, last], strict=True)
    return [point for bend in bends for point in _bend(*bend)] + [last]


def _between(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _bend(start: Sequence[float], corner: Sequence[float], end: Sequence[float]) -> Path:
    """Return a quadratic Bezier curve without its end."""
    path = []
    for step in range(STEPS_PER_BEND):
        share = step / STEPS_PER_BEND
        weights = (1 - share) ** 2, 2 * share * (1 - share), share**2
        x, y = (
            sum(weight * place for weight, place in zip(weights, places, strict=True))
            for places in zip(start, corner, end, strict=True)
        )
        path.append((x, y))
    return path


def _stroke(path: Path, width: float | None) -> list[Polygon]:
    """Return a path as wide pieces: one with round ends for each of its steps."""
    radius = (width or 0) / 2
    pieces = []
    for (x0, y0), (x1, y1) in pairwise(path):
        turn = math.degrees(math.atan2(y1 - y0, x1 - x0))
        ends = (x0, y0, turn + 90), (x1, y1, turn - 90)
        corners = [
            (x + radius * math.cos(angle), y + radius * math.sin(angle))
            for x, y, start in ends
            for angle in (math.radians(start + part) for part in range(0, 181, DEGREES_PER_END))
        ]
        pieces.append(_whole(corners))
    return pieces


def _whole(path: Path) -> Polygon:
    return [(round(x * UNITS), round(y * UNITS)) for x, y in path]


FILLED: dict[str, Callable[..., Path]] = {
    "ellipse": _ellipse,
    "chord": _around,
    "wedge": _wedge,
    "box": _box,
    "polygon": _straight,
    "blob": _blob,
}
DRAWN: dict[str, Callable[..., Path]] = {
    "line": _straight,
    "curve": _curve,
    "arc": _around,
}
