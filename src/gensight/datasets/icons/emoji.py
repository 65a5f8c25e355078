"""Emoji of the concepts from an installed colour font: the second, optional set of drawings.

Noto Color Emoji (SIL OFL 1.1) holds bitmaps of one size, 136 x 128 pixels, which FreeType gives at
size 109. The font is not shipped here: samples carry its digest, for another version draws others.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from gensight.datasets.icons.concepts import concepts
from gensight.datasets.icons.drawings import WHOLE, Frame
from gensight.digests import digest_of_bytes
from gensight.errors import AbsentDataError, MissingDataError
from gensight.images import resize_picture

BITMAP_SIZE = 109
SIDE_PX = 136
HIGH_PX = 128
#: Where distributions put it: Debian and Ubuntu, Fedora, Arch.
PLACES = (
    "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf",
    "/usr/share/fonts/google-noto-color-emoji-fonts/NotoColorEmoji.ttf",
    "/usr/share/fonts/google-noto-emoji/NotoColorEmoji.ttf",
    "/usr/share/fonts/noto/NotoColorEmoji.ttf",
)
ADVICE = "install it (Debian: apt install fonts-noto-color-emoji) or name its file as `font`"


def find_font(named: str | None, sha256: str | None = None) -> Path:
    """Return the font's file: the named one, else the first that is installed.

    Raises:
        AbsentDataError: there is none; the message says what to install.
        MissingDataError: it has another sha256.
    """
    for place in [named] if named else PLACES:
        font = Path(place)
        if font.is_file():
            found = font_digest(font)
            if sha256 not in (None, found):
                raise MissingDataError(
                    f"icons: {font} has the sha256 {found}, not the font_sha256 of the benchmark, "
                    f"and draws other emoji; install that version, or change font_sha256"
                )
            return font
    where = f"at {named}" if named else "installed"
    raise AbsentDataError(f"icons: Noto Color Emoji is not {where}; {ADVICE}")


@cache
def font_digest(font: Path) -> str:
    """Return the sha256 of the font's file."""
    return digest_of_bytes(font.read_bytes())


def paint_emoji(label: str, font: Path, picture: np.ndarray, frame: Frame) -> np.ndarray:
    """Return a square uint8 picture (n, n, 3) with the emoji painted over it where `frame` says.

    Raises:
        MissingDataError: the file is no colour font with this emoji.
    """
    glyph = _glyph(label, font)
    side_px = max(1, len(picture) * frame.side // WHOLE)
    left, top = (len(picture) * start // WHOLE for start in (frame.left, frame.top))
    alpha = (
        resize_picture(np.ascontiguousarray(glyph[..., 3]), side_px, side_px).astype(np.float64)
        / 255
    )
    colour = resize_picture(np.ascontiguousarray(glyph[..., :3]), side_px, side_px)
    painted = picture.copy()
    window = painted[top : top + side_px, left : left + side_px]
    mixed = colour + window * (1 - alpha[..., None])
    window[:] = np.clip(mixed.round(), 0, 255).astype(np.uint8)
    return painted


@cache
def _glyph(label: str, font: Path) -> np.ndarray:
    """Return the emoji as uint8 (SIDE_PX, SIDE_PX, 4), centred: RGB weighted by alpha, and alpha.

    Pillow lays the bitmap on transparent black, so its colours come weighted.
    """
    from PIL import Image, ImageDraw, ImageFont

    character = concepts()[label].character
    try:
        face = ImageFont.truetype(str(font), BITMAP_SIZE)
        canvas = Image.new("RGBA", (SIDE_PX, SIDE_PX))
        place = (0, (SIDE_PX - HIGH_PX) // 2)
        ImageDraw.Draw(canvas).text(place, character or "", font=face, embedded_color=True)
    except OSError as error:
        raise MissingDataError(f"icons: {font} cannot be used ({error}); {ADVICE}") from error
    glyph = np.asarray(canvas)
    solid = glyph[glyph[..., 3] == 255]
    # A font without the emoji draws nothing, or a box of one colour.
    if len(np.unique(solid, axis=0)) < 2:
        raise MissingDataError(f"icons: {font} has no colour emoji of {label!r}; {ADVICE}")
    return glyph
