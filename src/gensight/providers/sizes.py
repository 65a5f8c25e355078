"""Sizes of pictures that OpenAI's image models of free size make: what can be asked for.

The adapter asks for them, and money is reserved for what will be asked.
"""

from __future__ import annotations

import math

#: Sides that OpenAI's image models of free size accept, and the pixels that both make together
#: (OpenAI image generation guide, "size and quality options"; the least number of pixels is read
#: from several third parties' copies of it).
SIDE_STEP = 16
LONGEST_SIDE = 3840
MOST_ELONGATED = 3
FEWEST_PIXELS = 655_360
MOST_PIXELS = 8_294_400
#: How far a size that has to be changed anyway may move, per side, to keep the picture's shape.
REACH = 3 * SIDE_STEP


def allowed_sides(width: int, height: int) -> tuple[int, int]:
    """Return the sides nearest to these that OpenAI's image models accept.

    Each side goes to the nearest multiple of 16. Where that is not allowed, the shorter side grows
    to a third of the longer, both are scaled by the factor nearest to 1 that the limits ask for,
    and of the allowed sizes at most 48 pixels from there the one of the truest shape is taken, then
    the nearest: 640x480 gives 960x720.
    """
    rounded = (_nearest(width), _nearest(height))
    if is_allowed(*rounded):
        return rounded
    wanted = _scaled(*_shortened(width, height))
    near = [(w, h) for w in _around(wanted[0]) for h in _around(wanted[1]) if is_allowed(w, h)]
    shape = math.log(wanted[0] / wanted[1])

    def _order(sides: tuple[int, int]) -> tuple[float, float]:
        moved = abs(sides[0] - wanted[0]) + abs(sides[1] - wanted[1])
        return round(abs(math.log(sides[0] / sides[1]) - shape), 9), moved

    return min(near, key=_order)


def is_allowed(width: int, height: int) -> bool:
    """Say whether OpenAI's image models of free size accept a size."""
    long_side, short_side = max(width, height), min(width, height)
    return (
        width % SIDE_STEP == 0
        and height % SIDE_STEP == 0
        and 0 < long_side <= LONGEST_SIDE
        and long_side <= MOST_ELONGATED * short_side
        and FEWEST_PIXELS <= width * height <= MOST_PIXELS
    )


def _nearest(side: int) -> int:
    """Return the nearest multiple of 16; a tie goes up, as does what would be nothing."""
    return max(SIDE_STEP, (side + SIDE_STEP // 2) // SIDE_STEP * SIDE_STEP)


def _shortened(width: float, height: float) -> tuple[float, float]:
    least = max(width, height) / MOST_ELONGATED
    return max(width, least), max(height, least)


def _scaled(width: float, height: float) -> tuple[float, float]:
    pixels = width * height
    most = min(math.sqrt(MOST_PIXELS / pixels), LONGEST_SIDE / max(width, height))
    factor = min(max(1.0, math.sqrt(FEWEST_PIXELS / pixels)), most)
    return width * factor, height * factor


def _around(side: float) -> list[int]:
    first = math.ceil((side - REACH) / SIDE_STEP) * SIDE_STEP
    return list(range(max(SIDE_STEP, first), math.floor(side + REACH) + 1, SIDE_STEP))
