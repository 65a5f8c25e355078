"""Boxes and named places of things, read from their visible masks.

A box is the tight one around the visible pixels. Named places are those of one thing: its middle,
and where its visible part reaches farthest left, right, up and down (the middle of the pixels that
reach farthest). Along an edge that leans by a few pixels nobody sees which end reaches farther:
such a side is not labelled, and takes no part in a score.
"""

from __future__ import annotations

import numpy as np

# The middle of all pixels that reach almost as far must be the same place: both are shares of the
# box's long side. A keypoint may miss by twice the second one before it counts as wrong.
ALMOST_SHARE = 0.03
SAME_PLACE_SHARE = 0.05


def inner_point(mask: np.ndarray) -> dict[str, float]:
    """Return the centroid of a mask or, where that pixel lies outside, the pixel nearest to it."""
    rows, columns = np.nonzero(mask)
    x, y = float(columns.mean()), float(rows.mean())
    if mask[round(y), round(x)]:
        return {"x": x, "y": y}
    nearest = int(np.argmin((columns - x) ** 2 + (rows - y) ** 2))
    return {"x": float(columns[nearest]), "y": float(rows[nearest])}


def tight_box(mask: np.ndarray) -> dict[str, float]:
    """Return the edges of the tight box of a mask that is not empty; the score says nothing."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return {
        "left": float(columns[0]),
        "top": float(rows[0]),
        "right": float(columns[-1] + 1),
        "bottom": float(rows[-1] + 1),
        "score": 1.0,
    }


def named_places(mask: np.ndarray) -> list[dict[str, object]]:
    """Return the middle of a mask and its sharp extremes: {"name", "x", "y"} in px."""
    box = tight_box(mask)
    long_side = max(box["right"] - box["left"], box["bottom"] - box["top"])
    rows, columns = np.nonzero(mask)
    # For each name: how far a pixel reaches that way, and where it lies along that side.
    ways = {
        "left": (-columns, rows),
        "right": (columns, rows),
        "top": (-rows, columns),
        "bottom": (rows, columns),
    }
    places: list[dict[str, object]] = [{"name": "middle", **inner_point(mask)}]
    for name, (reach, along) in ways.items():
        farthest = reach == reach.max()
        almost = reach >= reach.max() - max(1.0, ALMOST_SHARE * long_side)
        if abs(along[almost].mean() - along[farthest].mean()) <= SAME_PLACE_SHARE * long_side:
            x, y = float(columns[farthest].mean()), float(rows[farthest].mean())
            places.append({"name": name, "x": x, "y": y})
    return places
