"""A map of numbers as a grey picture of 16 bits, stretched from its least to its greatest one."""

from __future__ import annotations

import numpy as np

from gensight.images import encode_png

WHITE = 65535


def stretched(values: np.ndarray) -> tuple[bytes, float, float]:
    """Return a map as PNG, round(65535 (v - min) / (max - min)), with its min and max.

    The fit of a depth map is affine per picture, so that the stretch costs it half a level at most.
    `values` are finite floats (H, W); where all are equal the picture is black.
    """
    wide = values.astype(np.float64)
    low, high = float(wide.min()), float(wide.max())
    levels = (wide - low) * (WHITE / (high - low) if high > low else 0.0)
    return encode_png(np.rint(levels).astype(np.uint16)), low, high
