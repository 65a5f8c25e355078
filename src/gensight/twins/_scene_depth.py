"""A built-in scene at the size of another data set, for the twins of the depth data sets."""

from __future__ import annotations

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.records import Sample

# Sensors measure nothing at the edge of the picture; so do the twins.
BORDER_PX = 8


def resized(scene: Sample, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a depth scene stretched to this size: uint8 (H, W, 3) and metres, float32 (H, W).

    Raises:
        SpecError: the scene has no depth.
    """
    if scene.target_depth_m is None:
        raise SpecError(f"a twin of a depth data set needs depth scenes, not {scene.sample_id}")
    pixels = images.decode_rgb(scene.image["bytes"], matte=(255, 255, 255))
    depth_m = images.decode_array(scene.target_depth_m)
    return (
        images.resize_picture(pixels, width, height),
        images.resize_depth(depth_m, width, height),
    )


def without_border(depth: np.ndarray) -> np.ndarray:
    """Return a copy of a depth (H, W) that is 0, no measurement, along its edges."""
    inner = np.zeros_like(depth)
    inside = (slice(BORDER_PX, -BORDER_PX), slice(BORDER_PX, -BORDER_PX))
    inner[inside] = depth[inside]
    return inner


def in_units(depth_m: np.ndarray, units_per_metre: float) -> np.ndarray:
    """Return metres as uint16 of this many units per metre, rounded; depths past 16 bits are 0."""
    units = np.rint(depth_m.astype(np.float64) * units_per_metre)
    return np.where(units <= np.iinfo(np.uint16).max, units, 0).astype(np.uint16)
