"""Pictures on their way to a provider: their type, their form on the wire, the size to ask for.

The bytes go out as they are. Their type is read from them, never from a name.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import NamedTuple

from gensight.images import inspect

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


class SentFile(NamedTuple):
    """A picture as one part of a multipart body: file name, bytes, MIME type."""

    name: str
    data: bytes
    mime: str


def mime_of(data: bytes) -> str:
    """Return the MIME type of a picture by its first bytes.

    Raises:
        ImageError: the bytes are no PNG, JPEG or WebP picture.
    """
    return f"image/{inspect(data).kind}"


def data_uri(data: bytes) -> str:
    """Return a picture as a data URI, base64 of its bytes; ImageError as `mime_of`."""
    return f"data:{mime_of(data)};base64,{base64.b64encode(data).decode('ascii')}"


def sent_file(data: bytes, number: int) -> SentFile:
    """Return a picture as a file named by its place, counted from 1; ImageError as `mime_of`."""
    mime = mime_of(data)
    return SentFile(f"picture_{number}.{mime.removeprefix('image/')}", data, mime)


def decoded(text: object) -> bytes | None:
    """Return the bytes of a picture in base64; None where it is none, or is empty."""
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True) or None
    except (binascii.Error, ValueError):
        return None


def size_like(data: bytes) -> str:
    """Return the size to ask for so that the answer has a picture's size: `WIDTHxHEIGHT`.

    `allowed_sides` says how; ImageError as `mime_of`.
    """
    width, height = allowed_sides(*inspect(data).upright_size)
    return f"{width}x{height}"


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
