import math

import numpy as np
import pytest
from pixel_sources import EIGHT, eight_regions, flat, halves, noise, scene

from gensight.pixels import pia_reduced, pia_reference, superpixels
from gensight.pixels.annealed_palette import AnnealedPalette
from gensight.pixels.cell_superpixels import CellSuperpixels, smoothed_colours
from gensight.pixels.lab import lab_of, rgb_of
from gensight.pixels.superpixels import regions_of

REDUCED, REFERENCE = pia_reduced.DEFAULTS, pia_reference.DEFAULTS
RED, BLUE = (220, 30, 40), (30, 60, 200)


def palette_of(points, most=8):
    return AnnealedPalette(points, most, perturbation=0.2, apart=0.25)


def annealed(points, most=8):
    palette = palette_of(points, most)
    while palette.temperature > 1:
        for _ in range(20):
            if palette.update(points) < 0.01:
                break
        palette.cool(0.7, points)
    palette.finish()
    palette.update(points)
    return palette


@pytest.mark.parametrize("split", [32, 30, 35])
@pytest.mark.parametrize("size", [16, 32])
def test_reduced_is_exact_on_two_colours_wherever_they_meet(split, size):
    source = halves(RED, BLUE, split=split)
    grid = pia_reduced.pia_reduced(source, size, REDUCED)
    centres = (2 * np.arange(size) + 1) * 64 // (2 * size)
    np.testing.assert_array_equal(grid.picture(), source[np.ix_(centres, centres)])
    assert set(grid.palette) == {RED, BLUE}


@pytest.mark.parametrize("size", [8, 16, 32])
@pytest.mark.parametrize("side", [64, 256])
def test_reduced_is_exact_on_eight_regions(size, side):
    grid = pia_reduced.pia_reduced(eight_regions(side), size, REDUCED)
    np.testing.assert_array_equal(grid.picture(), eight_regions(size))
    assert sorted(grid.palette) == sorted(EIGHT)


def test_reference_is_exact_on_two_colours():
    settings = REFERENCE | {"saturation": 1.0}
    grid = pia_reference.pia_reference(halves(RED, BLUE, split=30), 16, settings)
    assert set(grid.palette) == {RED, BLUE}
    assert grid.rows() == [grid.rows()[0]] * 16
    assert len(set(grid.rows()[0][:7])) == len(set(grid.rows()[0][8:])) == 1


@pytest.mark.parametrize("share", [0.25, 0.375, 0.5])
@pytest.mark.parametrize("size", [16, 32])
def test_reference_is_exact_where_two_colours_meet_between_cells(size, share):
    side, settings = 256, REFERENCE | {"saturation": 1.0}
    grid = pia_reference.pia_reference(halves(RED, BLUE, side, int(side * share)), size, settings)
    expected = halves(RED, BLUE, size, int(size * share))
    np.testing.assert_array_equal(grid.picture(), expected)


@pytest.mark.parametrize("size", [8, 16])
def test_reference_is_exact_on_eight_regions(size):
    settings = REFERENCE | {"saturation": 1.0}
    grid = pia_reference.pia_reference(eight_regions(), size, settings)
    assert np.abs(grid.picture().astype(int) - eight_regions(size)).max() <= 1


def test_reference_saturates_its_palette():
    grid = pia_reference.pia_reference(flat((120, 90, 80)), 8, REFERENCE)
    expected = rgb_of(lab_of(np.array([120, 90, 80], np.uint8)) * (1, 1.1, 1.1))
    assert grid.used_colours == (tuple(expected.tolist()),)


def test_regions_are_numbered_without_gaps_and_have_their_means():
    lab = lab_of(noise(12))
    labels = np.random.default_rng(0).choice([0, 2, 5, 9], (12, 12))
    found = regions_of(lab, labels)
    assert sorted(np.unique(found.labels)) == [0, 1, 2, 3]
    for number, label in enumerate([0, 2, 5, 9]):
        assert (found.labels[labels == label] == number).all()
        assert found.sizes[number] == (labels == label).sum()
        np.testing.assert_allclose(found.means[number], lab[labels == label].mean(axis=0))


@pytest.mark.parametrize("size", [8, 16, 32])
def test_noise_does_not_become_one_region(size):
    joined = superpixels.superpixels(noise(), size, 10.0, least_connected=0.0)
    kept = superpixels.superpixels(noise(), size, 10.0, least_connected=0.5)
    assert len(kept.sizes) >= 0.5 * size * size
    assert len(kept.sizes) >= len(joined.sizes)
    assert kept.sizes.sum() == 64 * 64


def test_superpixels_do_not_depend_on_a_pictures_range():
    # scikit-image stretches its input, so that one bright pixel would change all regions.
    source = scene()
    marked = source.copy()
    marked[0, 0] = (255, 0, 255)
    plain, other = (
        superpixels.superpixels(s, 16, 10.0, least_connected=0.5) for s in (source, marked)
    )
    below = [regions.labels[32:, 32:] for regions in (plain, other)]
    borders = [labels[:, 1:] != labels[:, :-1] for labels in below]
    assert (borders[0] != borders[1]).mean() < 0.001


def test_cell_superpixels_follow_the_cost_pixel_by_pixel():
    lab = lab_of(scene(20))
    size, compactness = 5, 45.0
    cells = CellSuperpixels(lab, size, compactness)
    colours = np.random.default_rng(0).normal(50, 20, (25, 3))
    means = cells.means.copy()
    cells.refine(colours)
    homes = [((r + 0.5) * 4 - 0.5, (c + 0.5) * 4 - 0.5) for r in range(5) for c in range(5)]
    members = {number: [] for number in range(25)}
    for y, x in np.ndindex(20, 20):
        costs = {}
        for number, home in enumerate(homes):
            near = abs(number // 5 - y // 4) <= 1 and abs(number % 5 - x // 4) <= 1
            if near:
                away = math.dist((y, x), home) * math.sqrt(25 / 400)
                costs[number] = math.dist(lab[y, x], colours[number]) + compactness * away
        members[min(costs, key=costs.get)].append((y, x))
    for number, pixels in members.items():
        expected = means[number]
        if pixels:
            expected = np.mean([lab[pixel] for pixel in pixels], axis=0)
        np.testing.assert_allclose(cells.means[number], expected)


def test_the_bilateral_filter_is_its_sum():
    means = np.random.default_rng(1).normal(50, 2, (16, 3))
    found = smoothed_colours(means, 4, 1.5, 0.8)
    for row, column in np.ndindex(4, 4):
        own, total, weights = means[row * 4 + column], np.zeros(3), 0.0
        for y in range(max(0, row - 1), min(4, row + 2)):
            for x in range(max(0, column - 1), min(4, column + 2)):
                other = means[y * 4 + x]
                weight = math.exp(-(math.dist(own, other) ** 2) / (2 * 1.5**2))
                weight *= math.exp(-((y - row) ** 2 + (x - column) ** 2) / (2 * 0.8**2))
                total += weight * other
                weights += weight
        np.testing.assert_allclose(found[row * 4 + column], total / weights)


def test_the_palette_starts_above_its_critical_temperature():
    points = np.random.default_rng(2).normal(0, (20, 5, 1), (500, 3))
    palette = palette_of(points)
    largest = np.linalg.eigvalsh(np.cov(points.T, bias=True))[-1]
    assert palette.temperature == pytest.approx(2.2 * largest)
    for _ in range(30):
        palette.update(points)
    # So hot that the pair is one colour, the mean.
    np.testing.assert_allclose(palette.colours[0], palette.colours[1], atol=0.05)
    np.testing.assert_allclose(palette.joined(), [points.mean(axis=0)], atol=0.05)


def test_one_update_of_the_palette_is_its_equations():
    points = np.random.default_rng(3).normal(50, 15, (40, 3))
    palette = palette_of(points)
    palette.temperature = 7.0
    palette.shares = np.array([0.3, 0.7])
    colours, shares = palette.colours.copy(), palette.shares.copy()
    change = palette.update(points)
    held = []
    for point in points:
        parts = [
            s * math.exp(-math.dist(point, c) / 7) for s, c in zip(shares, colours, strict=True)
        ]
        held.append([part / sum(parts) for part in parts])
    expected = []
    for k in range(2):
        weight = sum(row[k] for row in held)
        assert palette.shares[k] == pytest.approx(weight / 40)
        expected.append(sum(row[k] * p for row, p in zip(held, points, strict=True)) / weight)
    np.testing.assert_allclose(palette.colours, expected)
    assert change == pytest.approx(
        sum(math.dist(new, old) for new, old in zip(expected, colours, strict=True))
    )


@pytest.mark.parametrize("clouds", [1, 2, 3, 8])
def test_annealing_finds_far_clouds_of_unequal_size(clouds):
    rng = np.random.default_rng(4)
    centres = np.array([(x, y, z) for x in (10, 90) for y in (-60, 60) for z in (-60, 60)], float)
    centres = centres[:clouds]
    points = np.concatenate(
        [centre + rng.normal(0, 0.3, (20 * (k + 1), 3)) for k, centre in enumerate(centres)]
    )
    palette = annealed(points)
    labels = palette.labels(points)
    truth = np.repeat(np.arange(clouds), 20 * (np.arange(clouds) + 1))
    nearest = np.abs(palette.joined()[labels] - centres[truth]).max()
    assert nearest < 0.5


@pytest.mark.parametrize("most", [1, 2, 5, 8])
def test_the_palette_never_outgrows_its_limit(most):
    points = np.random.default_rng(5).uniform(-80, 80, (600, 3))
    palette = annealed(points, most)
    assert len(palette.joined()) == most
    assert palette.labels(points).max() < most
    assert palette.shares.sum() == pytest.approx(1)
