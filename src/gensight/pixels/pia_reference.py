"""PIA: superpixels and palette found together, by annealing.

Source: Gerstner et al.: Pixelated Image Abstraction, 2012, as PixelBench's appendix on baselines
names its parts: modified SLIC, mass-constrained deterministic annealing, bilateral smoothing of
superpixels, saturation 1.1. Written from the publication; what PixelBench does not state is assumed
as public ports of the publication have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.pixels.annealed_palette import AnnealedPalette
from gensight.pixels.cell_superpixels import CellSuperpixels, smoothed_colours
from gensight.pixels.lab import lab_of, rgb_of
from gensight.pixels.palette_grid import MOST_COLOURS, PaletteGrid
from gensight.pixels.quantisation import grid_of

DEFAULTS = {
    "saturation": 1.1,
    "assumed_compactness": 45.0,
    "assumed_cooling": 0.7,
    "assumed_final_temperature": 1.0,
    "assumed_palette_change": 1.0,
    "assumed_cluster_distance": 0.25,
    "assumed_perturbation": 0.2,
    "assumed_bilateral_colour_sigma": 1.0,
    "assumed_bilateral_cell_sigma": 1.0,
    "assumed_rounds_per_temperature": 20,
}


def pia_reference(rgb: np.ndarray, size: int, settings: Mapping[str, Any]) -> PaletteGrid:
    """Return the grid whose cells take the palette colour of the superpixel that started in them.

    Temperatures, distances and sigmas are in units of CIELAB (the last sigma in cells). At each
    temperature there are rounds until the palette moves by less than `assumed_palette_change` in
    all. a* and b* of the palette are multiplied by `saturation` in the end.
    """
    lab = lab_of(rgb)
    cells = CellSuperpixels(lab, size, settings["assumed_compactness"])
    palette = AnnealedPalette(
        lab.reshape(-1, 3),
        MOST_COLOURS,
        perturbation=settings["assumed_perturbation"],
        apart=settings["assumed_cluster_distance"],
    )
    labels, points = np.zeros(size * size, np.intp), _smoothed(cells, settings)
    while palette.temperature > settings["assumed_final_temperature"]:
        for _ in range(settings["assumed_rounds_per_temperature"]):
            cells.refine(palette.joined()[labels])
            points = _smoothed(cells, settings)
            change = palette.update(points)
            labels = palette.labels(points)
            if change < settings["assumed_palette_change"]:
                break
        palette.cool(settings["assumed_cooling"], points)
        labels = palette.labels(points)
    palette.finish()
    palette.update(points)
    saturated = palette.joined() * (1, settings["saturation"], settings["saturation"])
    return grid_of(rgb_of(saturated)[palette.labels(points)].reshape(size, size, 3))


def _smoothed(cells: CellSuperpixels, settings: Mapping[str, Any]) -> np.ndarray:
    return smoothed_colours(
        cells.means,
        cells.size,
        settings["assumed_bilateral_colour_sigma"],
        settings["assumed_bilateral_cell_sigma"],
    )
