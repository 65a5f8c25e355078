"""k-means of weighted points: k-means++ starts, Lloyd's steps, the best of several starts.

Nothing here goes through the threaded linear algebra, so a seed gives the same bytes everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import vq


@dataclass(frozen=True)
class Clustering:
    """Centres (k, d), the centre of each point (n,), and the weighted sum of squared distances."""

    centres: np.ndarray
    labels: np.ndarray
    loss: float


def weighted_k_means(
    points: np.ndarray,
    weights: np.ndarray,
    clusters: int,
    *,
    seed: int,
    starts: int,
    iterations: int,
    tolerance: float,
) -> Clustering:
    """Cluster float64 (n, d) points of weights (n,) > 0; the best of `starts` runs, the first wins.

    Points with at most `clusters` different places are their own centres, and there are then as
    many. A run ends when the centres' squared moves sum to at most `tolerance` times the points'
    mean variance per axis, or after `iterations` steps.
    """
    places, labels = np.unique(points, axis=0, return_inverse=True)
    if len(places) <= clusters:
        return Clustering(places, labels.ravel(), 0.0)
    mean = (points * weights[:, None]).sum(axis=0) / weights.sum()
    spread = ((points - mean) ** 2 * weights[:, None]).sum() / weights.sum() / points.shape[1]
    generator = np.random.default_rng(seed)
    runs = (
        refined(
            points,
            weights,
            spread_starts(points, weights, clusters, generator),
            iterations=iterations,
            least_move=tolerance * spread,
        )
        for _ in range(starts)
    )
    return min(runs, key=lambda run: run.loss)


def spread_starts(
    points: np.ndarray, weights: np.ndarray, clusters: int, generator: np.random.Generator
) -> np.ndarray:
    """Return k-means++ starts (k, d): each drawn by weight x squared distance from those drawn."""
    chances = weights
    nearest = np.full(len(points), np.inf)
    chosen = []
    for _ in range(clusters):
        steps = np.cumsum(chances)
        # Rounding may put the draw on the last step itself, beyond every point.
        place = np.searchsorted(steps, generator.random() * steps[-1], side="right")
        chosen.append(points[min(int(place), len(points) - 1)])
        nearest = np.minimum(nearest, ((points - chosen[-1]) ** 2).sum(axis=1))
        chances = weights * nearest
    return np.array(chosen)


def refined(
    points: np.ndarray,
    weights: np.ndarray,
    centres: np.ndarray,
    *,
    iterations: int,
    least_move: float,
) -> Clustering:
    """Return the clustering to which Lloyd's steps lead from these centres.

    A point belongs to the nearest centre, the first of equals. A centre without points moves to the
    point of the largest weighted squared distance, each such centre to another.
    """
    for _ in range(iterations):
        labels, distances = vq(points, centres, check_finite=False)
        moved = _means(points, weights, labels, centres, distances)
        move = float(((moved - centres) ** 2).sum())
        centres = moved
        if move <= least_move:
            break
    labels, distances = vq(points, centres, check_finite=False)
    return Clustering(centres, labels, float((weights * distances**2).sum()))


def _means(
    points: np.ndarray,
    weights: np.ndarray,
    labels: np.ndarray,
    centres: np.ndarray,
    distances: np.ndarray,
) -> np.ndarray:
    count = len(centres)
    totals = np.bincount(labels, weights, count)
    sums = [np.bincount(labels, weights * axis, count) for axis in points.T]
    moved = np.stack(sums, axis=1) / np.where(totals > 0, totals, 1)[:, None]
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        farthest = np.argsort(-weights * distances**2, kind="stable")[: len(empty)]
        moved[empty] = points[farthest]
    return moved
