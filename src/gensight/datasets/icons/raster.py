"""Polygons to pixels in whole numbers alone: the same bytes on every machine.

Every pixel is asked at SAMPLES x SAMPLES points, and is the mean of their colours, rounded. The
polygons of a shape are united: a point is inside where they wind round it (non-zero rule). A point
on an edge counts as left of it, or as below it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gensight.datasets.icons.shapes import SIDE, Polygon

SAMPLES = 4


def enlarge(picture: np.ndarray) -> np.ndarray:
    """Return a picture (H, W, 3) as its sample points (H * SAMPLES, W * SAMPLES, 3)."""
    return np.repeat(np.repeat(picture, SAMPLES, axis=0), SAMPLES, axis=1)


def reduce(points: np.ndarray) -> np.ndarray:
    """Return the picture of sample points: uint8 means over SAMPLES x SAMPLES, halves up."""
    height, width = points.shape[0] // SAMPLES, points.shape[1] // SAMPLES
    rows = points.reshape(height, SAMPLES, width * SAMPLES, 3).sum(axis=1, dtype=np.uint16)
    sums = rows.reshape(height, width, SAMPLES, 3).sum(axis=2, dtype=np.uint16)
    return ((2 * sums + SAMPLES**2) // (2 * SAMPLES**2)).astype(np.uint8)


def fill(points: np.ndarray, polygons: Sequence[Polygon], colour: tuple[int, int, int]) -> None:
    """Colour the square `points` (n, n, 3) inside the polygons, in place; (0, 0)..SIDE is shown."""
    rows, columns, inside = inside_window(polygons, len(points))
    points[rows, columns][inside] = colour


def inside_window(polygons: Sequence[Polygon], number: int) -> tuple[slice, slice, np.ndarray]:
    """Return the window of rows and columns that the polygons may touch, and bool for its points.

    Of a square with `number` sample points a side, point c of a row lies at
    (2 c + 1) SIDE / (2 number): multiplied by 2 number, all is a whole number.
    """
    edges = np.array([edge for polygon in polygons for edge in _edges(polygon)], np.int64)
    x0, y0, x1, y1 = edges.T
    scale = 2 * number
    rows = _window(y0.min() * scale, y0.max() * scale, number)
    columns = _window(x0.min() * scale, x0.max() * scale, number)
    turns = np.zeros((rows.stop - rows.start, columns.stop - columns.start + 1), np.int32)
    first = np.maximum(_first(np.minimum(y0, y1) * scale), rows.start)
    last = np.minimum(_first(np.maximum(y0, y1) * scale), rows.stop)
    heights = np.maximum(last - first, 0)
    edge = np.repeat(np.arange(len(edges)), heights)
    row = np.arange(len(edge)) - np.repeat(np.cumsum(heights) - heights, heights) + first[edge]
    down = (2 * row + 1) * SIDE - scale * y0[edge]
    across = scale * x0[edge] + down * (x1 - x0)[edge] // (y1 - y0)[edge]
    column = np.clip((across + SIDE) // (2 * SIDE), columns.start, columns.stop)
    np.add.at(turns, (row - rows.start, column - columns.start), np.sign(y1 - y0)[edge])
    return rows, columns, np.cumsum(turns, axis=1)[:, :-1] != 0


def _edges(polygon: Polygon) -> list[tuple[int, int, int, int]]:
    """Return the edges of a polygon, all polygons turning the same way."""
    ends = polygon[1:] + polygon[:1]
    doubled_area = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(polygon, ends, strict=True))
    if doubled_area < 0:
        return [(*end, *start) for start, end in zip(polygon, ends, strict=True)]
    return [(*start, *end) for start, end in zip(polygon, ends, strict=True)]


def _window(low: int, high: int, number: int) -> slice:
    start = min(max(int(_first(low)), 0), number)
    return slice(start, max(start, min(int(_first(high)) + 1, number)))


def _first(place: np.ndarray) -> np.ndarray:
    """Return the first sample point at or after places (times 2 number) of one axis."""
    return -((SIDE - place) // (2 * SIDE))
