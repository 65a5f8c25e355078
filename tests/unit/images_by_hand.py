"""Pictures written byte by byte, so that their pixel truth owes nothing to any decoder."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6


def chunk(name: bytes, payload: bytes) -> bytes:
    checksum = zlib.crc32(name + payload)
    return struct.pack(">I", len(payload)) + name + payload + struct.pack(">I", checksum)


def png(size, bit_depth, colour_type, rows, extra=b""):
    """Write a PNG of unfiltered rows (bytes each); `extra` holds chunks before IDAT."""
    width, height = size
    header = struct.pack(">IIBBBBB", width, height, bit_depth, colour_type, 0, 0, 0)
    raw = b"".join(b"\0" + bytes(row) for row in rows)
    body = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(raw))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def words(*values):
    """Return 16-bit big-endian samples."""
    return struct.pack(f">{len(values)}H", *values)


def exif(orientation, order=">"):
    """Return a TIFF block whose only tag is the orientation."""
    mark = {">": b"MM", "<": b"II"}[order]
    entry = struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
    return mark + struct.pack(order + "HIH", 42, 8, 1) + entry + struct.pack(order + "I", 0)


def saved(array, kind, mode=None, **options):
    """Encode with Pillow, independently of the encoder under test."""
    stream = io.BytesIO()
    Image.fromarray(array, mode).save(stream, kind, **options) if mode is None else Image.frombytes(
        mode, array.shape[1::-1], array.tobytes()
    ).save(stream, kind, **options)
    return stream.getvalue()


def read_by_pillow(data, mode="RGB"):
    """Decode with Pillow, independently of the decoder under test."""
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert(mode))


def photograph(height=48, width=64, seed=0):
    """Return smooth uint8 RGB noise that no two channels share."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 8, width // 8, 3))
    picture = Image.fromarray(coarse.astype(np.uint8)).resize((width, height), Image.BICUBIC)
    return np.asarray(picture)


HUGE_PNG = png((20000, 20000), 8, RGB, [])
HTML = b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"
GOOD_PNG = saved(photograph(), "PNG")
UNREADABLE = {
    "empty": b"",
    "web page": HTML,
    "huge header": HUGE_PNG,
    "truncated": GOOD_PNG[: len(GOOD_PNG) // 2],
    "text": b"I cannot draw that.",
}
