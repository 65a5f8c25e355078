"""Exact bookkeeping for 2-means on colours: the brighter of two clusters is the foreground.

ProbeGen 3.2 (iii) does not print features, start and seed of its k-means. Assumed here: RGB, and a
start that needs no seed, the best split along the principal axis of the colours; then Lloyd's
iteration to the end, on every distinct colour with its frequency, so that nothing is rounded or
sampled. On grey pictures that axis is grey itself, where the start is already the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

# Rec. 601, as in gensight.images.to_grey.
LUMA = (0.299, 0.587, 0.114)
# Lloyd's iteration ends by itself; each round lowers the cost of one of finitely many splits.
MAX_ROUNDS = 1000


class Split(NamedTuple):
    """Where a picture is nearer to the brighter centre, and both centres, (3,) RGB each."""

    foreground: np.ndarray
    bright: np.ndarray
    dark: np.ndarray


def split_colours(rgb: np.ndarray) -> Split:
    """Cluster the colours of a uint8 RGB (H, W, 3) picture into two; foreground is bool (H, W).

    A colour as near to one centre as to the other goes to the darker; of two centres of equal luma
    the one with more red (then green) counts as brighter. A picture of one colour has no
    foreground.
    """
    colours, weights = _distinct(rgb)
    if len(colours) == 1:
        return Split(np.zeros(rgb.shape[:2], np.bool_), colours[0], colours[0])
    upper = _best_split_on_axis(colours, weights)
    for _ in range(MAX_ROUNDS):
        bright, dark = _centres(colours, weights, upper)
        nearer = _nearer(bright, dark, *colours.T)
        if (nearer == upper).all():
            break
        upper = nearer
    return Split(_nearer(bright, dark, *cv2.split(rgb)), bright, dark)


def _distinct(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct colours, float64 (n, 3), and how many pixels have each."""
    red, green, blue = (plane.astype(np.int32) for plane in cv2.split(rgb))
    packed, weights = np.unique(red << 16 | green << 8 | blue, return_counts=True)
    colours = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)
    return colours.astype(np.float64), weights.astype(np.float64)


def _best_split_on_axis(colours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return which colours lie above the best cut along the axis of largest variance, bool (n,)."""
    centred = colours - (weights @ colours) / weights.sum()
    axis = np.linalg.eigh((centred * weights[:, None]).T @ centred)[1][:, -1]
    along = centred @ axis
    order = np.argsort(along, kind="stable")
    below, moment = np.cumsum(weights[order]), np.cumsum((weights * along)[order])
    total = below[-1]
    pairs = below * (total - below)
    # Between-class variance of a cut after each colour; none can be made between equal values.
    spread = np.divide(
        (moment[-1] * below - moment * total) ** 2, pairs, where=pairs > 0, out=np.zeros_like(pairs)
    )
    spread[:-1][np.diff(along[order]) <= 0] = 0
    upper = np.zeros(len(colours), np.bool_)
    upper[order[int(np.argmax(spread[:-1])) + 1 :]] = True
    return upper


def _centres(
    colours: np.ndarray, weights: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of both clusters, the brighter one first."""
    means = [weights[part] @ colours[part] / weights[part].sum() for part in (upper, ~upper)]
    means.sort(key=lambda mean: (float(mean @ LUMA), *mean.tolist()), reverse=True)
    return means[0], means[1]


def _nearer(bright: np.ndarray, dark: np.ndarray, *planes: np.ndarray) -> np.ndarray:
    """Return where colours, given by their three channels, are nearer to the brighter centre."""
    red, green, blue = bright - dark
    middle = float(((bright + dark) / 2) @ (bright - dark))
    # Term by term: the order of a matrix product may differ between machines.
    return planes[0] * red + planes[1] * green + planes[2] * blue > middle
