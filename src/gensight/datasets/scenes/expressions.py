"""Referring expressions as three-valued logic over all visible things of a scene.

A clause says of each thing whether it certainly fits, certainly does not, or lies inside a margin
and is unclear; sets of things are bit masks, so that a scene's expressions are cheap to enumerate.
An expression identifies a thing iff exactly one fits and none is unclear. It is minimal iff leaving
out any of its words leaves at least one true distractor (PROTOCOLS 4.1, Expressions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

LEFT_GAP_SHARE = 0.08
NEARER_RATIO = 1.15


@dataclass(frozen=True)
class Seen:
    """What the picture shows of one thing: its attributes, extent and depth.

    `left_px` and `right_px` bound the silhouette; `min_depth_m` is the nearest and `mean_depth_m`
    the mean z-depth of its visible pixels.
    """

    shape: str
    colour: str
    size: str | None
    hanging: bool
    volume_m3: float
    left_px: int
    right_px: int
    min_depth_m: float
    mean_depth_m: float


@dataclass(frozen=True)
class Clause:
    """One attribute: bit i of `certain` is set iff thing i fits, of `possible` iff it may fit."""

    kind: str
    value: str
    certain: int
    possible: int


@dataclass(frozen=True)
class Expression:
    """Attributes that all hold, and perhaps one extremum over the things they hold for.

    `anchor` is the expression that identifies the other thing of a relation.
    """

    clauses: tuple[Clause, ...]
    extremum: str | None = None
    anchor: Expression | None = None


@dataclass(frozen=True)
class Orders:
    """Pairwise orders with margins: bit j of `ahead[word][i]` is set iff i is clearly more so."""

    ahead: dict[str, tuple[int, ...]] = field(default_factory=dict)


def members(bits: int) -> list[int]:
    """Return the indices of the set bits."""
    return [i for i in range(bits.bit_length()) if bits >> i & 1]


def orders_of(things: Sequence[Seen], width: int) -> Orders:
    """Return the orders left, right, near and far of the things in a picture of this width.

    i is left of j iff a gap of 8 % of the width lies between their silhouettes; nearer iff the
    nearest and the mean depth of j are both at least 15 % larger.
    """
    gap = LEFT_GAP_SHARE * width

    def _is_left(a: Seen, b: Seen) -> bool:
        return a.right_px + gap <= b.left_px

    def _is_near(a: Seen, b: Seen) -> bool:
        return (
            NEARER_RATIO * a.min_depth_m <= b.min_depth_m
            and NEARER_RATIO * a.mean_depth_m <= b.mean_depth_m
        )

    def _bits(relation: Callable[[Seen, Seen], bool]) -> tuple[int, ...]:
        return tuple(
            sum(1 << j for j, b in enumerate(things) if j != i and relation(a, b))
            for i, a in enumerate(things)
        )

    return Orders(
        {
            "leftmost": _bits(_is_left),
            "rightmost": _bits(lambda a, b: _is_left(b, a)),
            "nearest": _bits(_is_near),
            "farthest": _bits(lambda a, b: _is_near(b, a)),
        }
    )


def fits(clauses: Sequence[Clause], everything: int) -> tuple[int, int]:
    """Return the things that certainly, and that possibly, fit all clauses."""
    certain, possible = everything, everything
    for clause in clauses:
        certain &= clause.certain
        possible &= clause.possible
    return certain, possible


def identify(expression: Expression, orders: Orders, everything: int) -> int | None:
    """Return the index of the one thing that an expression names; None if it names none or more."""
    certain, possible = fits(expression.clauses, everything)
    if certain != possible or not certain:
        return None
    if expression.extremum is None:
        return members(certain)[0] if certain.bit_count() == 1 else None
    ahead = orders.ahead[expression.extremum]
    for index in members(certain):
        if certain & ~(1 << index) & ~ahead[index] == 0:
            return index
    return None


def is_minimal(expression: Expression, orders: Orders, everything: int) -> bool:
    """Whether every word is needed: without it, another thing certainly competes for the name.

    Without an attribute a second thing fits as well (or, under an extremum, one that is clearly
    more extreme); without the extremum, several things fit. An anchor must be minimal itself, and
    is no rival: it has just been named as the other thing.
    """
    target = identify(expression, orders, everything)
    if target is None:
        return False
    clauses = expression.clauses
    named = 1 << target
    if expression.anchor is not None:
        anchor = identify(expression.anchor, orders, everything)
        if anchor is None:
            return False
        named |= 1 << anchor
    if expression.extremum and fits(clauses, everything)[0].bit_count() < 2:
        return False
    for left_out in range(len(clauses)):
        kept = clauses[:left_out] + clauses[left_out + 1 :]
        rivals = fits(kept, everything)[0] & ~named
        if expression.extremum:
            ahead = orders.ahead[expression.extremum]
            rivals = sum(1 << j for j in members(rivals) if ahead[j] >> target & 1)
        if not rivals:
            return False
    return expression.anchor is None or is_minimal(expression.anchor, orders, everything)
