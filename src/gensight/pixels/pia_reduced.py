"""PIA reduced: SLIC superpixels, eight weighted means of their colours, the cell centre's region.

Source: PixelBench, appendix on baselines, "PIA (reduced)". Compactness and everything of k-means
but the eight is lost there; the keys of DEFAULTS say what is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.pixels.lab import rgb_of
from gensight.pixels.palette_grid import MOST_COLOURS, PaletteGrid
from gensight.pixels.quantisation import grid_of
from gensight.pixels.source_cells import cell_centres
from gensight.pixels.superpixels import superpixels
from gensight.pixels.weighted_k_means import weighted_k_means

DEFAULTS = {
    "assumed_compactness": 10.0,
    "assumed_least_connected": 0.5,
    "assumed_seed": 0,
    "assumed_starts": 10,
    "assumed_iterations": 100,
    "assumed_tolerance": 1e-4,
}


def pia_reduced(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Return the grid whose cells take the palette colour of the superpixel at their centre."""
    regions = superpixels(
        rgb,
        size,
        settings["assumed_compactness"],
        least_connected=settings["assumed_least_connected"],
    )
    found = weighted_k_means(
        regions.means,
        regions.sizes,
        MOST_COLOURS,
        seed=settings["assumed_seed"],
        starts=settings["assumed_starts"],
        iterations=settings["assumed_iterations"],
        tolerance=settings["assumed_tolerance"],
    )
    colours = rgb_of(found.centres)
    return grid_of(colours[found.labels][cell_centres(regions.labels, size)])
