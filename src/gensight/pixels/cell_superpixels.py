"""Superpixels that stay on their grid, one a cell: the modified SLIC of PIA.

Source: Gerstner, DeCarlo, Alexa, Finkelstein, Gingold, Nealen: Pixelated Image Abstraction, 2012,
section 4.2. Colours are CIELAB, places are in pixels, row before column.
"""

from __future__ import annotations

import numpy as np

# The paper's share by which a superpixel moves to where its four neighbours are.
LAPLACIAN = 0.4


class CellSuperpixels:
    """N x N superpixels over a picture float64 (H, W, 3), with `means`, float64 (N^2, 3).

    A superpixel competes for the pixels of its own cell and of the eight around it, so that the
    grid keeps its order.
    """

    def __init__(self, lab: np.ndarray, size: int, compactness: float) -> None:
        """Start from the cells themselves."""
        height, width = lab.shape[:2]
        self.size = size
        self.means = np.broadcast_to(lab.mean(axis=(0, 1)), (size * size, 3)).copy()
        self._channels = [np.ascontiguousarray(lab[:, :, axis]) for axis in range(3)]
        self._places = np.indices((height, width), sparse=True)
        # A distance of one cell costs as much as `compactness` in colour.
        self._scale = compactness * np.sqrt(size * size / (height * width))
        self._homes = _centres(height, width, size)
        self._moves = np.zeros_like(self._homes)
        self._rivals = _rivals(height, width, size)
        self._labels = self._rivals[0]
        self._take_means()

    def refine(self, colours: np.ndarray) -> None:
        """Give each pixel to a superpixel by its palette colour, (N^2, 3), and its place.

        One that gets no pixel keeps its mean and its place.
        """
        self._labels = self._nearest(colours)
        self._take_means()
        self._smooth_moves()

    def _nearest(self, colours: np.ndarray) -> np.ndarray:
        # One more that is infinitely far stands for all that lie outside the grid.
        places = np.vstack([self._homes + self._moves, np.full((1, 2), np.inf)])
        colours = np.vstack([colours, np.zeros((1, 3))])
        best, labels = self._cost(self._rivals[0], colours, places), self._rivals[0]
        for rival in self._rivals[1:]:
            cost = self._cost(rival, colours, places)
            nearer = cost < best
            best = np.where(nearer, cost, best)
            labels = np.where(nearer, rival, labels)
        return labels

    def _cost(self, cell: np.ndarray, colours: np.ndarray, places: np.ndarray) -> np.ndarray:
        lightness, green, blue = (
            channel - colours[:, axis].take(cell) for axis, channel in enumerate(self._channels)
        )
        row, column = (
            place - places[:, axis].take(cell) for axis, place in enumerate(self._places)
        )
        colour = np.sqrt(lightness * lightness + green * green + blue * blue)
        return colour + self._scale * np.sqrt(row * row + column * column)

    def _take_means(self) -> None:
        flat, count = self._labels.ravel(), self.size**2
        pixels = np.bincount(flat, minlength=count)
        held = pixels > 0
        for axis, channel in enumerate(self._channels):
            sums = np.bincount(flat, channel.ravel(), count)
            self.means[held, axis] = sums[held] / pixels[held]
        for axis, place in enumerate(self._places):
            sums = np.bincount(flat, np.broadcast_to(place, self._labels.shape).ravel(), count)
            self._moves[held, axis] = sums[held] / pixels[held] - self._homes[held, axis]

    def _smooth_moves(self) -> None:
        """Move each towards its neighbours' mean; taken of moves, so that borders stay put."""
        grid = self._moves.reshape(self.size, self.size, 2)
        total, neighbours = np.zeros_like(grid), np.zeros((self.size, self.size, 1))
        for to, of in ((np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:])):
            total[to] += grid[of]
            neighbours[to] += 1
            total[:, to] += grid[:, of]
            neighbours[:, to] += 1
        around = total / np.maximum(neighbours, 1)
        self._moves = ((1 - LAPLACIAN) * grid + LAPLACIAN * around).reshape(-1, 2)


def smoothed_colours(
    means: np.ndarray, size: int, colour_sigma: float, cell_sigma: float
) -> np.ndarray:
    """Return superpixels' means (N^2, 3) under a bilateral filter of 3 x 3 cells.

    A neighbour weighs by Gaussians of its distance in CIELAB and in cells.
    """
    grid = means.reshape(size, size, 3)
    framed = np.pad(grid, ((1, 1), (1, 1), (0, 0)), constant_values=np.inf)
    total, weights = np.zeros_like(grid), np.zeros((size, size))
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            other = framed[1 + down : 1 + down + size, 1 + across : 1 + across + size]
            squares = np.square(other - grid).sum(axis=2) / colour_sigma**2
            squares += (down**2 + across**2) / cell_sigma**2
            weight = np.exp(-squares / 2)
            weights += weight
            # Outside the grid the weight is 0, but 0 times infinity is none.
            total += weight[:, :, None] * np.where(np.isfinite(other), other, 0)
    return (total / weights[:, :, None]).reshape(-1, 3)


def _rivals(height: int, width: int, size: int) -> list[np.ndarray]:
    """Return the cell of each pixel, (H, W), then its eight neighbours; N^2 outside the grid."""
    rows, columns = (np.arange(side) * size // side for side in (height, width))
    around = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)]
    found = []
    # Its own cell first: it keeps a pixel that is as near to another.
    for down, across in sorted(around, key=lambda step: step != (0, 0)):
        row, column = rows[:, None] + down, columns[None, :] + across
        inside = (row >= 0) & (row < size) & (column >= 0) & (column < size)
        found.append(np.where(inside, row * size + column, size * size))
    return found


def _centres(height: int, width: int, size: int) -> np.ndarray:
    steps = (np.arange(size) + 0.5) / size
    rows, columns = np.meshgrid(steps * height - 0.5, steps * width - 0.5, indexing="ij")
    return np.stack([rows.ravel(), columns.ravel()], axis=1)
