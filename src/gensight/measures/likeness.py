"""How like its source picture a palette grid looks, cell by cell: PSNR and SSIM.

Protocol: ours, beside the embedding cosines of PixelBench; the paper reports neither. The grid is
enlarged by nearest neighbour to the source's own size, each pixel taking the cell that its centre
lies in, so every size of grid is judged on the same pixels. The source lies over white.

- PSNR: 10 log10(255^2 / mean squared error over all pixels and channels), at most
  `assumed_most_psnr_db`, which equal pictures get: an infinite one cannot be averaged. 8-bit
  pictures cannot be below 0 dB.
- SSIM: of the Rec. 601 luma, mean over the pixels that the window fits around (Wang et al. 2004,
  Gaussian window of 11 pixels; `gensight.failures.pictures.ssim_map`).

A failed answer has 0 of both, black against white. A sample without a picture has no truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight import images
from gensight.failures.pictures import mean_within, ssim_map
from gensight.measures import PartsByFit, complete
from gensight.measures._grids import grid_of
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("zero",)
DEFAULTS: dict[str, Any] = {"failure": "zero", "assumed_most_psnr_db": 100.0}
WHITE = (255, 255, 255)


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return psnr_db and ssim of a grid and the sample's picture; None without a picture."""
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    if sample.image is None:
        return None
    source = images.decode_rgb(sample.image["bytes"], matte=WHITE)
    shown = placed(grid_of(prediction, sample), *source.shape[:2])
    luma = (images.to_grey(picture) for picture in (source, shown))
    return {
        None: {
            "psnr_db": psnr_db(source, shown, checked["assumed_most_psnr_db"]),
            "ssim": mean_within(ssim_map(*luma)),
        }
    }


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Score a failed answer as unlike as can be; None without a picture."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return None if sample.image is None else {None: {"psnr_db": 0.0, "ssim": 0.0}}


def placed(grid: PaletteGrid, height: int, width: int) -> np.ndarray:
    """Return a grid at a size in pixels by nearest neighbour, uint8 (height, width, 3) RGB."""
    rows, columns = (
        (2 * np.arange(side) + 1) * grid.size // (2 * side) for side in (height, width)
    )
    return grid.picture()[rows[:, None], columns[None, :]]


def psnr_db(first: np.ndarray, second: np.ndarray, most_db: float) -> float:
    """Return the peak signal-to-noise ratio of two uint8 pictures in dB, at most `most_db`.

    >>> psnr_db(np.zeros((2, 2, 3), np.uint8), np.full((2, 2, 3), 255, np.uint8), 100.0)
    0.0
    """
    error = first.astype(np.int64) - second.astype(np.int64)
    squares = int((error * error).sum())
    if squares == 0:
        return most_db
    return min(most_db, 10 * math.log10(255**2 * error.size / squares))
