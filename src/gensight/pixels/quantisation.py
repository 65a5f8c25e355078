"""From a picture of any number of colours to a palette grid of at most eight, without dither."""

from __future__ import annotations

import numpy as np
from PIL import Image

from gensight.pixels.palette_grid import MOST_COLOURS, PaletteGrid

_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)


def median_cut(rgb: np.ndarray) -> PaletteGrid:
    """Return the grid of uint8 (N, N, 3) by median cut to eight colours, without dither.

    The cut is Pillow's (12 to 13): each box becomes its mean, and each cell takes the nearest of
    these. A picture of at most eight colours keeps them, which Pillow does not promise. Source:
    PixelBench, "Algorithmic Image-to-Pixel Baselines in Full"; the implementation that the paper
    used is lost.
    """
    if len(np.unique(rgb.reshape(-1, 3), axis=0)) <= MOST_COLOURS:
        return grid_of(rgb)
    cut = Image.fromarray(rgb).quantize(
        MOST_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    )
    return grid_of(np.asarray(cut.convert("RGB")))


def grid_of(rgb: np.ndarray) -> PaletteGrid:
    """Return the grid of uint8 (N, N, 3) that has two to eight colours, none of them lost.

    The palette starts with the colour of most cells; ties go to the darker red, green, blue. A
    picture of one colour gets black as second, or white where it is black, which no cell has.

    Raises:
        ValueError: there are more than eight colours, or the picture is not square.
    """
    colours, places, cells = np.unique(
        rgb.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    order = np.lexsort((np.arange(len(colours)), -cells))
    ranks = np.empty(len(colours), np.intp)
    ranks[order] = np.arange(len(colours))
    palette = [tuple(colour) for colour in colours[order].tolist()]
    if len(palette) == 1:
        palette.append(_WHITE if palette[0] == _BLACK else _BLACK)
    if len(palette) > MOST_COLOURS:
        raise ValueError(f"a grid has at most {MOST_COLOURS} colours, not {len(palette)}")
    return PaletteGrid(tuple(palette), ranks[places].reshape(rgb.shape[:2]).astype(np.uint8))
