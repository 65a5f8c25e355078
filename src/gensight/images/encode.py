"""Pixels to bytes: PNG of 8 or 16 bits, and JPEG; equal pixels give equal bytes."""

from __future__ import annotations

import cv2
import numpy as np

from gensight.errors import ImageError

# Named in full, so that the bytes do not follow OpenCV's changing defaults.
_RUNS = [
    *(cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE),
    *(cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP),
]
_SEARCH = [
    *(cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_DEFAULT),
    *(cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_ALL_FILTERS),
]


def encode_png(array: np.ndarray, *, compression: int = 1) -> bytes:
    """Encode uint8 or uint16, (H, W) grey or (H, W, 3) RGB, as PNG; `compression` is 0 to 9.

    Up to 1 the coder looks for runs only, below a row difference: on masks, depth maps and noisy
    photographs that is half the time of zlib's search and no larger. From 2 on zlib searches.
    """
    _check(array, (np.uint8, np.uint16))
    search = _RUNS if compression <= 1 else _SEARCH
    return _imencode(".png", array, [cv2.IMWRITE_PNG_COMPRESSION, compression, *search])


def encode_jpeg(rgb: np.ndarray, *, quality: int) -> bytes:
    """Encode uint8, (H, W) grey or (H, W, 3) RGB, as baseline JPEG with 4:2:0 chroma."""
    _check(rgb, (np.uint8,))
    sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420]
    return _imencode(".jpg", rgb, [cv2.IMWRITE_JPEG_QUALITY, quality, *sampling])


def _check(array: np.ndarray, dtypes: tuple[type, ...]) -> None:
    is_picture = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if array.dtype.type not in dtypes or not is_picture or array.size == 0:
        allowed = " or ".join(dtype.__name__ for dtype in dtypes)
        raise ValueError(
            f"a picture is {allowed}, (H, W) or (H, W, 3), not {array.dtype} {array.shape}"
        )


def _imencode(suffix: str, array: np.ndarray, options: list[int]) -> bytes:
    stored = array if array.ndim == 2 else cv2.cvtColor(array, cv2.COLOR_RGB2BGR)
    written, buffer = cv2.imencode(suffix, np.ascontiguousarray(stored), options)
    if not written:
        raise ImageError(f"a picture of shape {array.shape} cannot be written as {suffix}")
    return buffer.tobytes()
