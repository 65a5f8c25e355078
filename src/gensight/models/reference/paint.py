"""Painting an answer that replaces the input: masks, depth, normals (what lies on it: `marks`).

Every painter returns a picture at the size it is given, uint8 unless 16 bit are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from gensight import images
from gensight.truths import DIRECTIONS


def paint_mask(mask: np.ndarray, form: Mapping[str, Any]) -> np.ndarray:
    """Paint a boolean (H, W) mask in the declared colours; a grey picture if both are grey."""
    colours = np.array([form["background"], form["foreground"]], dtype=np.uint8)
    if (colours == colours[:, :1]).all():
        return colours[:, 0][mask.astype(np.uint8)]
    return colours[mask.astype(np.uint8)]


def paint_nearness(nearness: np.ndarray, near: str, bit_depth: int) -> np.ndarray:
    """Paint nearness (0 farthest, 1 nearest) in grey; near is bright unless declared dark."""
    levels = 255 if bit_depth == 8 else 65535
    grey = 1.0 - nearness if near == "dark" else nearness
    rounded = np.floor(np.clip(grey, 0.0, 1.0) * levels + 0.5)
    return rounded.astype(np.uint8 if bit_depth == 8 else np.uint16)


def nearness_of(depth_m: np.ndarray, valid: np.ndarray, code: str) -> np.ndarray:
    """Map depth to 0 (farthest valid pixel) .. 1 (nearest), float64 (H, W).

    Args:
        depth_m: z-depth in metres.
        valid: the pixels that define the range; the others take the value of the nearest valid one.
        code: what the grey level is linear in: `depth`, `disparity` (1 / depth) or `log` depth.

    A flat map or one without valid pixels has no range and becomes 0.5 everywhere.
    """
    if not valid.any():
        return np.full(depth_m.shape, 0.5)
    safe_m = np.where(valid, depth_m, depth_m[valid].max()).astype(np.float64)
    closeness = {"depth": -safe_m, "disparity": 1.0 / safe_m, "log": -np.log(safe_m)}[code]
    low, high = closeness[valid].min(), closeness[valid].max()
    if high <= low:
        return np.full(depth_m.shape, 0.5)
    return fill_from_nearest((closeness - low) / (high - low), valid)


def fill_from_nearest(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Give every pixel outside `valid` (H, W) the value of a nearest valid pixel.

    `values` is (H, W) or (H, W, channels). Without any valid pixel the values come back as zeros.
    """
    if valid.all():
        return values
    if not valid.any():
        return np.zeros_like(values)
    _, labels = cv2.distanceTransformWithLabels(
        (~valid).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    by_label = np.zeros((int(labels.max()) + 1, *values.shape[2:]), dtype=values.dtype)
    by_label[labels[valid]] = values[valid]
    return by_label[labels]


def paint_normals(normals: np.ndarray, form: Mapping[str, Any]) -> np.ndarray:
    """Paint unit normals (H, W, 3: x right, y up, z to the viewer) in the declared channels.

    A component from -1 to 1 becomes 0 to 255. A zero vector, which has no direction, stays
    mid-grey.
    """
    length = np.sqrt(np.einsum("ijk,ijk->ij", normals, normals))[..., None]
    unit = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
    channels = [sign * unit[..., axis] for axis, sign in (DIRECTIONS[form[c]] for c in _CHANNELS)]
    return np.floor((np.stack(channels, axis=2) + 1.0) * 127.5 + 0.5).astype(np.uint8)


_CHANNELS = ("red", "green", "blue")


def resize_channels(array: np.ndarray, width: int, height: int) -> np.ndarray:
    """Resize a float (H, W, channels) array channel by channel, bilinear and centre-correct."""
    planes = [images.resize_depth(plane, width, height) for plane in np.moveaxis(array, 2, 0)]
    return np.stack(planes, axis=2)
