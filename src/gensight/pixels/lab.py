"""CIELAB and back, the space of superpixels and palettes: sRGB, white of D65, 2 degree observer.

Equal to scikit-image 0.26's `rgb2lab` and `lab2rgb` but for rounding. Written out because that one
multiplies matrices, whose last digits may follow the number of threads of the linear algebra.
"""

from __future__ import annotations

import functools

import numpy as np

# IEC 61966-2-1, rows for red, green and blue, columns X, Y, Z.
_XYZ_OF_RGB = np.array(
    [
        [0.412453, 0.212671, 0.019334],
        [0.357580, 0.715160, 0.119193],
        [0.180423, 0.072169, 0.950227],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
# CIE 15: below this share of white the cube root becomes a line.
_DARK_SHARE, _SLOPE, _OFFSET = 0.008856, 7.787, 16 / 116
_BRIGHTEST = 255


def lab_of(rgb: np.ndarray) -> np.ndarray:
    """Return L* (0 to 100), a* and b* of uint8 (..., 3) RGB as float64 of the same shape."""
    linear = _linear_levels()[rgb]
    shares = np.stack([_times(linear, _XYZ_OF_RGB[:, axis]) for axis in range(3)], axis=-1)
    shares /= _WHITE
    dark = shares <= _DARK_SHARE
    roots = np.where(dark, _SLOPE * shares + _OFFSET, np.cbrt(shares))
    x, y, z = (roots[..., axis] for axis in range(3))
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def rgb_of(lab: np.ndarray) -> np.ndarray:
    """Return the nearest uint8 RGB of L*, a*, b* (..., 3); colours out of sRGB are clipped.

    An 8-bit colour comes back from `lab_of` unchanged.
    """
    y = (lab[..., 0] + 16) / 116
    roots = np.stack([y + lab[..., 1] / 500, y, np.maximum(y - lab[..., 2] / 200, 0)], axis=-1)
    dark = roots <= np.cbrt(_DARK_SHARE)
    shares = np.where(dark, (roots - _OFFSET) / _SLOPE, roots**3) * _WHITE
    back = _rgb_of_xyz()
    linear = np.stack([_times(shares, back[:, axis]) for axis in range(3)], axis=-1)
    bright = 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055
    levels = np.where(linear > 0.0031308, bright, 12.92 * linear)
    return np.rint(np.clip(levels, 0, 1) * _BRIGHTEST).astype(np.uint8)


def _times(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    first, second, third = (values[..., axis] * weights[axis] for axis in range(3))
    return first + second + third


@functools.cache
def _linear_levels() -> np.ndarray:
    levels = np.arange(_BRIGHTEST + 1) / _BRIGHTEST
    return np.where(levels > 0.04045, ((levels + 0.055) / 1.055) ** 2.4, levels / 12.92)


@functools.cache
def _rgb_of_xyz() -> np.ndarray:
    return np.linalg.inv(_XYZ_OF_RGB)
