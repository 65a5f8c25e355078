"""Features of the answer alone: how its grey levels and colours are spread."""

from __future__ import annotations

import functools
import math

import cv2
import numpy as np

from gensight.extractors._histogram import histogram, percentile, range_of, two_class_threshold
from gensight.failures.pictures import Pair
from gensight.images import to_grey

COLORMAPS = ("viridis", "magma", "inferno", "turbo", "jet")
DARK, BRIGHT = 40, 215
# A grey level counts when more than this share of the pixels has it.
LEVEL_SHARE = 0.001
CHROMA_PERCENTILE = 95
# Pixels within this distance in every channel have one colour: JPEG and soft edges blur a mask's.
COLOUR_TOLERANCE = 24
COLOURS_COVER, COLOURS_COUNTED = 0.95, 8
COLOUR_SHARE = 0.001
SAMPLED_PIXELS = 4096
PART_AREA_PX, FLAT_LEVELS = 8, 2
FLAT_SQUARES = 1e-9


def contrast(pair: Pair) -> dict[str, float]:
    """Return the range of grey: p99 - p1, without the small targets' tails, and its spread."""
    counts = histogram(pair.answer_grey)
    tail = pair.settings["small_target_percent"]
    return {
        "contrast": range_of(counts, 1, 99),
        "contrast_of_small_targets": range_of(counts, tail, 100 - tail),
        "grey_deviation": float(pair.answer_grey.std(dtype=np.float64)),
    }


def autocorrelation(pair: Pair) -> dict[str, float]:
    """Return the correlation of grey with its right and lower neighbour, averaged.

    Of the answer as it came where that is smaller than the grid: enlarging joins neighbours.
    """
    returned = pair.originals[1]
    is_small = returned.size < pair.answer.size and min(returned.shape[:2]) > 1
    grey = (to_grey(returned) if is_small else pair.answer_grey).astype(np.float32)
    pairs = ((grey[:, 1:], grey[:, :-1]), (grey[1:], grey[:-1]))
    return {"autocorrelation": float(np.mean([correlation(*both) for both in pairs]))}


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Pearson's correlation of two arrays; 1 where both are flat, 0 where one is."""
    one, two = (values - values.mean(dtype=np.float64) for values in (first, second))
    # Plain sums: those of the linear algebra library depend on its threads.
    squares, others = (float((values * values).sum()) for values in (one, two))
    if min(squares, others) < FLAT_SQUARES:
        return float(max(squares, others) < FLAT_SQUARES)
    return float((one * two).sum()) / math.sqrt(squares * others)


def chroma(pair: Pair) -> dict[str, float]:
    """Return the 95th percentile of the largest minus the smallest channel."""
    counts = np.bincount(channel_range(pair.answer).ravel(), minlength=256)
    return {"chroma": float(percentile(counts, CHROMA_PERCENTILE))}


def channel_range(rgb: np.ndarray) -> np.ndarray:
    """Return the largest minus the smallest channel, uint8 (H, W)."""
    red, green, blue = cv2.split(rgb)
    return largest_channel(rgb) - cv2.min(cv2.min(red, green), blue)


def largest_channel(rgb: np.ndarray) -> np.ndarray:
    """Return the largest channel of each pixel, (H, W)."""
    red, green, blue = cv2.split(rgb)
    return cv2.max(cv2.max(red, green), blue)


def bimodality(pair: Pair) -> dict[str, float]:
    """Return how far grey is two-valued: near its ends, between Otsu's classes; and its levels."""
    counts = histogram(pair.answer_grey)
    shares = counts / counts.sum()
    return {
        "extreme_share": float(shares[: DARK + 1].sum() + shares[BRIGHT:].sum()),
        "otsu_share": otsu_share(counts),
        "levels": float(np.count_nonzero(shares > LEVEL_SHARE)),
    }


def otsu_share(counts: np.ndarray) -> float:
    """Return the share of a histogram's variance that lies between Otsu's two classes."""
    levels, n = np.arange(len(counts)), counts.sum()
    mean = (counts * levels).sum() / n
    total = (counts * (levels - mean) ** 2).sum() / n
    if total == 0:
        return 0.0
    cut = two_class_threshold(counts) + 1
    below, above = counts[:cut].sum() / n, counts[cut:].sum() / n
    if not above:
        return 0.0
    low = (counts[:cut] * levels[:cut]).sum() / n / below
    high = (counts[cut:] * levels[cut:]).sum() / n / above
    return float(below * above * (high - low) ** 2 / total)


def foreground(pair: Pair) -> np.ndarray:
    """Return Otsu's bright class of the answer, bool (H, W)."""
    return pair.answer_grey > two_class_threshold(histogram(pair.answer_grey))


def shapes(pair: Pair) -> dict[str, float]:
    """Return share, border, stroke width, holes and dark parts of the bright class.

    `stroke_px` is area over perimeter, half the width of a line; `filled_gain` is how often the
    area grows when holes are filled (1: none). `dark_parts` counts the regions of the dark class,
    and `dark_stroke_px` is their stroke: letters on a page are many and thin.
    """
    mask = foreground(pair).astype(np.uint8)
    area = int(mask.sum())
    border = np.concatenate([mask[0], mask[-1], mask[1:-1, 0], mask[1:-1, -1]])
    outer, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros_like(mask), outer, -1, 1, cv2.FILLED)
    _, _, dark, _ = cv2.connectedComponentsWithStats(1 - mask)
    return {
        "white_share": area / mask.size,
        "border_white_share": float(border.mean()),
        "stroke_px": _stroke_px(mask),
        "filled_gain": float(filled.sum()) / max(area, 1),
        "dark_parts": float(np.count_nonzero(dark[1:, cv2.CC_STAT_AREA] >= PART_AREA_PX)),
        "dark_stroke_px": _stroke_px(1 - mask),
    }


def _stroke_px(mask: np.ndarray) -> float:
    """Return area over perimeter of all regions of a uint8 mask of 0 and 1."""
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    perimeter = sum(cv2.arcLength(contour, closed=True) for contour in contours)
    return float(mask.sum()) / max(perimeter, 1.0)


def flatness(pair: Pair) -> dict[str, float]:
    """Return the share of pixels whose 3 x 3 neighbours have their grey, up to two levels."""
    kernel = np.ones((3, 3), np.uint8)
    spread = cv2.dilate(pair.answer_grey, kernel) - cv2.erode(pair.answer_grey, kernel)
    return {"flat_share": float((spread <= FLAT_LEVELS).mean())}


def colours(pair: Pair) -> dict[str, float]:
    """Return how many colours cover 95 % of the answer, and the largest chroma among all.

    Colours are taken off one after the other, the most frequent first; at most eight are counted. A
    colour counts for its chroma down to 0.1 % of the pixels: targets are small.
    """
    rest = sampled(pair.answer)
    n, found, largest = len(rest), 0, 0.0
    for _ in range(COLOURS_COUNTED):
        if len(rest) <= COLOUR_SHARE * n:
            break
        found += len(rest) > (1 - COLOURS_COVER) * n
        colour = modal_colour(rest)
        near = (np.abs(rest - colour) <= COLOUR_TOLERANCE).all(axis=1)
        if near.sum() > COLOUR_SHARE * n:
            largest = max(largest, float(np.ptp(colour)))
        rest = rest[~near]
    return {"colours": float(found), "colour_chroma": largest}


def modal_colour(pixels: np.ndarray) -> np.ndarray:
    """Return the mean of the fullest of 16^3 colour bins, int16 (3,), of int16 pixels (n, 3)."""
    code = _bins(pixels)
    fullest = int(np.bincount(code).argmax())
    return pixels[code == fullest].mean(axis=0).round().astype(np.int16)


def colormap(pair: Pair) -> dict[str, float]:
    """Return the mean RGB distance to the nearest of the well-known colour maps, and bins used.

    `colour_bins` is how many of 16^3 bins hold 95 % of the answer: a colour map is a line through
    them, also where it is paler than the known ones; a photograph is a cloud.
    """
    pixels = sampled(pair.answer)
    distances = (tree.query(pixels)[0].mean() for tree in _colormaps())
    counts = np.sort(np.bincount(_bins(pixels)))[::-1].cumsum()
    used = int(np.searchsorted(counts, COLOURS_COVER * counts[-1])) + 1
    return {"colormap_distance": float(min(distances)), "colour_bins": float(used)}


def _bins(pixels: np.ndarray) -> np.ndarray:
    """Return the number of the 16^3 bin of each int16 pixel (n, 3)."""
    return (pixels >> 4) @ np.array([256, 16, 1], np.int16)


@functools.cache
def _colormaps() -> tuple:
    from matplotlib import colormaps
    from scipy.spatial import KDTree

    entries = np.linspace(0, 1, 256)
    return tuple(KDTree(255 * colormaps[name](entries)[:, :3]) for name in COLORMAPS)


def sampled(rgb: np.ndarray) -> np.ndarray:
    """Return evenly spread pixels, int16 (n, 3), n from SAMPLED_PIXELS to four times that."""
    step = max(1, int(np.sqrt(rgb.shape[0] * rgb.shape[1] / SAMPLED_PIXELS)))
    return rgb[step // 2 :: step, step // 2 :: step].reshape(-1, 3).astype(np.int16)
