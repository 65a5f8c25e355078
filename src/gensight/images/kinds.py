"""What a picture is, read from its first bytes: kind, size, bit depth, alpha, orientation.

Nothing is decoded here. File names and declared types are never consulted: services return JPEG
under the name of PNG, and HTML error pages under both.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gensight.errors import ImageError

#: How a file's name ends, by what the picture is.
EXTENSIONS = {"png": "png", "jpeg": "jpg", "webp": "webp"}
# Pillow's own limit: larger headers are taken for decompression bombs.
MAX_PIXELS = 89_478_485

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
ORIENTATION_TAG = 0x0112
# Start-of-frame markers of JPEG; C4, C8 and CC in this range mean other things.
FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
SCAN_MARKER = 0xDA


@dataclass(frozen=True)
class PictureInfo:
    """The facts of a picture's header; width and height as stored, before any orientation.

    `kind` is `png`, `jpeg` or `webp`; `colour` is `grey`, `rgb`, `palette` or `cmyk`;
    `bit_depth` is bits per stored sample (1, 2, 4, 8 or 16; for a palette, bits per index);
    `orientation` is the EXIF tag, 1 to 8, and 1 where there is none.
    """

    kind: str
    width: int
    height: int
    bit_depth: int
    had_alpha: bool
    orientation: int
    colour: str

    @property
    def upright_size(self) -> tuple[int, int]:
        """Return (width, height) once the orientation tag is applied."""
        size = (self.width, self.height)
        return size[::-1] if self.orientation >= 5 else size


def inspect(data: bytes) -> PictureInfo:
    """Read the header of a PNG, JPEG or WebP picture; ImageError says what is wrong with it."""
    reader = _reader(data)
    try:
        info = reader(data)
    except (struct.error, IndexError) as error:
        raise ImageError(f"the picture's header is cut off after {len(data)} bytes") from error
    if info.width < 1 or info.height < 1:
        raise ImageError(f"the picture has no pixels: {info.width}x{info.height}")
    if info.width * info.height > MAX_PIXELS:
        raise ImageError(
            f"the header claims {info.width}x{info.height} pixels; the limit is {MAX_PIXELS}"
        )
    return info


def check_complete(data: bytes, info: PictureInfo) -> None:
    """Raise ImageError where the bytes end before the picture does.

    Decoders differ on this: some paint the missing part grey and say nothing.
    """
    if info.kind == "png":
        complete = any(name == b"IEND" for name, _ in png_chunks(data))
    elif info.kind == "jpeg":
        complete = _jpeg_is_complete(data)
    else:
        complete = len(data) >= 8 + struct.unpack_from("<I", data, 4)[0]
    if not complete:
        raise ImageError(f"the {info.kind} picture is truncated after {len(data)} bytes")


def _jpeg_is_complete(data: bytes) -> bool:
    """Tell whether an end-of-image marker follows the start of the first scan."""
    try:
        scan = next(end for marker, _, end in jpeg_segments(data) if marker == SCAN_MARKER)
    except (struct.error, StopIteration):
        return False
    return data.find(b"\xff\xd9", scan) >= 0


def png_chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Yield (name, payload) of every whole chunk of a PNG, up to and with IEND."""
    view = memoryview(data)
    offset = len(PNG_SIGNATURE)
    while offset + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, offset)
        end = offset + 12 + length
        if end > len(data):
            return
        yield name, view[offset + 8 : end - 4]
        if name == b"IEND":
            return
        offset = end


def jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield (marker, payload, end offset) of the segments of a JPEG, up to and with its first scan.

    Walking the lengths skips the whole JPEG that EXIF carries as a thumbnail.
    """
    offset = 2
    while True:
        while data[offset : offset + 2] == b"\xff\xff":
            offset += 1
        start, marker, length = struct.unpack_from(">BBH", data, offset)
        end = offset + 2 + length
        if start != 0xFF or length < 2:
            raise ImageError("the JPEG's segments are damaged")
        yield marker, data[offset + 4 : end], end
        if marker == SCAN_MARKER:
            return
        offset = end


def _reader(data: bytes) -> Callable[[bytes], PictureInfo]:
    if data.startswith(PNG_SIGNATURE):
        return _inspect_png
    if data.startswith(b"\xff\xd8\xff"):
        return _inspect_jpeg
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _inspect_webp
    raise ImageError(_not_a_picture(data))


def _not_a_picture(data: bytes) -> str:
    if not data:
        return "the file is empty (0 bytes)"
    start = data[:64].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg")):
        return "the bytes are a web page or XML, not a picture"
    return f"not a PNG, JPEG or WebP picture (first bytes {data[:8].hex()})"


def _inspect_png(data: bytes) -> PictureInfo:
    length, name, width, height, depth, colour_type = struct.unpack_from(">I4sIIBB", data, 8)
    colours = {0: "grey", 2: "rgb", 3: "palette", 4: "grey", 6: "rgb"}
    is_valid = colour_type in colours and depth in (1, 2, 4, 8, 16)
    if name != b"IHDR" or length != 13 or not is_valid:
        raise ImageError("the PNG does not begin with a valid IHDR chunk")
    transparent, orientation = colour_type in (4, 6), 1
    for chunk, payload in png_chunks(data):
        if chunk == b"tRNS":
            transparent = True
        elif chunk == b"eXIf":
            orientation = exif_orientation(bytes(payload))
    colour = colours[colour_type]
    return PictureInfo("png", width, height, depth, transparent, orientation, colour)


def _inspect_jpeg(data: bytes) -> PictureInfo:
    orientation = 1
    for marker, payload, _ in jpeg_segments(data):
        if marker == 0xE1 and payload.startswith(b"Exif\0\0"):
            orientation = exif_orientation(payload)
        if marker in FRAME_MARKERS:
            depth, height, width, components = struct.unpack_from(">BHHB", payload, 0)
            colour = {1: "grey", 3: "rgb", 4: "cmyk"}.get(components)
            if depth != 8 or colour is None:
                raise ImageError(f"JPEG of {depth} bits and {components} components is not read")
            return PictureInfo("jpeg", width, height, depth, False, orientation, colour)
    raise ImageError("the JPEG has no frame header")


def _inspect_webp(data: bytes) -> PictureInfo:
    first = data[12:16]
    if first == b"VP8X":
        width = 1 + int.from_bytes(_bytes(data, 24, 3), "little")
        height = 1 + int.from_bytes(_bytes(data, 27, 3), "little")
        alpha, orientation = bool(data[20] & 0x10), _webp_orientation(data)
    elif first == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        alpha, orientation = bool(bits >> 28 & 1), 1
    # b"": cut off here; the read below then reports the truncation.
    elif first == b"VP8 " and data[23:26] in (b"\x9d\x01\x2a", b""):
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
        alpha, orientation = False, 1
    else:
        raise ImageError("the WebP does not begin with a picture chunk")
    return PictureInfo("webp", width, height, 8, alpha, orientation, "rgb")


def _bytes(data: bytes, offset: int, count: int) -> bytes:
    if len(data) < offset + count:
        raise IndexError(offset)
    return data[offset : offset + count]


def _webp_orientation(data: bytes) -> int:
    offset = 12
    while offset + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, offset)
        if name == b"EXIF":
            return exif_orientation(data[offset + 8 : offset + 8 + length])
        offset += 8 + length + length % 2
    return 1


def exif_orientation(exif: bytes) -> int:
    """Return the orientation tag of an EXIF block (1 where it is absent or not 1 to 8).

    A damaged EXIF block says nothing about the pixels, so it is read as "no tag".
    """
    tiff = exif.removeprefix(b"Exif\0\0")
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    try:
        (first,) = struct.unpack_from(order + "I", tiff, 4)
        (count,) = struct.unpack_from(order + "H", tiff, first)
        for entry in range(count):
            offset = first + 2 + 12 * entry
            tag, kind, _, value = struct.unpack_from(order + "HHIH", tiff, offset)
            if tag == ORIENTATION_TAG:
                return value if kind == 3 and 1 <= value <= 8 else 1
    except struct.error:
        return 1
    return 1
