"""Depth from a grey picture whose code is unknown: four fits to the truth, then the errors.

Protocol. ProbeGen 3.3: the grey map is aligned to the truth by least squares, the sign free
(Eq. 3), and AbsRel is taken on the aligned map, per picture. A picture of perfect disparity scores
8-36 % there, so PROTOCOLS 1.1 adds fits that do not punish the code. Grey is x, depth z metres:

- `depth`      z = s x + t, the paper's;
- `disparity`  1/z = s x + t, floored at 1 / max_depth_m before it is inverted;
- `monotone`   log z = any monotone curve of 256 grey levels, rising or falling, whichever fits
               better. Cross-fitted: the curve of one half of a checkerboard of blocks scores the
               other half, so that a free curve buys nothing;
- `signed`     as `depth` under the sign that the prompt promised (nearer is brighter: s <= 0);
               where the data want the other sign the fit is the constant. Absent if the prompt
               promised nothing.

Valid pixels are finite, positive, in [min_depth_m, max_depth_m] and in `valid_mask`. Caps, masks and
crops are facts of the data set, and one that excludes its caps says so in `valid_mask`; with
`caps_limit_truth: false` (DIODE) the caps only clip the prediction. The prediction goes to the grid
of the truth by a plain resize; the truth, which may be sparse, is never resized. Aligned depth is
clipped to the caps after alignment (DEP-4); a data set without caps is not clipped, and its largest
valid depth floors the disparity.

A picture of one grey level gets the constant fit (s = 0, t = mean), and so does a failed answer:
it carries no information (`constant_fit`). Fewer than two valid pixels: no ground truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.measures import Parts, PartsByFit, complete, required
from gensight.measures._isotonic import monotone_fit
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("constant_fit",)
DEFAULTS: dict[str, Any] = {
    "failure": "constant_fit",
    "block_px": 32,
    "caps_limit_truth": True,
}
FITS = ("depth", "disparity", "monotone", "signed")
LEVELS = 256  # one byte: a pixel's code is its half times 256 plus its level
# Depth relief below this share of the mean is rounding: a flat wall has no slope and no polarity.
RESOLUTION = 1e-6
# The sign of d(depth) / d(grey) that a prompt promises.
PROMISED_SIGN = {"bright": -1.0, "dark": 1.0, "unspecified": None}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Fit the predicted grey map to the true depth; None with fewer than two valid pixels.

    Parts of each fit: absrel and delta1 (shares), rmse_m, n_valid; scale and shift (per level of an
    8-bit picture; 16-bit levels count as value / 257) of the linear fits; polarity_contradicts (1
    if the sign of the fit is not the promised one, 0 if it is or there is no slope).
    """
    picture = required(prediction.grey, sample.sample_id, "grey", "depth")
    grey = images.decode_grey(picture["bytes"], matte=(0, 0, 0), orient=False)
    return _measure(grey, sample, settings)


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Give a failed answer the fits of a constant picture."""
    return _measure(np.zeros((1, 1), np.uint8), sample, settings)


def align(
    grey: np.ndarray,
    depth_m: np.ndarray,
    *,
    valid: np.ndarray | None = None,
    min_depth_m: float | None = None,
    max_depth_m: float | None = None,
    near: str = "unspecified",
    block_px: int = 32,
    caps_limit_truth: bool = True,
) -> dict[str, Parts] | None:
    """Fit a grey map to depth in metres, both (H, W), and return the parts of every fit.

    `grey` is uint8, uint16 or float (any scale, finite); `valid` bool. Pure; None with fewer than
    two valid pixels.

    >>> depth_m = np.linspace(1, 10, 12).reshape(3, 4)
    >>> fits = align(255 - 20 * depth_m, depth_m, near="bright")
    >>> round(fits["depth"]["scale"], 6), fits["signed"]["polarity_contradicts"]
    (-0.05, 0.0)
    """
    if grey.shape != depth_m.shape:
        raise ValueError(f"grey {grey.shape} and depth {depth_m.shape} differ in shape")
    promised = _promised_sign(near)
    truth = _truth(depth_m, valid, (min_depth_m, max_depth_m), caps_limit_truth)
    if truth is None:
        return None
    x = truth.pick(grey)
    parts = _linear_parts(truth, x, promised)
    half = truth.pick(_halves(grey.shape, block_px))
    parts["monotone"] = _monotone_parts(truth, x, half, promised)
    return {name: parts[name] for name in FITS if name in parts}


def _measure(grey: np.ndarray, sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    if sample.target_depth_m is None:
        return None
    depth_m = images.decode_array(sample.target_depth_m)
    height, width = depth_m.shape
    if grey.shape != (height, width):
        grey = images.resize_depth(_eight_bit_scale(grey), width, height)
    valid = None if sample.valid_mask is None else images.decode_mask(sample.valid_mask)
    parts = align(
        grey,
        depth_m,
        valid=valid,
        min_depth_m=sample.min_depth_m,
        max_depth_m=sample.max_depth_m,
        near=checked.get("answer_form", {}).get("near", "unspecified"),
        block_px=checked["block_px"],
        caps_limit_truth=checked["caps_limit_truth"],
    )
    return None if parts is None else dict(parts)


@dataclass(frozen=True)
class _Truth:
    """The valid pixels of a depth map, in reading order, and the caps."""

    depth_m: np.ndarray
    inverse: np.ndarray
    valid: np.ndarray | None
    low_m: float | None
    high_m: float | None

    def pick(self, picture: np.ndarray) -> np.ndarray:
        """Return a picture's values at the valid pixels, (n,)."""
        return picture.ravel() if self.valid is None else picture[self.valid]

    def clip(self, aligned_m: np.ndarray) -> np.ndarray:
        """Bring aligned depths into the caps, in place."""
        if self.low_m is None and self.high_m is None:
            return aligned_m
        return np.clip(aligned_m, self.low_m, self.high_m, out=aligned_m)

    def inverted(self, disparity: np.ndarray) -> np.ndarray:
        """Turn aligned disparities into depths within the caps, in place; never infinite."""
        high_m = float(self.depth_m.max()) if self.high_m is None else self.high_m
        np.clip(disparity, 1 / high_m, 1 / self.low_m if self.low_m else None, out=disparity)
        return np.reciprocal(disparity, out=disparity)

    def errors(self, aligned_m: np.ndarray) -> Parts:
        """Return the errors of clipped float32 depths (n,), whose memory is used up."""
        n = self.depth_m.size
        squared = cv2.norm(aligned_m, self.depth_m, cv2.NORM_L2SQR)
        ratio = np.multiply(aligned_m, self.inverse, out=aligned_m)
        # max(r, 1 / r) < 1.25 with one division less
        near = int(np.count_nonzero((ratio > 0.8) & (ratio < 1.25)))
        relative = cv2.norm(np.subtract(ratio, 1, out=ratio), cv2.NORM_L1)
        return {
            "absrel": relative / n,
            "delta1": near / n,
            "rmse_m": math.sqrt(squared / n),
            "n_valid": float(n),
        }


def _truth(
    depth_m: np.ndarray,
    valid: np.ndarray | None,
    caps_m: tuple[float | None, float | None],
    caps_limit_truth: bool,
) -> _Truth | None:
    depth_m = np.ascontiguousarray(depth_m, np.float32)
    low_m, high_m = caps_m if caps_limit_truth else (None, None)
    usable = depth_m > 0
    if low_m is not None:
        usable &= depth_m >= float(low_m)
    usable &= np.isfinite(depth_m) if high_m is None else depth_m <= float(high_m)
    if valid is not None:
        usable &= valid
    n = np.count_nonzero(usable)
    if n < 2:
        return None
    chosen = None if n == usable.size else usable
    picked = depth_m.ravel() if chosen is None else depth_m[chosen]
    return _Truth(picked, np.reciprocal(picked), chosen, *caps_m)


class _Regressor:
    """Grey values (n,) made ready for several linear fits; centred, so that float32 is enough."""

    def __init__(self, x: np.ndarray) -> None:
        values = _eight_bit_scale(x)
        self.centre = _mean(values)
        if not math.isfinite(self.centre):
            raise ValueError("the grey map holds values that are not finite")
        self.centred = (values - self.centre).astype(np.float32, copy=False)
        self.offset = _mean(self.centred)
        self.variance = cv2.norm(self.centred, cv2.NORM_L2SQR) / x.size - self.offset**2
        self.varies = bool(x.min() < x.max()) and self.variance > 0

    def fit(self, y: np.ndarray) -> tuple[float, float]:
        """Return the slope of the least-squares line to y (n,) float32, and its value at 0.

        The slope is 0 and the value the mean where x, or y, does not vary.
        """
        mean = _mean(y)
        if not self.varies:
            return 0.0, mean
        covariance = _mean(self.centred * y) - self.offset * mean
        slope = covariance / self.variance
        if slope * slope * self.variance < (RESOLUTION * mean) ** 2:
            return 0.0, mean
        return slope, mean - slope * self.offset

    def line(self, slope: float, at_zero: float) -> np.ndarray:
        """Evaluate a line at the centred values, (n,) float32."""
        values = self.centred * np.float32(slope)
        return np.add(values, np.float32(at_zero), out=values)

    def described(self, slope: float, at_zero: float) -> Parts:
        """Return scale and shift of a line for the grey value as it was."""
        return {"scale": slope, "shift": at_zero - slope * self.centre}


def _linear_parts(truth: _Truth, x: np.ndarray, promised: float | None) -> dict[str, Parts]:
    """Return the parts of the fits depth, disparity and, if a sign was promised, signed."""
    regressor = _Regressor(x)

    def straight(line: tuple[float, float]) -> Parts:
        aligned_m = truth.clip(regressor.line(*line))
        return truth.errors(aligned_m) | regressor.described(*line)

    depth_line = regressor.fit(truth.depth_m)
    inverse_line = regressor.fit(truth.inverse)
    parts = {"depth": straight(depth_line)}
    parts["disparity"] = truth.errors(truth.inverted(regressor.line(*inverse_line)))
    parts["disparity"] |= regressor.described(*inverse_line)
    if promised is None:
        return parts
    bound = depth_line[0] * promised < 0
    parts["signed"] = straight((0.0, _mean(truth.depth_m))) if bound else dict(parts["depth"])
    # A disparity falls where depth rises.
    slopes = {"depth": depth_line[0], "signed": depth_line[0], "disparity": -inverse_line[0]}
    for name, slope in slopes.items():
        parts[name] |= _polarity(slope, promised)
    return parts


def _monotone_parts(
    truth: _Truth, x: np.ndarray, half: np.ndarray, promised: float | None
) -> Parts:
    """Return the parts of the cross-fitted monotone curve; `half` (n,) is 0 or 1 for each pixel.

    Where one half has fewer than two pixels (a picture of one block), the curve of all pixels
    scores all pixels, and cross_fitted is 0.
    """
    code = (_levels(x) | (half.astype(np.uint16) << 8)).astype(np.intp)
    count = np.bincount(code, minlength=2 * LEVELS).reshape(2, LEVELS)
    total = np.bincount(code, cv2.log(truth.depth_m).ravel(), 2 * LEVELS).reshape(2, LEVELS)
    crossed = bool((count.sum(axis=1) >= 2).all())
    if not crossed:
        count, total = (np.repeat(sums.sum(axis=0)[None], 2, axis=0) for sums in (count, total))
    curves, slope = _curves(count, total)
    # The curve of one half is read by the pixels of the other.
    table = truth.clip(np.exp(curves[::-1])).astype(np.float32).ravel()
    parts = truth.errors(table.take(code)) | {"cross_fitted": float(crossed)}
    if slope:
        parts["direction"] = slope
    return parts | ({} if promised is None else _polarity(slope, promised))


def _curves(count: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, float]:
    """Fit a monotone curve to the level means of each half, (2, 256), one direction for both.

    Returns the curves and 1 (rising), -1 (falling) or 0 (flat, or both directions equal). Levels
    that a half does not hold are interpolated, beyond its range held constant.
    """
    fits: dict[float, np.ndarray] = {}
    loss: dict[float, float] = {}
    for direction in (1.0, -1.0):
        curves, squared = [], 0.0
        for weights, sums in zip(count, total, strict=True):
            held = np.flatnonzero(weights)
            means = sums[held] / weights[held]
            fitted = monotone_fit(means, weights[held], increasing=direction > 0)
            squared += float((weights[held] * (means - fitted) ** 2).sum())
            curves.append(np.interp(np.arange(LEVELS), held, fitted))
        fits[direction], loss[direction] = np.stack(curves), squared
    if abs(loss[1.0] - loss[-1.0]) < RESOLUTION**2 * float(count.sum()):
        return fits[1.0], 0.0
    best = min(loss, key=loss.__getitem__)
    return fits[best], best


def _levels(x: np.ndarray) -> np.ndarray:
    """Return levels 0 to 255: those of an 8-bit picture, else equal steps from min to max."""
    if x.dtype == np.uint8:
        return x
    low, high = float(x.min()), float(x.max())
    if low == high:
        return np.zeros(x.shape, np.uint8)
    steps = (x.astype(np.float64) - low) * (LEVELS / (high - low))
    return np.minimum(steps, LEVELS - 1).astype(np.uint8)


def _halves(shape: tuple[int, int], block_px: int) -> np.ndarray:
    """Return 0 and 1, (H, W), on a checkerboard of square blocks."""
    rows, columns = ((np.arange(side) // block_px & 1).astype(np.uint8) for side in shape)
    return rows[:, None] ^ columns[None, :]


def _eight_bit_scale(grey: np.ndarray) -> np.ndarray:
    """Return float32 levels of an 8-bit picture, 16-bit ones as value / 257; floats unchanged."""
    if grey.dtype == np.uint16:
        return grey.astype(np.float32) * np.float32(1 / 257)
    return grey if grey.dtype == np.float64 else grey.astype(np.float32)


def _mean(values: np.ndarray) -> float:
    # cv2 sums in double precision, in one thread and always in the same order.
    return cv2.sumElems(values)[0] / values.size


def _promised_sign(near: str) -> float | None:
    if near not in PROMISED_SIGN:
        raise SpecError(
            f"answer_form.near: '{near}' is not known; allowed: {', '.join(PROMISED_SIGN)}"
        )
    return PROMISED_SIGN[near]


def _polarity(slope: float, promised: float) -> Parts:
    return {"polarity_contradicts": float(slope * promised < 0)}
