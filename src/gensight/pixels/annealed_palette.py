"""A palette that grows while it cools: mass-constrained deterministic annealing, as PIA has it.

Source: Gerstner et al.: Pixelated Image Abstraction, 2012, sections 4.1, 4.3 and 4.4, after Rose:
Deterministic Annealing for Clustering, 1998. While it may grow, each colour is a pair of nearly
equal ones; where the cooling pulls a pair apart, both become colours of their own.
"""

from __future__ import annotations

import numpy as np


class AnnealedPalette:
    """Up to `most` colours of CIELAB, one at first, with a temperature in units of CIELAB.

    `colours` is float64 (K, 3), or (2 K, 3) in pairs while the palette may grow; `shares` is how
    much of the points each has.
    """

    def __init__(self, points: np.ndarray, most: int, *, perturbation: float, apart: float) -> None:
        """Start hot, at 1.1 times twice the points' variance along their main axis.

        A pair starts `perturbation` apart, along the main axis of its points; farther apart than
        `apart` when the palette has settled, it splits. The first below the second, or else pairs
        split that nothing pulled apart.
        """
        every = np.ones(len(points))
        self.temperature = 1.1 * 2 * _main_axis(points, every)[0]
        self._most, self._perturbation, self._apart = most, perturbation, apart
        self.colours = points.mean(axis=0)[None]
        self.shares = np.ones(1)
        self._paired = False
        if most > 1:
            self._pair_up(points, every[:, None])

    def update(self, points: np.ndarray) -> float:
        """Move the colours to the points (n, 3), and return how far, summed over the colours."""
        held = self._held(points)
        self.shares = held.mean(axis=0)
        sums = np.stack([(held * axis[:, None]).sum(axis=0) for axis in points.T], axis=1)
        counts = held.sum(axis=0)[:, None]
        moved = np.where(counts > 0, sums / np.where(counts > 0, counts, 1), self.colours)
        change = float(np.sqrt(np.square(moved - self.colours).sum(axis=1)).sum())
        self.colours = moved
        return change

    def cool(self, factor: float, points: np.ndarray) -> None:
        """Lower the temperature, and split the pairs that came apart, the widest first."""
        self.temperature *= factor
        if self._paired:
            self._grow(points)

    def finish(self) -> None:
        """Make one colour of each pair that is left."""
        if self._paired:
            self._join_pairs()

    def labels(self, points: np.ndarray) -> np.ndarray:
        """Return the likeliest colour's place for each point, of a pair the pair's place."""
        held = self._held(points)
        if self._paired:
            held = held[:, 0::2] + held[:, 1::2]
        return held.argmax(axis=1)

    def joined(self) -> np.ndarray:
        """Return the palette as it is seen, (K, 3): of a pair its mean by shares."""
        return self._means() if self._paired else self.colours

    def _held(self, points: np.ndarray) -> np.ndarray:
        """Return how far each colour answers for each point, (n, colours), rows summing to 1."""
        distances = np.stack([_length(points - colour) for colour in self.colours], axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares) - distances / max(self.temperature, 1e-9)
        held = np.exp(logs - logs.max(axis=1, keepdims=True))
        return held / held.sum(axis=1, keepdims=True)

    def _grow(self, points: np.ndarray) -> None:
        pairs = self.colours.reshape(-1, 2, 3)
        widths = _length(pairs[:, 1] - pairs[:, 0])
        room = self._most - len(pairs)
        order = np.argsort(-widths, kind="stable")[:room]
        split = np.zeros(len(pairs), bool)
        split[order[widths[order] > self._apart]] = True
        colours: list[np.ndarray] = []
        shares: list[float] = []
        for pair, mean, share, divided in zip(
            pairs, self._means(), self.shares.reshape(-1, 2), split, strict=True
        ):
            colours += list(pair) if divided else [mean]
            shares += share.tolist() if divided else [float(share.sum())]
        self.colours, self.shares = np.array(colours), np.array(shares)
        self._paired = False
        if len(colours) < self._most:
            self._pair_up(points, self._held(points))

    def _pair_up(self, points: np.ndarray, held: np.ndarray) -> None:
        axes = np.stack([_main_axis(points, weights)[1] for weights in held.T])
        shifts = self._perturbation / 2 * axes
        self.colours = np.stack([self.colours - shifts, self.colours + shifts], 1).reshape(-1, 3)
        self.shares = np.repeat(self.shares / 2, 2)
        self._paired = True

    def _join_pairs(self) -> None:
        self.colours = self._means()
        self.shares = self.shares.reshape(-1, 2).sum(axis=1)
        self._paired = False

    def _means(self) -> np.ndarray:
        shares = self.shares.reshape(-1, 2, 1)
        totals = shares.sum(axis=1)
        even = np.where(totals[:, None] > 0, shares / np.where(totals > 0, totals, 1)[:, None], 0.5)
        return (self.colours.reshape(-1, 2, 3) * even).sum(axis=1)


def _main_axis(points: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the largest variance of any direction and that direction, its main part positive."""
    shares = (weights / max(weights.sum(), np.finfo(np.float64).tiny))[:, None]
    apart = points - (points * shares).sum(axis=0)
    products = [[(one * other).sum() for other in apart.T] for one in (apart * shares).T]
    variances, axes = np.linalg.eigh(np.array(products))
    axis = axes[:, -1]
    return float(variances[-1]), axis * np.sign(axis[np.abs(axis).argmax()])


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(vectors).sum(axis=-1))
