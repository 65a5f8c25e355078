"""What is true of the things in a picture: the clauses that expressions are made of.

Margins (PROTOCOLS 4.1): named colours are 20 CIEDE2000 units apart on rendered medians; large means
1.8 times the volume of every small thing; places and distances as `expressions.orders_of` says.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gensight.datasets.scenes.colours import MIN_DIFFERENCE, differences
from gensight.datasets.scenes.expressions import Clause, Orders, Seen, orders_of

LARGE_VOLUME_RATIO = 1.8


@dataclass(frozen=True)
class Facts:
    """All that is known of a scene's things: clauses by (kind, value), and their orders."""

    things: tuple[Seen, ...]
    clauses: dict[tuple[str, str], Clause]
    orders: Orders

    @property
    def everything(self) -> int:
        """The set of all things."""
        return (1 << len(self.things)) - 1

    def of(self, kind: str, index: int) -> Clause | None:
        """Return the clause of this kind that holds for a thing, or None if it has none."""
        value = {
            "size": self.things[index].size,
            "colour": self.things[index].colour,
            "shape": self.things[index].shape,
            "support": "hanging" if self.things[index].hanging else None,
        }[kind]
        return self.clauses.get((kind, value)) if value else None


def facts_of(things: Sequence[Seen], medians: np.ndarray, width: int) -> Facts:
    """Collect the clauses of a scene; `medians` (n, 3) are the rendered median colours, 0..255."""
    clauses: dict[tuple[str, str], Clause] = {}
    for kind, value, certain, possible in itertools.chain(
        _plain_clauses(things), _colour_clauses(things, medians), _size_clauses(things)
    ):
        clauses[kind, value] = Clause(kind, value, certain, possible)
    return Facts(tuple(things), clauses, orders_of(things, width))


def _bits(flags: Sequence[bool] | np.ndarray) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _plain_clauses(things: Sequence[Seen]) -> Iterator[tuple[str, str, int, int]]:
    for shape in sorted({thing.shape for thing in things}):
        bits = _bits([thing.shape == shape for thing in things])
        yield "shape", shape, bits, bits
    hanging = _bits([thing.hanging for thing in things])
    yield "support", "hanging", hanging, hanging


def _colour_clauses(
    things: Sequence[Seen], medians: np.ndarray
) -> Iterator[tuple[str, str, int, int]]:
    """Another colour is certainly another one only 20 units away from all of the named ones."""
    apart = differences(medians, medians) >= MIN_DIFFERENCE
    for colour in sorted({thing.colour for thing in things}):
        named = np.array([thing.colour == colour for thing in things])
        clear = apart[:, named].all(axis=1)
        yield "colour", colour, _bits(named), _bits(named | ~clear)


def _size_clauses(things: Sequence[Seen]) -> Iterator[tuple[str, str, int, int]]:
    """Sizes can be named only if every large thing has 1.8 times the volume of every small one."""
    large = [thing.volume_m3 for thing in things if thing.size == "large"]
    small = [thing.volume_m3 for thing in things if thing.size == "small"]
    if large and small and min(large) >= LARGE_VOLUME_RATIO * max(small):
        for size in ("small", "large"):
            bits = _bits([thing.size == size for thing in things])
            yield "size", size, bits, bits
