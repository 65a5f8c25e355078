"""Features of both pictures, pixel by pixel: similarity, filters of the input, layout."""

from __future__ import annotations

import cv2
import numpy as np

from gensight.failures.pictures import Pair, mean_within
from gensight.failures.tones import COLOUR_TOLERANCE, correlation, modal_colour

COLOUR_BINS = 12
BLOCK_PX = 24
THUMBNAIL_PX = 12
CUTOUT_TOLERANCE = 6
ROBUST_ROUNDS, ROBUST_SHARE = 3, 0.7


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
    left = ((answer - source @ _affine(source, answer)) ** 2).sum()
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


def _affine(source: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return the least-squares map (4, 3) from RGB and 1 to RGB."""
    return np.linalg.lstsq(source.T @ source, source.T @ answer, rcond=None)[0]


def overlay(pair: Pair) -> dict[str, float]:
    """Return where the answer departs from a filter of the input: share, compactness, strength.

    The filter is the affine map of RGB that fits the best 70 % of the pixels. `residual_share` is
    the share of pixels that depart by `assumed_overlay_residual` levels, `residual_compactness` the
    part of them in one region, `residual_outside` the mean departure of all others.
    """
    source, answer = (rgb.reshape(-1, 3) for rgb in (pair.source, pair.answer))
    source, answer = _with_ones(source), answer.astype(np.float64)
    residual = _robust_residual(source, answer).reshape(pair.answer.shape[:2])
    departs = (residual > pair.settings["assumed_overlay_residual"]).astype(np.uint8)
    kernel = np.ones((3, 3), np.uint8)
    opened = cv2.morphologyEx(departs, cv2.MORPH_OPEN, kernel)
    joined = cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    _, labels = cv2.connectedComponents(joined)
    sizes = np.bincount(labels[opened > 0], minlength=2)
    total = int(opened.sum())
    outside = residual[departs == 0]
    return {
        "residual_share": total / departs.size,
        "residual_compactness": float(sizes[1:].max()) / total if total else 0.0,
        "residual_outside": float(outside.mean()) if outside.size else 255.0,
    }


def _robust_residual(source: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return each pixel's distance to the map fitted to the pixels that it fits best, (n,)."""
    kept = slice(None)
    for _ in range(ROBUST_ROUNDS):
        difference = answer - source @ _affine(source[kept], answer[kept])
        residual = np.sqrt((difference**2).sum(axis=1))
        kept = residual <= np.quantile(residual, ROBUST_SHARE)
    return residual


def cutout(pair: Pair) -> dict[str, float]:
    """Return the share of one modal colour, and how the rest is like the input.

    `rest_flat_share` is the part of the rest that has one colour: most of a mask's, little of a
    picture's. `modal_share_of_input` is the part of the modal area that has this colour in the
    input, so that a plain sky is no cut.
    """
    pixels = pair.answer.reshape(-1, 3).astype(np.int16)
    modal = modal_colour(pixels)
    filled = (np.abs(pixels - modal) <= CUTOUT_TOLERANCE).all(axis=1)
    filled = filled.reshape(pair.answer.shape[:2]).astype(np.uint8)
    # The window of the similarity must not see the cut; on a thin rest it has to.
    grown = cv2.dilate(filled, np.ones((11, 11), np.uint8))
    rest = grown == 0 if (grown == 0).mean() > 0.001 else filled == 0
    near = np.abs(pair.source.astype(np.int16) - modal).max(axis=2) <= COLOUR_TOLERANCE
    other = pixels[np.abs(pixels - modal).max(axis=1) > COLOUR_TOLERANCE]
    return {
        "modal_share": float(filled.mean()),
        "rest_flat_share": _flat_share(other),
        "modal_share_of_input": float(near[filled > 0].mean()) if filled.any() else 0.0,
        "cutout_ssim": mean_within(pair.likeness, rest),
    }


def _flat_share(pixels: np.ndarray) -> float:
    """Return the share of pixels (n, 3) near their modal colour; 1 where there are none."""
    if not len(pixels):
        return 1.0
    return float((np.abs(pixels - modal_colour(pixels)) <= COLOUR_TOLERANCE).all(axis=1).mean())
