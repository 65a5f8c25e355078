"""Masks: COCO run-length encoding, the COCO polygon rasteriser, and ground-truth mask files.

COCO's RLE counts down the columns and starts with a run of zeros; its rasteriser leaves border
pixels out where cv2.fillPoly and Pillow put them in (10x10 square: 100 pixels against 121).
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from gensight.errors import ImageError
from gensight.images.kinds import check_complete, inspect
from gensight.images.run_lengths import mask_of, packed, runs_of, unpacked, window_of
from gensight.images.windows import MaskWindow


def encode_mask(mask: np.ndarray) -> dict[str, Any]:
    """Return the COCO RLE {"size": [height, width], "counts": str} of a bool (H, W) mask."""
    if mask.dtype != np.bool_ or mask.ndim != 2 or mask.size == 0:
        raise ValueError(f"a mask is bool (H, W), not {mask.dtype} {mask.shape}")
    return {"size": list(mask.shape), "counts": packed(runs_of(mask))}


def decode_mask(rle: Mapping[str, Any]) -> np.ndarray:
    """Return the bool (H, W) mask of a COCO RLE whose counts are str, bytes or a list of runs."""
    return mask_of(*_runs_and_size(rle))


def decode_window(rle: Mapping[str, Any]) -> MaskWindow:
    """Return the mask of `decode_mask` as the least window of its foreground."""
    return window_of(*_runs_and_size(rle))


def _runs_and_size(rle: Mapping[str, Any]) -> tuple[np.ndarray, int, int]:
    height, width = (int(side) for side in rle["size"])
    counts = rle["counts"]
    runs = unpacked(counts) if isinstance(counts, (str, bytes)) else np.array(counts, np.int64)
    return runs, height, width


def polygons_to_mask(polygons: Sequence[Sequence[float]], height: int, width: int) -> np.ndarray:
    """Return the union of polygons [x1, y1, x2, y2, ...] as bool (H, W), by the COCO rasteriser.

    No polygon gives an empty mask; a polygon of fewer than three corners is refused.
    """
    from pycocotools import mask as coco

    for polygon in polygons:
        if len(polygon) < 6 or len(polygon) % 2:
            raise ValueError(
                f"a polygon needs three or more (x, y) pairs, not {len(polygon)} numbers"
            )
    if not polygons:
        return np.zeros((height, width), np.bool_)
    parts = coco.frPyObjects([list(map(float, polygon)) for polygon in polygons], height, width)
    union = coco.merge(parts)
    return decode_mask({"size": [height, width], "counts": union["counts"]})


def read_mask(data: bytes) -> np.ndarray:
    """Read a ground-truth mask file as bool (H, W), in the stored raster (no EXIF turn).

    The same mask for grey {0, 255}, grey {0, 1}, 1-bit, palette (read as indices, never as
    colours) and RGB with three equal channels: foreground is what is not 0. Raises ImageError
    where that would be a guess: more than two levels, unequal channels, transparency.
    """
    levels = _mask_levels(data)
    foreground = levels != 0
    values = np.unique(levels[foreground])
    if values.size > 1:
        raise ImageError(
            f"a mask file has one foreground level, this one has {values.size} "
            f"({', '.join(map(str, values[:4]))}{', ...' if values.size > 4 else ''}): "
            "save it with two levels"
        )
    return foreground


def _mask_levels(data: bytes) -> np.ndarray:
    info = inspect(data)
    check_complete(data, info)
    try:
        with Image.open(io.BytesIO(data), formats=[info.kind.upper()]) as picture:
            levels = np.asarray(picture)
    except (OSError, SyntaxError, ValueError) as error:
        raise ImageError(f"the mask file cannot be decoded: {error}") from error
    if levels.ndim == 2:
        return levels
    if info.had_alpha and info.colour != "palette":
        raise ImageError("a mask file with transparency is ambiguous: save it without alpha")
    if (levels != levels[:, :, :1]).any():
        raise ImageError("a mask file with colours is ambiguous: save it as grey or palette")
    return levels[:, :, 0]
