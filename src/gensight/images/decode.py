"""Bytes to pixels: kind from the bytes, EXIF policy, alpha over a named matte, 16 bits kept.

Policies (PROTOCOLS "Decided"): the caller names the matte that shows through
transparency and says whether the EXIF tag turns the picture; a picture of 16 bits is never
squeezed through 8 on its way to grey.
"""

from __future__ import annotations

import functools
import io

import cv2
import numpy as np
from PIL import Image

from gensight.errors import ImageError
from gensight.images.kinds import PictureInfo, check_complete, inspect, png_chunks
from gensight.images.resize import resize_picture

STRIP_ROWS = 256
Matte = tuple[int, int, int] | np.ndarray

_COLOUR = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
_GREY = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION


def decode_rgb(data: bytes, *, matte: Matte, orient: bool = True) -> np.ndarray:
    """Decode to uint8 (H, W, 3) RGB; 16-bit samples become round(value / 257).

    `matte` is an RGB colour or a uint8 (H, W, 3) picture (brought to this picture's size when it
    differs) that shows through transparency. `orient` applies the EXIF tag. Raises ImageError.
    """
    return to_eight_bits(decode_colour(data, matte=matte, orient=orient))


def decode_colour(data: bytes, *, matte: Matte, orient: bool = True) -> np.ndarray:
    """Decode to (H, W, 3) RGB at the stored depth: uint16 for 16-bit pictures, else uint8."""
    picture = _decode(data, matte, orient)
    return cv2.cvtColor(picture, cv2.COLOR_GRAY2RGB) if picture.ndim == 2 else picture


def decode_grey(data: bytes, *, matte: Matte, orient: bool = True) -> np.ndarray:
    """Decode to Rec. 601 luma (0.299, 0.587, 0.114), (H, W), uint8 or, for 16 bits, uint16.

    The rounding is that of cv2.cvtColor(..., COLOR_RGB2GRAY). Transparency is composited in
    colour first, so a coloured matte counts with its own luma. Raises ImageError.
    """
    return to_grey(_decode(data, matte, orient))


def to_grey(picture: np.ndarray) -> np.ndarray:
    """Reduce an RGB (H, W, 3) picture to Rec. 601 luma (H, W); a grey one is returned as it is."""
    return picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)


def to_eight_bits(picture: np.ndarray) -> np.ndarray:
    """Scale uint16 to uint8 as round(value / 257); a uint8 picture is returned as it is."""
    return picture if picture.dtype == np.uint8 else _eight_bit_table()[picture]


def orient_picture(picture: np.ndarray, orientation: int) -> np.ndarray:
    """Turn and mirror (H, W[, C]) as the EXIF tag 1 to 8 says, so that it stands upright."""
    if orientation == 1:
        return picture
    turned = cv2.transpose(picture) if orientation >= 5 else picture
    # cv2.flip codes: 1 mirrors left-right, 0 top-bottom, -1 both; 5 is the transpose alone.
    flips = {2: 1, 3: -1, 4: 0, 6: 1, 7: -1, 8: 0}
    return cv2.flip(turned, flips[orientation]) if orientation in flips else turned


def _decode(data: bytes, matte: Matte, orient: bool) -> np.ndarray:
    """Return the upright, opaque picture, (H, W) if stored grey and opaque, else (H, W, 3)."""
    info = inspect(data)
    check_complete(data, info)
    picture, alpha = _samples(data, info)
    orientation = info.orientation if orient else 1
    picture = orient_picture(picture, orientation)
    if alpha is None:
        return picture
    return _composite(picture, orient_picture(alpha, orientation), matte)


def _samples(data: bytes, info: PictureInfo) -> tuple[np.ndarray, np.ndarray | None]:
    """Return stored samples as grey or RGB, and the alpha channel where the picture has one."""
    if info.colour == "cmyk":
        return _cmyk_samples(data), None
    if not info.had_alpha:
        return _imdecode(data, _GREY if info.colour == "grey" else _COLOUR, info), None
    picture = _imdecode(data, cv2.IMREAD_UNCHANGED, info)
    if picture.ndim == 2:
        return picture, _grey_key_alpha(data, picture, info)
    if picture.shape[2] == 3:
        return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), None
    return cv2.cvtColor(picture, cv2.COLOR_BGRA2RGB), cv2.extractChannel(picture, 3)


def _imdecode(data: bytes, flags: int, info: PictureInfo) -> np.ndarray:
    try:
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise ImageError(f"the {info.kind} picture cannot be decoded: {error.err}") from error
    if picture is None:
        raise ImageError(f"the {info.kind} picture cannot be decoded: its data is damaged")
    if picture.shape[:2] != (info.height, info.width):
        raise ImageError(
            f"the {info.kind} header says {info.width}x{info.height}, "
            f"its data {picture.shape[1]}x{picture.shape[0]}"
        )
    return picture


def _cmyk_samples(data: bytes) -> np.ndarray:
    """Convert a CMYK or YCCK JPEG without a colour profile: R = (255 - C)(255 - K) / 255.

    Pillow knows the inverted ink levels of Adobe's files; OpenCV's formula does not agree with it.
    """
    try:
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise ImageError(f"the jpeg picture cannot be decoded: {error}") from error


def _grey_key_alpha(data: bytes, picture: np.ndarray, info: PictureInfo) -> np.ndarray:
    """Return the alpha of a grey PNG whose tRNS chunk names one transparent level."""
    payload = next((payload for name, payload in png_chunks(data) if name == b"tRNS"), b"")
    if len(payload) != 2:
        raise ImageError("the png picture has a tRNS chunk of the wrong length")
    highest = np.iinfo(picture.dtype).max
    stored_highest = 2**info.bit_depth - 1
    level = (int.from_bytes(payload, "big") & stored_highest) * (highest // stored_highest)
    return np.where(picture == level, 0, highest).astype(picture.dtype)


def _composite(picture: np.ndarray, alpha: np.ndarray, matte: Matte) -> np.ndarray:
    """Return round(picture x alpha + matte x (1 - alpha)) as (H, W, 3) of the picture's dtype."""
    colour = cv2.cvtColor(picture, cv2.COLOR_GRAY2RGB) if picture.ndim == 2 else picture
    if alpha.min() == np.iinfo(alpha.dtype).max:
        return colour
    behind = np.broadcast_to(_matte_picture(matte, colour), colour.shape)
    result = np.empty_like(colour)
    # In strips, since the products need twice or four times the bytes of a whole picture.
    for top in range(0, len(colour), STRIP_ROWS):
        strip = slice(top, top + STRIP_ROWS)
        result[strip] = _blend(colour[strip], alpha[strip], behind[strip])
    return result


def _blend(colour: np.ndarray, alpha: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Blend (h, W, 3) of 8 or 16 bits over 8-bit colours, rounding to nearest."""
    highest = int(np.iinfo(colour.dtype).max)
    # highest^2 plus half of highest just fits: 255 into uint16, 65535 into uint32.
    wide = np.uint16 if colour.dtype == np.uint8 else np.uint32
    opacity = alpha.astype(wide)[:, :, None]
    behind = behind.astype(wide) * wide(highest // 255)
    blended = colour * opacity + behind * (wide(highest) - opacity)
    return ((blended + wide(highest // 2)) // wide(highest)).astype(colour.dtype)


def _matte_picture(matte: Matte, colour: np.ndarray) -> np.ndarray:
    if not isinstance(matte, np.ndarray):
        return np.asarray(matte, np.uint8)
    if matte.dtype != np.uint8 or matte.ndim != 3 or matte.shape[2] != 3:
        raise ValueError(f"a matte picture is uint8 (H, W, 3), not {matte.dtype} {matte.shape}")
    return resize_picture(matte, colour.shape[1], colour.shape[0])


@functools.cache
def _eight_bit_table() -> np.ndarray:
    return ((np.arange(65536, dtype=np.uint32) + 128) // 257).astype(np.uint8)
