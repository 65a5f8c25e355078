"""A grid with its cells in another order: what is left is how often each colour occurs.

PROTOCOLS 1.6: a model that names a grid as well with its cells dealt anew goes by its palette.
"""

from __future__ import annotations

import numpy as np

from gensight.digests import seed_of
from gensight.pixels.palette_grid import PaletteGrid


def with_shuffled_cells(grid: PaletteGrid, key: str) -> PaletteGrid:
    """Return a grid of the same palette and histogram, its cells permuted by a digest of the key.

    One grid's order depends on the key and its size alone. A flat grid stays as it is.
    """
    order = np.random.default_rng(seed_of("shuffled cells", key, grid.size)).permutation(
        grid.cells.size
    )
    return PaletteGrid(grid.palette, grid.cells.ravel()[order].reshape(grid.cells.shape))
