"""SLIC superpixels of a picture in CIELAB, about one a cell, with their means and sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from skimage.segmentation import slic

from gensight.pixels.lab import lab_of

ITERATIONS = 10


@dataclass(frozen=True)
class Superpixels:
    """The regions of a picture: which one each pixel is in, their means and sizes.

    `labels` is int64 (H, W) of 0 .. n - 1, `means` float64 (n, 3) of L*, a*, b*, `sizes` float64
    (n,) in pixels, all above 0.
    """

    labels: np.ndarray
    means: np.ndarray
    sizes: np.ndarray


def superpixels(
    rgb: np.ndarray, size: int, compactness: float, *, least_connected: float
) -> Superpixels:
    """Return the SLIC regions of a uint8 picture, started from about N x N seeds on a grid.

    `compactness` weighs distance in units of the seeds' spacing against distance in CIELAB. Small
    and loose parts are given to a neighbour, as SLIC's authors have it. On noise that leaves one
    region (scikit-image 0.26): below `least_connected` x N x N regions every pixel stays with its
    own, in however many parts.
    """
    lab = lab_of(rgb)
    labels = _labels(lab, size, compactness, connected=True)
    if len(np.unique(labels)) < least_connected * size * size:
        labels = _labels(lab, size, compactness, connected=False)
    return regions_of(lab, labels)


def _labels(lab: np.ndarray, size: int, compactness: float, *, connected: bool) -> np.ndarray:
    # scikit-image stretches what it is given to 0 .. 1 first; compactness is brought along, or
    # else it would mean something else for every picture.
    spread = float(np.ptp(lab)) or 1.0
    return slic(
        lab,
        n_segments=size * size,
        compactness=compactness / spread,
        max_num_iter=ITERATIONS,
        convert2lab=False,
        enforce_connectivity=connected,
        start_label=0,
    )


def regions_of(lab: np.ndarray, labels: np.ndarray) -> Superpixels:
    """Return the regions that labels >= 0 make, numbered anew without the empty ones."""
    flat = labels.ravel()
    sizes = np.bincount(flat)
    held = sizes > 0
    numbers = np.cumsum(held) - 1
    sums = [np.bincount(flat, lab[:, :, axis].ravel()) for axis in range(lab.shape[2])]
    sizes = sizes[held].astype(np.float64)
    means = np.stack(sums, axis=1)[held] / sizes[:, None]
    return Superpixels(numbers[labels], means, sizes)
