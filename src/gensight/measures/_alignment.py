"""Least squares and errors over the valid pixels of a picture, piece by piece.

Pieces keep every temporary in the cache: for whole pictures at once, making the temporaries costs
more than the sums. Values are float32, centred where it matters; all sums are float64, in one
thread and in reading order, so equal inputs give equal bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import cv2
import numpy as np

from gensight.measures import Parts
from gensight.measures._monotone import LEVELS, levels

PIECE = 1 << 17
# Relief below this share of the mean is rounding: a flat wall has no slope.
RESOLUTION = 1e-6


class Piece(NamedTuple):
    """Some valid pixels, (m,): centred grey and depth as float32, half and level as one index."""

    grey: np.ndarray
    depth_m: np.ndarray
    inverse: np.ndarray
    code: np.ndarray


class Line(NamedTuple):
    """y = slope x + at_centre, x being the centred grey."""

    slope: float
    at_centre: float


class Moments(NamedTuple):
    """Best lines from grey to depth and to its inverse, and sums of log depth by half and level.

    `count` and `log_depth` are float64 (2, 256); `mean_m` is the mean depth.
    """

    depth: Line
    inverse: Line
    mean_m: float
    count: np.ndarray
    log_depth: np.ndarray


class Pixels:
    """Grey, depth in metres (float32) and checkerboard half (0 or 1) of the valid pixels, (n,)."""

    def __init__(self, grey: np.ndarray, depth_m: np.ndarray, half: np.ndarray) -> None:
        self.grey, self.depth_m = grey, depth_m
        self.half = half.astype(np.uint16) * LEVELS
        self.n = depth_m.size
        self.centre = cv2.sumElems(grey)[0] / self.n / (257 if grey.dtype == np.uint16 else 1)
        if not math.isfinite(self.centre):
            raise ValueError("the grey map holds values that are not finite")
        self.level = levels(grey)

    def pieces(self) -> Iterator[Piece]:
        """Cut the pixels into pieces, in reading order."""
        for start in range(0, self.n, PIECE):
            part = slice(start, start + PIECE)
            grey = eight_bit_scale(self.grey[part]) - self.centre
            depth_m = self.depth_m[part]
            code = (self.level[part] | self.half[part]).astype(np.intp)
            yield Piece(grey.astype(np.float32, copy=False), depth_m, np.reciprocal(depth_m), code)

    def moments(self) -> Moments:
        """Return the least-squares lines and the sums by level."""
        sums = np.zeros(6)
        count, total = np.zeros((2, 2 * LEVELS))
        for piece in self.pieces():
            targets = (piece.depth_m, piece.inverse)
            sums += (
                _sum(piece.grey),
                cv2.norm(piece.grey, cv2.NORM_L2SQR),
                *(_sum(target) for target in targets),
                *(_sum(piece.grey * target) for target in targets),
            )
            count += np.bincount(piece.code, minlength=2 * LEVELS)
            total += np.bincount(piece.code, cv2.log(piece.depth_m).ravel(), 2 * LEVELS)
        x, xx, depth, inverse, x_depth, x_inverse = (sums / self.n).tolist()
        # Rounding leaves a spread above 0 in a flat picture; comparing ends does not.
        spread = xx - x * x if self.grey.min() < self.grey.max() else 0.0
        shape = (2, LEVELS)
        return Moments(
            _line(x, spread, depth, x_depth),
            _line(x, spread, inverse, x_inverse),
            depth,
            count.reshape(shape),
            total.reshape(shape),
        )

    def errors(self, fits: Mapping[str, Callable[[Piece], np.ndarray]]) -> dict[str, Parts]:
        """Return absrel, delta1, rmse_m and n_valid of each fit's aligned depths (float32)."""
        sums = {name: np.zeros(3) for name in fits}
        for piece in self.pieces():
            for name, fit in fits.items():
                sums[name] += _error_sums(fit(piece), piece)
        return {name: self._error_parts(*values.tolist()) for name, values in sums.items()}

    def _error_parts(self, relative: float, near: float, squared: float) -> Parts:
        return {
            "absrel": relative / self.n,
            "delta1": near / self.n,
            "rmse_m": math.sqrt(squared / self.n),
            "n_valid": float(self.n),
        }


def eight_bit_scale(grey: np.ndarray) -> np.ndarray:
    """Return float32 levels of an 8-bit picture, 16-bit ones as value / 257; floats unchanged."""
    if grey.dtype == np.uint16:
        return grey.astype(np.float32) * np.float32(1 / 257)
    return grey if grey.dtype == np.float64 else grey.astype(np.float32)


def evaluate(line: Line, piece: Piece) -> np.ndarray:
    """Return the line's values, float32 (m,)."""
    values = piece.grey * np.float32(line.slope)
    return np.add(values, np.float32(line.at_centre), out=values)


def _line(x: float, spread: float, y: float, xy: float) -> Line:
    """Return the least-squares line from means; slope 0 where x, or y, does not vary."""
    slope = (xy - x * y) / spread if spread > 0 else 0.0
    if slope * slope * spread < (RESOLUTION * y) ** 2:
        return Line(0.0, y)
    return Line(slope, y - slope * x)


def _error_sums(aligned_m: np.ndarray, piece: Piece) -> tuple[float, float, float]:
    """Return summed relative errors, pixels within 1.25 and summed squared errors."""
    squared = cv2.norm(aligned_m, piece.depth_m, cv2.NORM_L2SQR)
    ratio = np.multiply(aligned_m, piece.inverse, out=aligned_m)
    # max(r, 1 / r) < 1.25 with one division less
    near = np.count_nonzero((ratio > 0.8) & (ratio < 1.25))
    return cv2.norm(np.subtract(ratio, 1, out=ratio), cv2.NORM_L1), near, squared


def _sum(values: np.ndarray) -> float:
    return cv2.sumElems(values)[0]
