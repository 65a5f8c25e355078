import math

import numpy as np
import pytest
from scipy.special import digamma

from gensight.pixels.gaussian_mixture import (
    Prior,
    component_update,
    fitted,
    responsibilities,
)

PRIOR = Prior(
    concentration=0.125,
    mean_precision=1.0,
    mean=np.array([0.4, 0.5, 0.6]),
    freedom=3.0,
    scatter=np.diag([0.05, 0.04, 0.03]),
)


def points_and_shares(seed=0, count=40, components=3):
    rng = np.random.default_rng(seed)
    shares = rng.random((count, components))
    return rng.random((count, 3)), shares / shares.sum(axis=1, keepdims=True)


def test_components_are_bishops_updates():
    points, shares = points_and_shares()
    found = component_update(points, shares, PRIOR, 0.0)
    for k in range(3):
        count = sum(shares[:, k])
        mean = sum(r * x for r, x in zip(shares[:, k], points, strict=True)) / count
        spread = sum(
            r * np.outer(x - mean, x - mean) for r, x in zip(shares[:, k], points, strict=True)
        )
        pull = np.outer(mean - PRIOR.mean, mean - PRIOR.mean)
        assert found.concentrations[k] == pytest.approx(0.125 + count)
        assert found.mean_precisions[k] == pytest.approx(1 + count)
        assert found.freedoms[k] == pytest.approx(3 + count)
        np.testing.assert_allclose(found.means[k], (PRIOR.mean + count * mean) / (1 + count))
        expected = PRIOR.scatter + spread + count / (1 + count) * pull
        np.testing.assert_allclose(found.scatters[k], expected)


def test_responsibilities_are_bishops_updates():
    points, shares = points_and_shares(1)
    posterior = component_update(points, shares, PRIOR, 1e-3)
    expected = np.zeros_like(shares)
    for n, x in enumerate(points):
        for k in range(3):
            freedom, scatter = posterior.freedoms[k], posterior.scatters[k]
            apart = x - posterior.means[k]
            log_precision = (
                sum(digamma((freedom + 1 - i) / 2) for i in (1, 2, 3))
                + 3 * math.log(2)
                - math.log(np.linalg.det(scatter))
            )
            distance = 3 / posterior.mean_precisions[k]
            distance += freedom * apart @ np.linalg.inv(scatter) @ apart
            log_weight = digamma(posterior.concentrations[k])
            log_weight -= digamma(posterior.concentrations.sum())
            expected[n, k] = math.exp(log_weight + log_precision / 2 - distance / 2)
        expected[n] /= expected[n].sum()
    np.testing.assert_allclose(responsibilities(points, posterior), expected, atol=1e-10)


def test_three_far_clouds_are_found():
    rng = np.random.default_rng(2)
    centres = np.array([[0.1, 0.1, 0.1], [0.9, 0.2, 0.1], [0.2, 0.8, 0.9]])
    truth = rng.integers(0, 3, 300)
    points = centres[truth] + rng.normal(0, 0.02, (300, 3))
    wrong = np.eye(3)[np.where(rng.random(300) < 0.2, (truth + 1) % 3, truth)]
    prior = Prior(0.3, 1.0, points.mean(axis=0), 3.0, 1e-3 * np.eye(3))
    posterior, shares = fitted(points, wrong, prior, floor=1e-6, iterations=100, tolerance=1e-6)
    assert (shares.argmax(axis=1) == truth).all()
    np.testing.assert_allclose(posterior.means, centres, atol=0.02)


def test_a_needless_component_is_emptied():
    points = np.random.default_rng(3).normal(0.5, 0.1, (400, 3))
    shares = np.eye(2)[(points[:, 0] > 0.5).astype(int)]
    prior = Prior(1e-3, 1.0, points.mean(axis=0), 3.0, np.cov(points.T))
    posterior, _ = fitted(points, shares, prior, floor=1e-6, iterations=3000, tolerance=1e-9)
    assert sorted(posterior.concentrations.round())[0] < 5


def test_no_update_leaves_the_shares():
    points, shares = points_and_shares(4)
    _, kept = fitted(points, shares, PRIOR, floor=0.0, iterations=0, tolerance=0.0)
    np.testing.assert_array_equal(kept, shares)
