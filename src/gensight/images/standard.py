"""The size at which pictures are sent, marked and compared: long side 1024 (ProbeGen 4.1)."""

from __future__ import annotations

from gensight.images.decode import decode_rgb
from gensight.images.encode import encode_png
from gensight.images.kinds import inspect
from gensight.images.resize import LONG_SIDE, fit_long_side, resize_picture

UPRIGHT = 1
WHITE = (255, 255, 255)


def standardise(data: bytes, *, long_side: int | None = LONG_SIDE, orient: bool = True) -> bytes:
    """Return an input picture upright, opaque and with this long side, in the shape it is sent in.

    Without a long side it keeps its own size, as it stands upright. Bytes that already are all of
    that come back unchanged. Transparency lies over white, as for every source picture (PROTOCOLS,
    "Decided").

    Raises:
        ImageError: the bytes are not a readable picture.
    """
    info = inspect(data)
    # A tag that is to be ignored must not reach a reader that would apply it, nor inks one that
    # knows only light.
    plain = info.orientation == UPRIGHT and info.bit_depth == 8 and info.colour != "cmyk"
    own = max(info.width, info.height)
    size = fit_long_side(info.width, info.height, own if long_side is None else long_side)
    if plain and (info.width, info.height) == size and not info.had_alpha:
        return data
    picture = decode_rgb(data, matte=WHITE, orient=orient)
    if long_side is None:
        return encode_png(picture)
    width, height = fit_long_side(picture.shape[1], picture.shape[0], long_side)
    return encode_png(resize_picture(picture, width, height))
