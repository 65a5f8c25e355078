import math

import numpy as np
import pytest

from gensight.pixels.weighted_k_means import refined, spread_starts, weighted_k_means


def literal_run(points, weights, centres, iterations, least_move):
    """Return centres and labels of weighted Lloyd's steps, point by point."""
    centres = [tuple(centre) for centre in centres]

    def assigned():
        return [min(range(len(centres)), key=lambda k: math.dist(p, centres[k])) for p in points]

    for _ in range(iterations):
        labels = assigned()
        moved = []
        for k, centre in enumerate(centres):
            own = [place for place, label in enumerate(labels) if label == k]
            total = math.fsum(weights[place] for place in own)
            mean = tuple(
                math.fsum(weights[place] * points[place][axis] for place in own) / total
                for axis in range(len(centre))
            )
            moved.append(mean)
        move = sum(math.dist(*pair) ** 2 for pair in zip(moved, centres, strict=True))
        centres = moved
        if move <= least_move:
            break
    return centres, assigned()


def cloud(seed, count=200):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 30, (count, 3)), rng.integers(1, 90, count).astype(float)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("iterations", "least_move"), [(1, 0.0), (4, 0.0), (100, 0.5)])
def test_a_run_is_that_of_plain_steps(seed, iterations, least_move):
    points, weights = cloud(seed)
    starts = points[:8]
    found = refined(points, weights, starts, iterations=iterations, least_move=least_move)
    centres, labels = literal_run(points, weights, starts, iterations, least_move)
    np.testing.assert_allclose(found.centres, centres, atol=1e-9)
    assert found.labels.tolist() == labels
    loss = sum(
        w * math.dist(p, centres[k]) ** 2 for p, w, k in zip(points, weights, labels, strict=True)
    )
    assert found.loss == pytest.approx(loss)


def test_weights_count_as_repeated_points():
    points, weights = cloud(7, count=60)
    weights = np.ceil(weights / 20)
    repeated = np.repeat(points, weights.astype(int), axis=0)
    starts = points[:4]
    options = {"iterations": 50, "least_move": 0.0}
    once = refined(points, weights, starts, **options)
    many = refined(repeated, np.ones(len(repeated)), starts, **options)
    np.testing.assert_allclose(once.centres, many.centres, atol=1e-9)


def test_a_centre_without_points_moves_to_the_worst_point():
    points = np.array([[0.0], [1.0], [10.0], [11.0], [100.0]])
    starts = np.array([[0.5], [10.5], [-500.0]])
    found = refined(points, np.ones(5), starts, iterations=20, least_move=0.0)
    assert sorted(found.centres.ravel().tolist()) == [0.5, 10.5, 100.0]


def test_points_of_few_places_are_their_own_centres():
    points = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    found = weighted_k_means(points, np.ones(3), 8, seed=0, starts=2, iterations=5, tolerance=1e-4)
    np.testing.assert_array_equal(found.centres[found.labels], points)
    assert (len(found.centres), found.loss) == (2, 0.0)


def test_more_starts_are_never_worse_and_a_seed_repeats():
    points, weights = cloud(3)
    options = {"iterations": 100, "tolerance": 1e-4}
    losses = [
        weighted_k_means(points, weights, 8, seed=0, starts=starts, **options).loss
        for starts in (1, 3, 10)
    ]
    assert losses[0] >= losses[1] >= losses[2]
    again = weighted_k_means(points, weights, 8, seed=0, starts=10, **options)
    assert again.loss == losses[2]
    assert weighted_k_means(points, weights, 8, seed=5, starts=1, **options).loss != losses[0]


def test_starts_follow_weight_times_squared_distance():
    points = np.array([[0.0], [1.0], [3.0]])
    weights = np.array([2.0, 1.0, 1.0])
    rng = np.random.default_rng(0)
    draws = [tuple(spread_starts(points, weights, 2, rng).ravel()) for _ in range(4000)]
    # First place 0 with chance 1/2; then 1 and 3 by 1 x 1 to 1 x 9.
    share = sum(draw == (0.0, 3.0) for draw in draws) / len(draws)
    assert share == pytest.approx(0.5 * 0.9, abs=0.03)
    assert all(first != second for first, second in draws)
