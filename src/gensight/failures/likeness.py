"""Features of both pictures, pixel by pixel: similarity, filters of the input, layout."""

from __future__ import annotations

import cv2
import numpy as np

from gensight.failures.pictures import Pair, lab, mean_within, ssim_map
from gensight.failures.tones import COLOUR_TOLERANCE, correlation, modal_colour
from gensight.images import resize_picture

COLOUR_BINS = 12
BLOCK_PX = 24
THUMBNAIL_PX = 12
GROUND_TOLERANCE, KEPT_TOLERANCE = 40, 20
ROBUST_ROUNDS, ROBUST_SHARE, FITTED_STEP = 3, 0.7, 4


def similarity(pair: Pair) -> dict[str, float]:
    """Return the mean structural similarity and the mean absolute difference in L, a and b."""
    difference = cv2.absdiff(pair.source_lab, pair.answer_lab)
    return {
        "ssim": mean_within(pair.likeness),
        "lab_difference": float(difference.mean(dtype=np.float64)),
    }


def layout(pair: Pair) -> dict[str, float]:
    """Return the correlation of two 12 x 12 thumbnails of lightness, their means removed."""
    size = (THUMBNAIL_PX, THUMBNAIL_PX)
    thumbnails = (
        cv2.resize(np.ascontiguousarray(lab[:, :, 0]), size, interpolation=cv2.INTER_AREA)
        for lab in (pair.source_lab, pair.answer_lab)
    )
    return {"layout": correlation(*thumbnails)}


def filter_fit(pair: Pair) -> dict[str, float]:
    """Return how far the answer is a function of the input's colour alone.

    `filter_fit` is eta squared of the answer given the input's colour in 12^3 bins, each half of a
    checkerboard of blocks predicted by the other (0 or less: no better than the mean);
    `affine_fit` is R squared of the best affine map of RGB.
    """
    answer = pair.answer.reshape(-1, 3).astype(np.float64)
    total = ((answer - answer.mean(axis=0)) ** 2).sum()
    if total == 0:
        return {"filter_fit": 0.0, "affine_fit": 0.0}
    missed = ((answer - _predicted(pair, answer)) ** 2).sum()
    source = _with_ones(pair.source.reshape(-1, 3))
    left = ((answer - source @ _least_squares(source, answer)) ** 2).sum()
    return {"filter_fit": float(1 - missed / total), "affine_fit": float(1 - left / total)}


def _predicted(pair: Pair, answer: np.ndarray) -> np.ndarray:
    """Return the mean answer of each pixel's bin in the other half, (n, 3)."""
    binned = (pair.source.astype(np.int32) * COLOUR_BINS) >> 8
    code = (binned @ np.array([COLOUR_BINS**2, COLOUR_BINS, 1], np.int32)).ravel()
    half, bins = _checkerboard(pair.answer.shape[:2]).ravel(), COLOUR_BINS**3
    both = code + half * bins
    counts = np.bincount(both, minlength=2 * bins).reshape(2, bins)
    predicted = np.empty_like(answer)
    for channel in range(3):
        sums = np.bincount(both, answer[:, channel], 2 * bins).reshape(2, bins)
        # A colour that the other half lacks is predicted by that half's mean.
        mean = sums.sum(axis=1, keepdims=True) / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        table = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
        predicted[:, channel] = table[1 - half, code]
    return predicted


def _checkerboard(shape: tuple[int, int]) -> np.ndarray:
    rows, columns = (np.arange(length) // BLOCK_PX for length in shape)
    return (rows[:, None] + columns) % 2


def _with_ones(pixels: np.ndarray) -> np.ndarray:
    return np.column_stack([pixels.astype(np.float64), np.ones(len(pixels))])


def _least_squares(source: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return the linear map (k, 3) that takes source (n, k) best to answer (n, 3)."""
    return np.linalg.lstsq(source.T @ source, source.T @ answer, rcond=None)[0]


def departure(pair: Pair) -> dict[str, float]:
    """Return where the answer departs from a filter of the input: how much, where, in what hue.

    The filter is a map of RGB with squares, clipped to 8 bits, that fits the best 70 % of the
    pixels. `residual_share` is the share of pixels that depart by `assumed_overlay_residual`
    levels, `residual_kept_share` the part of them that is the input unchanged (all else is
    filtered), `residual_compactness` the part in one region, `residual_hue` the length of that
    region's mean departure in a and b, `residual_outside` the mean departure of all others.
    """
    answer = pair.answer.reshape(-1, 3).astype(np.float64)
    filtered = _robust_filter(_with_squares(pair.source), answer).reshape(pair.answer.shape)
    residual = np.sqrt(((pair.answer - filtered) ** 2).sum(axis=2))
    departs = residual > pair.settings["assumed_overlay_residual"]
    solid = cv2.morphologyEx(departs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    region = _largest(solid)
    unchanged = cv2.absdiff(pair.source, pair.answer).max(axis=2) <= KEPT_TOLERANCE
    hue = (pair.answer_lab - lab(filtered.round().astype(np.uint8)))[region][:, 1:]
    n = int(solid.sum())
    return {
        "residual_share": n / solid.size,
        "residual_kept_share": float(unchanged[solid > 0].mean()) if n else 0.0,
        "residual_compactness": int(region.sum()) / n if n else 0.0,
        "residual_hue": float(np.hypot(*hue.mean(axis=0))) if len(hue) else 0.0,
        "residual_outside": float(residual[~departs].mean()) if not departs.all() else 255.0,
    }


def _largest(solid: np.ndarray) -> np.ndarray:
    """Return the pixels of the largest region, small gaps bridged, bool (H, W)."""
    joined = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    _, labels = cv2.connectedComponents(joined)
    sizes = np.bincount(labels[solid > 0], minlength=2)
    sizes[0] = 0
    return (labels == int(sizes.argmax())) & (solid > 0)


def _with_squares(rgb: np.ndarray) -> np.ndarray:
    """Return RGB and its squares, both from 0 to 1, and 1, float64 (n, 7)."""
    pixels = rgb.reshape(-1, 3) / 255.0
    return np.column_stack([pixels, pixels**2, np.ones(len(pixels))])


def _robust_filter(source: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return the answers predicted by the map that is fitted to the pixels it fits best, (n, 3)."""
    known, wanted = source[::FITTED_STEP], answer[::FITTED_STEP]
    kept = slice(None)
    for _ in range(ROBUST_ROUNDS):
        fitted = _least_squares(known[kept], wanted[kept])
        # Without the cut a filter that saturates would look like a region of its own.
        residual = ((wanted - (known @ fitted).clip(0, 255)) ** 2).sum(axis=1)
        kept = residual <= np.quantile(residual, ROBUST_SHARE)
    return (source @ fitted).clip(0, 255)


def cutout(pair: Pair) -> dict[str, float]:
    """Return the share of a modal colour, and how far all the rest is the input unchanged.

    `modal_share` is the part of the answer near its most frequent colour (a faded ground is near
    black), `modal_share_of_input` the part of that area that has this colour in the input, so that
    a plain sky is no cut. Of the rest, `kept_share` is as in the input, and `rest_flat_share` has
    one colour: most of a mask's, little of a picture's. `cutout_ssim` is the similarity there.
    """
    answer, source = (rgb.astype(np.int16) for rgb in (pair.answer, pair.source))
    modal = modal_colour(answer.reshape(-1, 3))
    ground = np.abs(answer - modal).max(axis=2) <= GROUND_TOLERANCE
    rest = ~ground
    of_input = np.abs(source - modal).max(axis=2) <= GROUND_TOLERANCE
    kept = np.abs(answer - source).max(axis=2) <= KEPT_TOLERANCE
    # The window of the similarity must not see the cut; on a thin rest it has to.
    inner = cv2.erode(rest.astype(np.uint8), np.ones((11, 11), np.uint8)) > 0
    return {
        "modal_share": float(ground.mean()),
        "modal_share_of_input": float(of_input[ground].mean()) if ground.any() else 0.0,
        "kept_share": float(kept[rest].mean()) if rest.any() else 0.0,
        "rest_flat_share": _flat_share(answer[rest]),
        "cutout_ssim": mean_within(pair.likeness, inner if inner.any() else rest),
    }


def panels(pair: Pair) -> dict[str, float]:
    """Return the best similarity of the input to a half or a quarter of the answer, stretched."""
    height, width = pair.source_grey.shape
    best = 0.0
    for rows in _spans(height):
        for columns in _spans(width):
            part = pair.answer_grey[rows, columns]
            if part.shape != (height, width):
                likeness = ssim_map(pair.source_grey, resize_picture(part, width, height))
                best = max(best, mean_within(likeness))
    return {"panel_ssim": best}


def _spans(length: int) -> tuple[slice, slice, slice]:
    """Return the whole length and its two halves."""
    return slice(0, length), slice(0, length // 2), slice(length - length // 2, length)


def _flat_share(pixels: np.ndarray) -> float:
    """Return the share of pixels (n, 3) near their modal colour; 1 where there are none."""
    if not len(pixels):
        return 1.0
    return float((np.abs(pixels - modal_colour(pixels)) <= COLOUR_TOLERANCE).all(axis=1).mean())
