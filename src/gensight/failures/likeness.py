"""Features of both pictures, pixel by pixel: similarity, filters of the input, layout."""

from __future__ import annotations

import cv2
import numpy as np

from gensight.failures.pictures import Pair, lab, mean_within, ssim_map
from gensight.failures.tones import (
    COLOUR_TOLERANCE,
    correlation,
    largest_channel,
    modal_colour,
    sampled,
)
from gensight.images import resize_picture

COLOUR_BINS = 12
# The share of each channel's level in the number of its colour bin, (256, 3).
COLOUR_CODES = (np.arange(256)[:, None] * COLOUR_BINS >> 8) * COLOUR_BINS ** np.arange(2, -1, -1)
BLOCK_PX = 24
THUMBNAIL_PX = 12
GROUND_TOLERANCE, KEPT_TOLERANCE = 40, 20
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

    Eta squared of the answer given the input's colour in 12^3 bins, each half of a checkerboard of
    blocks predicted by the other (0 or less: no better than the mean).
    """
    answer = pair.answer.reshape(-1, 3).astype(np.float64)
    total = ((answer - answer.mean(axis=0)) ** 2).sum()
    missed = ((answer - _predicted(pair, answer)) ** 2).sum()
    return {"filter_fit": float(1 - missed / total) if total else 0.0}


def _predicted(pair: Pair, answer: np.ndarray) -> np.ndarray:
    """Return the mean answer of each pixel's bin in the other half, (n, 3)."""
    code = COLOUR_CODES[pair.source.reshape(-1, 3), np.arange(3)].sum(axis=1)
    half, bins = _checkerboard(pair.answer.shape[:2]).ravel(), COLOUR_BINS**3
    own, other = code + half * bins, code + (1 - half) * bins
    counts = np.bincount(own, minlength=2 * bins)
    predicted = np.empty_like(answer)
    for channel in range(3):
        sums = np.bincount(own, answer[:, channel], 2 * bins)
        table = sums / np.maximum(counts, 1)
        # A colour that the other half lacks is predicted by that half's mean.
        means = sums.reshape(2, bins).sum(axis=1) / counts.reshape(2, bins).sum(axis=1).clip(1)
        predicted[:, channel] = np.where(counts > 0, table, means.repeat(bins))[other]
    return predicted


def _checkerboard(shape: tuple[int, int]) -> np.ndarray:
    rows, columns = (np.arange(length) // BLOCK_PX for length in shape)
    return (rows[:, None] + columns) % 2


def affine_fit(pair: Pair) -> dict[str, float]:
    """Return R squared of the best affine map from the input's RGB to the answer's."""
    source = np.column_stack([pair.source.reshape(-1, 3), np.ones(pair.source.size // 3)])
    answer = pair.answer.reshape(-1, 3).astype(np.float64)
    total = ((answer - answer.mean(axis=0)) ** 2).sum()
    left = ((answer - source @ _least_squares(source, answer)) ** 2).sum()
    return {"affine_fit": float(1 - left / total) if total else 0.0}


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
    filtered = _robust_filter(pair)
    residual = np.sqrt(((pair.answer - filtered) ** 2).sum(axis=2))
    departs = residual > pair.settings["assumed_overlay_residual"]
    solid = cv2.morphologyEx(departs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    region = _largest(solid)
    unchanged = largest_channel(cv2.absdiff(pair.source, pair.answer)) <= KEPT_TOLERANCE
    n = int(solid.sum())
    return {
        "residual_share": n / solid.size,
        "residual_kept_share": float(unchanged[solid > 0].mean()) if n else 0.0,
        "residual_compactness": int(region.sum()) / n if n else 0.0,
        "residual_hue": _hue_change(pair, filtered, region) if n else 0.0,
        "residual_outside": float(residual[~departs].mean()) if not departs.all() else 255.0,
    }


def _hue_change(pair: Pair, filtered: np.ndarray, region: np.ndarray) -> float:
    """Return the length of the mean difference in a and b over a region that is not empty."""
    expected = lab(filtered[region][None].round().astype(np.uint8))[0]
    difference = (pair.answer_lab[region] - expected).mean(axis=0, dtype=np.float64)
    return float(np.hypot(difference[1], difference[2]))


def _largest(solid: np.ndarray) -> np.ndarray:
    """Return the pixels of the largest region, small gaps bridged, bool (H, W)."""
    joined = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    _, labels = cv2.connectedComponents(joined)
    sizes = np.bincount(labels[solid > 0], minlength=2)
    sizes[0] = 0
    return (labels == int(sizes.argmax())) & (solid > 0)


def _robust_filter(pair: Pair) -> np.ndarray:
    """Return what the map that is fitted to the pixels it fits best makes of the input, (H, W, 3).

    The map adds up a table for each channel of the input, so it is fitted to some pixels and read
    at all of them.
    """
    source, answer = (sampled(rgb) for rgb in (pair.source, pair.answer))
    known = np.column_stack([source / 255, (source / 255) ** 2, np.ones(len(source))])
    kept = slice(None)
    for _ in range(ROBUST_ROUNDS):
        fitted = _least_squares(known[kept], answer[kept].astype(np.float64))
        # Without the cut a filter that saturates would look like a region of its own.
        residual = ((answer - (known @ fitted).clip(0, 255)) ** 2).sum(axis=1)
        kept = residual <= np.quantile(residual, ROBUST_SHARE)
    levels = np.arange(256)[:, None] / 255
    tables = (levels * fitted[:3, None] + levels**2 * fitted[3:6, None]).astype(np.float32)
    red, green, blue = (tables[i][pair.source[:, :, i]] for i in range(3))
    return (red + green + blue + fitted[6].astype(np.float32)).clip(0, 255)


def cutout(pair: Pair) -> dict[str, float]:
    """Return the share of a modal colour, and how far all the rest is the input unchanged.

    `modal_share` is the part of the answer near its most frequent colour (a faded ground is near
    black), `modal_share_of_input` the part of that area that has this colour in the input, so that
    a plain sky is no cut. Of the rest, `kept_share` is as in the input, and `rest_flat_share` has
    one colour: most of a mask's, little of a picture's. `cutout_ssim` is the similarity there.
    """
    modal = modal_colour(sampled(pair.answer)).astype(np.uint8)
    flat = np.broadcast_to(modal, pair.answer.shape)
    ground, of_input = (
        largest_channel(cv2.absdiff(rgb, flat)) <= GROUND_TOLERANCE
        for rgb in (pair.answer, pair.source)
    )
    kept = largest_channel(cv2.absdiff(pair.answer, pair.source)) <= KEPT_TOLERANCE
    rest = ~ground
    # The window of the similarity must not see the cut; on a thin rest it has to.
    inner = cv2.erode(rest.astype(np.uint8), np.ones((11, 11), np.uint8)) > 0
    return {
        "modal_share": float(ground.mean()),
        "modal_share_of_input": float(of_input[ground].mean()) if ground.any() else 0.0,
        "kept_share": float(kept[rest].mean()) if rest.any() else 0.0,
        "rest_flat_share": _flat_share(pair.answer[rest].astype(np.int16)),
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
