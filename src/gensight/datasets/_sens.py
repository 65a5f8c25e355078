"""Reader of ScanNet's .sens files, version 4, and the export of frames to pictures and depths.

The format, little-endian throughout (ScanNet's SensReader): uint32 version; uint64 length and the
sensor's name; four 4 x 4 float32 matrices; int32 codes of the colour and depth compression; uint32
colour width and height, depth width and height; float32 depth units per metre; uint64 number of
frames. Each frame: a 4 x 4 float32 pose; uint64 colour and depth time; uint64 colour and depth
size; the two blobs. Frames are numbered from 0 in the order of the file.

Frames that are not asked for are skipped without being read.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gensight import images
from gensight.atomic import write_bytes
from gensight.errors import ImageError, MissingDataError

VERSION_READ = 4
MATRIX_BYTES = 64
# Codes of the two compressions, as far as ScanNet uses them.
COLOUR_PICTURES = (1, 2)  # png, jpeg
DEPTH_RAW, DEPTH_ZLIB = 0, 1
MILLIMETRES = 1000.0
LONGEST_NAME = 4096
# Assumed: nobody states how the published list's pictures were brought to the size of their depth.
JPEG_QUALITY = 95


@dataclass(frozen=True)
class Header:
    """What a .sens file says of all of its frames; sizes are (width, height) in pixels."""

    colour_code: int
    depth_code: int
    colour_size: tuple[int, int]
    depth_size: tuple[int, int]
    units_per_metre: float
    frames: int


def export_frames(sens: Path, frames: Iterable[int], out: Path) -> None:
    """Write frames of a scan as out/SCAN/color/000300.jpg and out/SCAN/depth/000300.png.

    The depth is uint16 in millimetres, as recorded, 0 where nothing was measured. A colour picture
    of another size than its depth is brought to that size; the depth never changes. SCAN is the
    name of the file without its ending.

    Raises:
        MissingDataError: the file is not version 4, has a compression that ScanNet does not use,
            is cut off, or does not hold a frame that is asked for.
        ImageError: a colour picture cannot be read.
    """
    wanted = sorted(set(frames))
    try:
        with sens.open("rb") as stream:
            _export(stream, sens, wanted, out / sens.stem)
    except OSError as error:
        raise MissingDataError(f"{sens}: {error.strerror}") from error


def read_header(stream: BinaryIO, sens: Path) -> Header:
    """Read the header; the stream then stands at the first frame.

    Raises:
        MissingDataError: this is no .sens file of version 4, or its start is cut off.
    """
    (version,) = _unpack(stream, sens, "<I")
    if version != VERSION_READ:
        raise MissingDataError(f"{sens}: not a .sens file of version 4 (it says {version})")
    (length,) = _unpack(stream, sens, "<Q")
    if length > LONGEST_NAME:
        raise MissingDataError(f"{sens}: the sensor's name has {length} bytes; the file is damaged")
    _take(stream, sens, length + 4 * MATRIX_BYTES)
    colour, depth, *sizes, units, frames = _unpack(stream, sens, "<iiIIIIfQ")
    return Header(colour, depth, tuple(sizes[:2]), tuple(sizes[2:]), units, frames)


def _export(stream: BinaryIO, sens: Path, wanted: list[int], folder: Path) -> None:
    header = read_header(stream, sens)
    _check(header, sens, wanted)
    remaining, length = set(wanted), os.fstat(stream.fileno()).st_size
    for number in range(header.frames):
        if not remaining:
            return
        _take(stream, sens, MATRIX_BYTES)
        *_, colour_bytes, depth_bytes = _unpack(stream, sens, "<QQQQ")
        if stream.tell() + colour_bytes + depth_bytes > length:
            raise MissingDataError(f"{sens}: cut off in frame {number}; download it again")
        if number not in remaining:
            stream.seek(colour_bytes + depth_bytes, os.SEEK_CUR)
            continue
        remaining.remove(number)
        colour, depth = stream.read(colour_bytes), stream.read(depth_bytes)
        where = f"{sens}: frame {number}"
        write_bytes(folder / f"color/{number:06d}.jpg", _picture(colour, header, where))
        raw = _depth(depth, header, where)
        write_bytes(folder / f"depth/{number:06d}.png", images.encode_png(raw))


def _check(header: Header, sens: Path, wanted: list[int]) -> None:
    if header.colour_code not in COLOUR_PICTURES or header.depth_code not in (
        DEPTH_RAW,
        DEPTH_ZLIB,
    ):
        raise MissingDataError(
            f"{sens}: compressions {header.colour_code} (colour) and {header.depth_code} (depth) "
            f"are not those of ScanNet"
        )
    if header.units_per_metre != MILLIMETRES:
        raise MissingDataError(
            f"{sens}: depth has {header.units_per_metre:g} units per metre, not 1000"
        )
    outside = [number for number in wanted if not 0 <= number < header.frames]
    if outside:
        raise MissingDataError(
            f"{sens}: frame {outside[0]} is asked for, but the file holds {header.frames}"
        )


def _picture(data: bytes, header: Header, where: str) -> bytes:
    """Return a JPEG of the depth's size; bytes that already are one stay as they are."""
    try:
        kind = images.inspect(data).kind
        pixels = images.decode_rgb(data, matte=(255, 255, 255), orient=False)
    except ImageError as error:
        raise ImageError(f"{where}: {error}") from error
    if kind == "jpeg" and pixels.shape[1::-1] == header.depth_size:
        return data
    pixels = images.resize_picture(pixels, *header.depth_size)
    return images.encode_jpeg(pixels, quality=JPEG_QUALITY)


def _depth(data: bytes, header: Header, where: str) -> np.ndarray:
    """Return uint16 (H, W), millimetres."""
    width, height = header.depth_size
    expected = 2 * width * height
    if header.depth_code == DEPTH_ZLIB:
        try:
            # One byte more than expected shows a blob that is too long without unpacking it all.
            data = zlib.decompressobj().decompress(data, expected + 1)
        except zlib.error as error:
            raise MissingDataError(f"{where}: the depth cannot be unpacked: {error}") from error
    if len(data) != expected:
        raise MissingDataError(
            f"{where}: the depth has {len(data)} bytes where {width}x{height} need {expected}"
        )
    return np.frombuffer(data, "<u2").reshape(height, width).astype(np.uint16)


def _unpack(stream: BinaryIO, sens: Path, layout: str) -> tuple:
    return struct.unpack(layout, _take(stream, sens, struct.calcsize(layout)))


def _take(stream: BinaryIO, sens: Path, number: int) -> bytes:
    data = stream.read(number)
    if len(data) != number:
        raise MissingDataError(f"{sens}: cut off, or no .sens file; download it again")
    return data
