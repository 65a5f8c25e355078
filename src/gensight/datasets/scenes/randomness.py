"""Where every random number of a scene comes from: named streams of one seed.

A stream is named by the seed and by what it decides (layout, colours, light, ...), so changing one
factor of a scene leaves all others as they were (common random numbers).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Value = TypeVar("Value")


def stream(*name: object) -> np.random.Generator:
    """Return the generator of a named stream; equal names give equal numbers on every machine."""
    text = "/".join(str(part) for part in name)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def balanced(values: Sequence[Value], index: int, *name: object) -> Value:
    """Return the value at `index` of a sequence that uses each value once per block.

    Each block of len(values) indices is a permutation of its own: any whole number of blocks is
    exactly balanced, and no value depends on how many are asked for.
    """
    block, position = divmod(index, len(values))
    order = stream(*name, "block", block).permutation(len(values))
    return values[int(order[position])]
