"""A Bayesian mixture of Gaussians by variational inference: full covariances, Dirichlet weights.

Source: Bishop: Pattern Recognition and Machine Learning, section 10.2 (equations in brackets).
Every sum is written out, so that the threads of the linear algebra change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, logsumexp


@dataclass(frozen=True)
class Prior:
    """What holds before any point: alpha, beta, m (d,), nu and the inverse of W, (d, d)."""

    concentration: float
    mean_precision: float
    mean: np.ndarray
    freedom: float
    scatter: np.ndarray


@dataclass(frozen=True)
class Posterior:
    """The same for each of k components: (k,), (k,), (k, d), (k,) and (k, d, d)."""

    concentrations: np.ndarray
    mean_precisions: np.ndarray
    means: np.ndarray
    freedoms: np.ndarray
    scatters: np.ndarray


def fitted(
    points: np.ndarray,
    shares: np.ndarray,
    prior: Prior,
    *,
    floor: float,
    iterations: int,
    tolerance: float,
) -> tuple[Posterior, np.ndarray]:
    """Return the posterior and the responsibilities (n, k) to which the updates lead from `shares`.

    `floor` is added to each covariance's diagonal, in squared units of the points. Ends when no
    responsibility moves by more than `tolerance`, or after `iterations` updates.
    """
    for _ in range(iterations):
        posterior = component_update(points, shares, prior, floor)
        moved = responsibilities(points, posterior)
        change = float(np.abs(moved - shares).max())
        shares = moved
        if change <= tolerance:
            break
    return component_update(points, shares, prior, floor), shares


def component_update(
    points: np.ndarray, shares: np.ndarray, prior: Prior, floor: float
) -> Posterior:
    """Return the components for these responsibilities (10.51 to 10.53, 10.58 to 10.63)."""
    counts = shares.sum(axis=0)
    safe = np.maximum(counts, np.finfo(np.float64).tiny)
    dimensions = points.shape[1]
    means = np.stack([(shares * axis[:, None]).sum(axis=0) for axis in points.T], axis=1)
    means /= safe[:, None]
    scatters = np.empty((len(counts), dimensions, dimensions))
    for component, mean in enumerate(means):
        apart = points - mean
        for row in range(dimensions):
            weighed = shares[:, component] * apart[:, row]
            scatters[component, row] = [(weighed * axis).sum() for axis in apart.T]
    precisions = prior.mean_precision + counts
    pull = means - prior.mean
    pulls = pull[:, :, None] * pull[:, None, :]
    weight = prior.mean_precision * counts / precisions
    return Posterior(
        concentrations=prior.concentration + counts,
        mean_precisions=precisions,
        means=(prior.mean_precision * prior.mean + counts[:, None] * means) / precisions[:, None],
        freedoms=prior.freedom + counts,
        scatters=prior.scatter
        + scatters
        + (floor * counts)[:, None, None] * np.eye(dimensions)
        + weight[:, None, None] * pulls,
    )


def responsibilities(points: np.ndarray, posterior: Posterior) -> np.ndarray:
    """Return how far each component answers for each point, rows summing to 1 (10.46, 10.64-66)."""
    dimensions = points.shape[1]
    concentrations = posterior.concentrations
    log_weights = digamma(concentrations) - digamma(concentrations.sum())
    logs = np.empty((len(points), len(concentrations)))
    for component, mean in enumerate(posterior.means):
        freedom = posterior.freedoms[component]
        root = np.linalg.cholesky(posterior.scatters[component])
        log_precision = (
            digamma((freedom - np.arange(dimensions)) / 2).sum()
            + dimensions * np.log(2)
            - 2 * np.log(np.diag(root)).sum()
        )
        squares = _squared_lengths(root, points - mean)
        distance = dimensions / posterior.mean_precisions[component] + freedom * squares
        logs[:, component] = log_weights[component] + (log_precision - distance) / 2
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _squared_lengths(root: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Return |L^-1 x|^2 of each row x, by forward substitution in the lower triangle L."""
    solved: list[np.ndarray] = []
    for row in range(len(root)):
        rest = apart[:, row].copy()
        for column, earlier in enumerate(solved):
            rest -= root[row, column] * earlier
        solved.append(rest / root[row, row])
    return np.sum([part * part for part in solved], axis=0)
