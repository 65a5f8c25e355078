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

Valid pixels are finite, positive, in [min_depth_m, max_depth_m] and in `valid_mask`. Caps, masks
and crops are facts of the data set, and one that excludes its caps says so in `valid_mask`; with
`caps_limit_truth: false` (DIODE) the caps only clip the prediction. The prediction goes to the grid
of the truth by a plain resize; the truth, which may be sparse, is never resized. Aligned depth is
clipped to the caps after alignment (DEP-4); a data set without caps is not clipped, and its largest
valid depth floors the disparity.

A picture of one grey level gets the constant fit (s = 0, t = mean), and so does a failed answer:
it carries no information (`constant_fit`). Fewer than two valid pixels: no ground truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.measures import Parts, PartsByFit, complete, required
from gensight.measures._alignment import (
    RESOLUTION,
    Line,
    Moments,
    Pixels,
    eight_bit_scale,
    evaluate,
)
from gensight.measures._monotone import curves, halves
from gensight.records import Prediction, Sample
from gensight.truths import usable_depth

VERSION = 1
FAILURE_POLICIES = ("constant_fit",)
DEFAULTS: dict[str, Any] = {
    "failure": "constant_fit",
    "block_px": 32,
    "caps_limit_truth": True,
}
FITS = ("depth", "disparity", "monotone", "signed")
# The sign of d(depth) / d(grey) that a prompt promises.
PROMISED_SIGN = {"bright": -1.0, "dark": 1.0, "unspecified": None}
Caps = tuple[float | None, float | None]


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
    """Give a failed answer the fits of a constant picture; its polarity is not known."""
    by_fit = _measure(np.zeros((1, 1), np.uint8), sample, settings)
    for parts in (by_fit or {}).values():
        parts.pop("polarity_contradicts", None)
    return by_fit


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
    depth_m = np.ascontiguousarray(depth_m, np.float32)
    caps_m = (min_depth_m, max_depth_m)
    usable = usable_depth(depth_m, valid, *(caps_m if caps_limit_truth else (None, None)))
    if np.count_nonzero(usable) < 2:
        return None
    pictures = (grey, depth_m, halves(grey.shape, block_px))
    # Picking by a mask copies; most truths are dense.
    dense = bool(usable.all())
    picked = (picture.ravel() if dense else picture[usable] for picture in pictures)
    return _fits(Pixels(*picked), caps_m, promised)


def _measure(grey: np.ndarray, sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    if sample.target_depth_m is None:
        return None
    depth_m = images.decode_array(sample.target_depth_m)
    height, width = depth_m.shape
    if grey.shape != (height, width):
        grey = images.resize_depth(eight_bit_scale(grey), width, height)
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


def _fits(pixels: Pixels, caps_m: Caps, promised: float | None) -> dict[str, Parts]:
    """Return the parts of every fit over the valid pixels."""
    moments = pixels.moments()
    lines = {"depth": moments.depth, "disparity": moments.inverse}
    if promised is not None:
        against = moments.depth.slope * promised < 0
        lines["signed"] = Line(0.0, moments.mean_m) if against else moments.depth
    table, curve = _curve(moments, caps_m)
    low_m, high_m = caps_m
    # Below this disparity the inverse would pass the farthest depth, or infinity.
    floor = 1 / (float(pixels.depth_m.max()) if high_m is None else high_m)
    fits = {
        "depth": lambda piece: _clipped(evaluate(lines["depth"], piece), caps_m),
        "disparity": lambda piece: _inverted(evaluate(lines["disparity"], piece), low_m, floor),
        "monotone": lambda piece: table.take(piece.code),
        "signed": lambda piece: _clipped(evaluate(lines["signed"], piece), caps_m),
    }
    if lines.get("signed", lines["depth"]) == lines["depth"]:
        # The same line as depth: its errors are copied below, not summed again.
        del fits["signed"]
    parts = pixels.errors(fits)
    if "signed" in lines:
        parts.setdefault("signed", dict(parts["depth"]))
    for name, line in lines.items():
        shift = line.at_centre - line.slope * pixels.centre
        parts[name] |= {"scale": line.slope, "shift": shift}
    parts["monotone"] |= curve
    if promised is not None:
        _flag_polarity(parts, moments, promised)
    return {name: parts[name] for name in FITS if name in parts}


def _flag_polarity(parts: dict[str, Parts], moments: Moments, promised: float) -> None:
    """Add to each fit whether its depth goes the other way than promised; no slope, no conflict."""
    slopes = {
        "depth": moments.depth.slope,
        # A disparity falls where depth rises.
        "disparity": -moments.inverse.slope,
        "monotone": parts["monotone"].get("direction", 0.0),
        "signed": moments.depth.slope,
    }
    for name, slope in slopes.items():
        parts[name]["polarity_contradicts"] = float(slope * promised < 0)


def _curve(moments: Moments, caps_m: Caps) -> tuple[np.ndarray, Parts]:
    """Return the cross-fitted curve's depth for each half and level, (512,), and its parts.

    Where one half has fewer than two pixels (a picture of one block), the curve of all pixels
    scores all pixels, and cross_fitted is 0.
    """
    count, total = moments.count, moments.log_depth
    crossed = bool((count.sum(axis=1) >= 2).all())
    if not crossed:
        count, total = (np.repeat(sums.sum(axis=0)[None], 2, axis=0) for sums in (count, total))
    log_depth, direction = curves(count, total, RESOLUTION)
    # The curve of one half is read by the pixels of the other.
    table = _clipped(np.exp(log_depth[::-1]), caps_m).astype(np.float32).ravel()
    return table, {"cross_fitted": float(crossed)} | ({"direction": direction} if direction else {})


def _clipped(aligned_m: np.ndarray, caps_m: Caps) -> np.ndarray:
    """Bring aligned depths into the caps, in place."""
    if caps_m == (None, None):
        return aligned_m
    return np.clip(aligned_m, *caps_m, out=aligned_m)


def _inverted(disparity: np.ndarray, low_m: float | None, floor: float) -> np.ndarray:
    """Turn aligned disparities into depths within the caps, in place; `floor` keeps them finite."""
    np.clip(disparity, floor, 1 / low_m if low_m else None, out=disparity)
    return np.reciprocal(disparity, out=disparity)


def _promised_sign(near: str) -> float | None:
    if near not in PROMISED_SIGN:
        raise SpecError(
            f"answer_form.near: '{near}' is not known; allowed: {', '.join(PROMISED_SIGN)}"
        )
    return PROMISED_SIGN[near]
