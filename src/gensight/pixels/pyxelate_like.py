"""A baseline modelled on Pyxelate: cells merged by edge strength, a palette by Bayesian mixture.

PixelBench runs Pyxelate 2.1 with sobel = 3, depth = 1, eight colours and no dither. This is our own
method from the paper's description of it: the picture is brought to 3 x 3 samples a cell, each cell
is their mean weighted by the Sobel gradient, and a Bayesian mixture of Gaussians finds the palette.
Pyxelate also smooths by singular values, stretches colours and starts from a palette of its own,
so numbers of this method are not Pyxelate's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.ndimage import sobel

from gensight.pixels.gaussian_mixture import Prior, fitted
from gensight.pixels.palette_grid import MOST_COLOURS, PaletteGrid
from gensight.pixels.quantisation import grid_of
from gensight.pixels.resampling import eight_bits
from gensight.pixels.source_cells import cell_means
from gensight.pixels.weighted_k_means import weighted_k_means

# The paper's own values; the size of Pyxelate's blocks is what its option `sobel` says.
BLOCK = 3
DEFAULTS = {
    "assumed_seed": 0,
    "assumed_starts": 1,
    "assumed_concentration": 1 / MOST_COLOURS,
    "assumed_mean_precision": 1.0,
    "assumed_variance_floor": 1e-6,
    "assumed_iterations": 128,
    "assumed_tolerance": 1e-3,
}
# A block without any edge is the plain mean of its samples.
_FLAT = 1e-8


def pyxelate_like(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Return the grid whose cells take the mean of the mixture's likeliest component.

    Cells of at most eight colours keep them.
    """
    cells = eight_bits(255 * edge_weighted(cell_means(rgb / 255, BLOCK * size)))
    points = cells.reshape(-1, 3) / 255
    if len(np.unique(points, axis=0)) <= MOST_COLOURS:
        return grid_of(cells)
    means, labels = _mixture(points, settings)
    return grid_of(eight_bits(255 * means)[labels].reshape(cells.shape))


def edge_weighted(samples: np.ndarray) -> np.ndarray:
    """Return float (3 N, 3 N, C) of 0 to 1 as (N, N, C): blocks' means by gradient magnitude.

    Each channel is weighted by its own gradient (Sobel, borders mirrored).
    """
    channels = samples.transpose(2, 0, 1)
    weights = np.hypot(sobel(channels, axis=1), sobel(channels, axis=2)) + _FLAT
    blocks = len(samples) // BLOCK
    split = (len(channels), blocks, BLOCK, blocks, BLOCK)
    total = (channels * weights).reshape(split).sum(axis=(2, 4))
    return (total / weights.reshape(split).sum(axis=(2, 4))).transpose(1, 2, 0)


def _mixture(points: np.ndarray, settings: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the components' means (k, 3) and the likeliest component of each point (n,)."""
    started = weighted_k_means(
        points,
        np.ones(len(points)),
        MOST_COLOURS,
        seed=settings["assumed_seed"],
        starts=settings["assumed_starts"],
        iterations=settings["assumed_iterations"],
        tolerance=settings["assumed_tolerance"],
    )
    posterior, shares = fitted(
        points,
        np.eye(MOST_COLOURS)[started.labels],
        _prior(points, settings),
        floor=settings["assumed_variance_floor"],
        iterations=settings["assumed_iterations"],
        tolerance=settings["assumed_tolerance"],
    )
    return posterior.means, shares.argmax(axis=1)


def _prior(points: np.ndarray, settings: Mapping[str, Any]) -> Prior:
    """Return a weak prior around all points: their mean and covariance, weight d."""
    mean = points.mean(axis=0)
    apart = points - mean
    products = [[(one * other).mean() for other in apart.T] for one in apart.T]
    dimensions = points.shape[1]
    return Prior(
        concentration=settings["assumed_concentration"],
        mean_precision=settings["assumed_mean_precision"],
        mean=mean,
        freedom=float(dimensions),
        scatter=np.array(products) + settings["assumed_variance_floor"] * np.eye(dimensions),
    )
