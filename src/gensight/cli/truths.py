"""Truths that a user names, as samples of the pipeline.

Masks: the five encodings of `gensight.images.read_mask`. Depth: a grey PNG of 16 bits, metres =
stored value / scale, 0 = missing (NYU and ScanNet: 1000, KITTI: 256), or a .npy array in metres.
Normals: a .npy array (height, width, 3) of camera-frame vectors (x right, y up, z to the viewer),
or a picture of them (-1..1 as 0..255, or 0..65535), black where there is none. Counts: whole
numbers. A truth is read in its stored raster, without an EXIF turn.
"""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np

from gensight import images
from gensight.cli.files import read_bytes
from gensight.errors import GensightError, ImageError
from gensight.measures.normal_angle import normals_of
from gensight.records import Sample

NUMPY_SIGNATURE = b"\x93NUMPY"
BLACK = (0, 0, 0)
MAX_DIGITS = 15  # whole numbers up to here are exact in the errors' float64


def mask_sample(index: int, path: str) -> Sample:
    """Return the sample whose target is the mask in a file."""
    data = read_bytes(path)
    try:
        target = images.read_mask(data)
    except ImageError as error:
        raise GensightError(f"{path}: {error}") from None
    height, width = target.shape
    return _sample(index, width, height, target_mask=images.encode_mask(target))


def depth_sample(
    index: int,
    path: str,
    *,
    scale: float = 1000.0,
    min_depth_m: float | None = None,
    max_depth_m: float | None = None,
) -> Sample:
    """Return the sample whose target is the depth in a file, valid within the caps."""
    depth_m = read_depth(path, scale)
    height, width = depth_m.shape
    return _sample(
        index,
        width,
        height,
        target_depth_m=images.encode_array(depth_m),
        min_depth_m=min_depth_m,
        max_depth_m=max_depth_m,
    )


def normals_sample(index: int, path: str) -> Sample:
    """Return the sample whose target is the normals in a file; zero vectors are missing."""
    data = read_bytes(path)
    vectors = _array(path, data) if data.startswith(NUMPY_SIGNATURE) else _vectors(path, data)
    if vectors.ndim != 3 or vectors.shape[2] != 3:
        raise GensightError(f"{path}: normals are (height, width, 3), not {vectors.shape}")
    height, width = vectors.shape[:2]
    return _sample(index, width, height, target_normals=images.encode_array(vectors))


def count_sample(index: int, text: str, *, width: int = 1, height: int = 1) -> Sample:
    """Return the sample whose target is a whole number; the size is that of the input."""
    count = whole_number(text)
    if count is None:
        raise GensightError(f"--target {text}: a true count is a whole number, 0 or more")
    return _sample(index, width, height, target_count=count)


def whole_number(text: str) -> int | None:
    """Return a count written in digits, None where the text is not one."""
    digits = text.strip()
    return int(digits) if re.fullmatch(rf"[0-9]{{1,{MAX_DIGITS}}}", digits) else None


def read_depth(path: str, scale: float) -> np.ndarray:
    """Return the depth in a file in metres, float32 (height, width)."""
    data = read_bytes(path)
    if not data.startswith(NUMPY_SIGNATURE):
        return (_levels(path, data) / scale).astype(np.float32)
    depth_m = np.squeeze(_array(path, data))
    if depth_m.ndim != 2:
        raise GensightError(f"{path}: depth is (height, width), not {depth_m.shape}")
    return depth_m


def _levels(path: str, data: bytes) -> np.ndarray:
    try:
        info = images.inspect(data)
        if (info.kind, info.colour, info.bit_depth, info.had_alpha) != ("png", "grey", 16, False):
            raise GensightError(
                f"{path}: is {info.kind}, {info.colour}, {info.bit_depth} bit: true depth is a "
                "grey PNG of 16 bits (see --scale) or a .npy array in metres"
            )
        return images.decode_grey(data, matte=BLACK, orient=False)
    except ImageError as error:
        raise GensightError(f"{path}: {error}") from None


def _vectors(path: str, data: bytes) -> np.ndarray:
    try:
        colour = images.decode_colour(data, matte=BLACK, orient=False)
    except ImageError as error:
        raise GensightError(f"{path}: {error}") from None
    return np.where(colour.any(axis=2, keepdims=True), normals_of(colour, {}), np.float32(0))


def _array(path: str, data: bytes) -> np.ndarray:
    """Return the numbers of a .npy file as float32, never unpickling anything."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError) as error:
        raise GensightError(f"{path}: not a .npy array that can be read: {error}") from None
    if array.dtype.kind not in "iuf" or array.size == 0:
        raise GensightError(f"{path}: holds {array.dtype} {array.shape}, not an array of numbers")
    return array.astype(np.float32)


def _sample(index: int, width: int, height: int, **truth: Any) -> Sample:
    return Sample(
        sample_id=str(index),
        rank=index,
        cluster_id=str(index),
        image={"bytes": b"", "path": None},
        width=width,
        height=height,
        **truth,
    )


def check_depth_options(scale: float, min_depth_m: float | None, max_depth_m: float | None) -> None:
    """Raise GensightError for a scale or caps that no depth can have."""
    if not (math.isfinite(scale) and scale > 0):
        raise GensightError(f"--scale {scale}: the stored value of one metre is above 0")
    low, high = min_depth_m or 0.0, math.inf if max_depth_m is None else max_depth_m
    if not 0 <= low < high:
        raise GensightError(
            f"--min-depth {min_depth_m} --max-depth {max_depth_m}: in metres, 0 <= least < most"
        )
