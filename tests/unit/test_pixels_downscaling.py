import math

import numpy as np
import pytest
from PIL import Image
from pixel_sources import eight_regions, flat, grey_ramp, halves, noise, scene

from gensight.pixels import dpid, resampling, ssim_optimal
from gensight.pixels.quantisation import median_cut
from gensight.pixels.source_cells import cell_means


def literal_dpid(picture, size, exponent):
    """Return DPID pixel by pixel; cells must hold whole pixels."""
    side = len(picture) // size
    cells = picture.reshape(size, side, size, side, 3).mean(axis=(1, 3))
    result = np.zeros((size, size, 3))
    for row, column in np.ndindex(size, size):
        guide, total = np.zeros(3), 0
        for down, across in np.ndindex(3, 3):
            y, x = row + down - 1, column + across - 1
            if 0 <= y < size and 0 <= x < size:
                weight = (2 - abs(down - 1)) * (2 - abs(across - 1))
                guide += weight * cells[y, x]
                total += weight
        guide /= total
        weighted, weights = np.zeros(3), 0.0
        for y, x in np.ndindex(side, side):
            pixel = picture[row * side + y, column * side + x].astype(float)
            weight = (math.dist(pixel, guide) / (255 * math.sqrt(3))) ** exponent
            weighted += weight * pixel
            weights += weight
        result[row, column] = weighted / weights if weights else guide
    return result


def literal_ssim_optimal(picture, size, window, epsilon):
    """Return the algorithm of the appendix, channel by channel and window by window."""
    side = len(picture) // size
    blocks = picture.reshape(size, side, size, side, 3)
    result = np.zeros((size, size, 3))
    for channel in range(3):
        low = blocks[..., channel].mean(axis=(1, 3))
        squares = (blocks[..., channel] ** 2).mean(axis=(1, 3))
        proposals = [[[] for _ in range(size)] for _ in range(size)]
        for top, left in np.ndindex(size - window + 1, size - window + 1):
            patch = low[top : top + window, left : left + window]
            mean, variance = patch.mean(), patch.var()
            high = squares[top : top + window, left : left + window].mean() - mean**2
            ratio = math.sqrt(high / variance) if variance > epsilon else 0
            for down, across in np.ndindex(window, window):
                cell = patch[down, across]
                proposals[top + down][left + across].append(mean + ratio * (cell - mean))
        for row, column in np.ndindex(size, size):
            result[row, column, channel] = np.mean(proposals[row][column])
    return np.clip(result, 0, 1)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("picture", [noise(24), scene(24), halves(side=24, split=10)])
def test_dpid_is_what_its_equations_say(picture, exponent):
    found = dpid.detail_preserved(picture, 6, exponent)
    np.testing.assert_allclose(found, literal_dpid(picture, 6, exponent), atol=1e-9)


def test_dpid_with_exponent_0_is_the_box_filter():
    picture = noise(30)
    np.testing.assert_allclose(dpid.detail_preserved(picture, 7, 0.0), cell_means(picture, 7))


def test_dpid_keeps_a_single_bright_pixel_better_with_a_larger_exponent():
    picture = flat((20, 20, 20), 32)
    picture[5, 5] = 255
    box, half, one = (dpid.detail_preserved(picture, 4, e)[0, 0, 0] for e in (0.0, 0.5, 1.0))
    assert box + 10 < half < one - 10


@pytest.mark.parametrize("window", [2, 3])
@pytest.mark.parametrize("picture", [noise(24), scene(24), halves(side=24, split=10)])
def test_ssim_optimal_is_what_the_appendix_says(picture, window):
    found = ssim_optimal.contrast_kept(picture / 255, 6, window, 1e-6)
    expected = literal_ssim_optimal(picture / 255, 6, window, 1e-6)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_ssim_optimal_keeps_means_and_raises_contrast():
    picture = scene(64) / 255
    found, low = ssim_optimal.contrast_kept(picture, 16, 2, 1e-6), cell_means(picture, 16)
    assert abs(found.mean() - low.mean()) < 0.01
    assert found.std() > low.std()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_ssim_optimal_of_grids_no_larger_than_the_window(size):
    found = ssim_optimal.contrast_kept(noise(10) / 255, size, 3, 1e-6)
    assert found.shape == (size, size, 3)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("method", [resampling.nearest, resampling.box])
def test_nearest_and_box_keep_eight_regions(method):
    grid = method(eight_regions(64), 16, {})
    np.testing.assert_array_equal(grid.picture(), eight_regions(16))


@pytest.mark.parametrize("method", [resampling.bicubic, resampling.lanczos])
def test_bicubic_and_lanczos_keep_halves_away_from_their_border(method):
    halved = method(halves((200, 40, 60), (20, 90, 180)), 16, {}).picture().astype(int)
    assert np.abs(halved[:, :5] - (200, 40, 60)).max() <= 2
    assert np.abs(halved[:, 11:] - (20, 90, 180)).max() <= 2


def test_nearest_takes_the_pixel_after_the_middle():
    picture = flat((0, 0, 0), 8)
    picture[2, 2] = (255, 0, 0)
    assert resampling.nearest(picture, 2, {}).picture()[0, 0].tolist() == [255, 0, 0]


def test_box_of_a_ramp_is_its_means():
    ramp = grey_ramp(64)[:, ::8][:8]
    expected = ramp.reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))
    np.testing.assert_array_equal(resampling.box(ramp, 4, {}).picture(), np.rint(expected))


def test_bicubic_and_lanczos_are_not_aliased():
    # Every second pixel is white: sampling without widened kernels gives black or white.
    stripes = flat((0, 0, 0), 64)
    stripes[:, ::2] = 255
    for method in (resampling.bicubic, resampling.lanczos):
        assert np.abs(method(stripes, 8, {}).picture()[:, 1:-1].astype(int) - 127.5).max() < 3


def test_settings_reach_the_methods():
    picture = scene(64)
    grids = {
        e: dpid.dpid(picture, 16, {"assumed_lambda": e}).picture().tobytes() for e in (0.0, 1.0)
    }
    assert grids[0.0] == resampling.box(picture, 16, {}).picture().tobytes()
    assert grids[1.0] != grids[0.0]
    pillow = np.asarray(Image.fromarray(picture).resize((16, 16), Image.Resampling.LANCZOS))
    assert resampling.lanczos(picture, 16, {}) == median_cut(pillow)
