"""What makes a counting picture hard before anybody has answered: red input, crowded things.

ProbeGen A.3 names both as what remains of its counting error; where they begin to hurt is for the
reader of the curves, so these are numbers and not flags.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gensight.extractors import dots
from gensight.images import LONG_SIDE, fit_long_side, resize_picture

# Neighbours are looked for in blocks, so that a thousand points need no million distances at once.
BLOCK = 256


def input_red_share(rgb: np.ndarray) -> float:
    """Return the share of pixels, at long side 1024, that the dot decoder takes for a red mark.

    `rgb` is uint8 (H, W, 3), the picture before anything is drawn on it.
    """
    size = fit_long_side(rgb.shape[1], rgb.shape[0], LONG_SIDE)
    red = dots.red_pixels(resize_picture(rgb, *size), dots.DEFAULTS)
    return float(np.count_nonzero(red) / red.size)


def nearest_neighbour_px(points: np.ndarray) -> np.ndarray:
    """Return each point's distance to its nearest other point, float64 (n,), of points (n, 2).

    Fewer than two points have no neighbours: an empty array.
    """
    n = len(points)
    if n < 2:
        return np.zeros(0)
    nearest = np.empty(n)
    for start in range(0, n, BLOCK):
        block = slice(start, min(start + BLOCK, n))
        between = np.linalg.norm(points[block, None, :] - points[None, :, :], axis=2)
        between[np.arange(between.shape[0]), np.arange(n)[block]] = np.inf
        nearest[block] = between.min(axis=1)
    return nearest


def not_separable(points: np.ndarray, distance_px: float) -> int:
    """Return how many points (n, 2) cannot show a dot of their own.

    Points nearer to each other than `distance_px` form clusters (through chains), and a cluster
    shows as one blob: all but one of its members are lost.
    """
    n = len(points)
    leader = list(range(n))

    def lead(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for one, other in _close_pairs(points, distance_px):
        leader[lead(one)] = lead(other)
    return n - len({lead(index) for index in range(n)})


def _close_pairs(points: np.ndarray, distance_px: float) -> Sequence[tuple[int, int]]:
    from scipy.spatial import KDTree

    if len(points) < 2:
        return []
    found = KDTree(points).query_pairs(distance_px, output_type="ndarray")
    # query_pairs counts a distance that is exactly the limit; two dots that far apart can be told.
    apart = np.linalg.norm(points[found[:, 0]] - points[found[:, 1]], axis=1)
    return [tuple(pair) for pair in found[apart < distance_px].tolist()]
