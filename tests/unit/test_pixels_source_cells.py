from fractions import Fraction

import numpy as np
import pytest
from pixel_sources import noise

from gensight.pixels.source_cells import cell_centres, cell_means, cell_rows, check_source


def overlap(pixel, cell, length, size):
    """Return how much of a pixel lies in a cell, exactly."""
    start, end = Fraction(cell * length, size), Fraction((cell + 1) * length, size)
    return max(Fraction(0), min(end, Fraction(pixel + 1)) - max(start, Fraction(pixel)))


def literal_means(array, size):
    height, width, channels = array.shape
    result = np.zeros((size, size, channels))
    for row, column in np.ndindex(size, size):
        area = Fraction(0)
        for y, x in np.ndindex(height, width):
            share = overlap(y, row, height, size) * overlap(x, column, width, size)
            if share:
                area += share
                result[row, column] += float(share) * array[y, x]
        result[row, column] /= float(area)
    return result


@pytest.mark.parametrize(
    ("height", "width", "size"), [(12, 12, 4), (13, 11, 5), (3, 5, 8), (1, 1, 3), (9, 20, 1)]
)
def test_means_of_cells_equal_the_sums_of_areas(height, width, size):
    array = np.random.default_rng(0).random((height, width, 2))
    np.testing.assert_allclose(cell_means(array, size), literal_means(array, size), atol=1e-12)


@pytest.mark.parametrize(("height", "width", "size"), [(12, 12, 4), (13, 11, 5), (3, 5, 8)])
def test_pixels_of_cells_add_up_to_their_means(height, width, size):
    array = np.random.default_rng(1).random((height, width, 3))
    rows = [
        (pixels * areas[:, :, None]).sum(axis=1) / areas.sum(axis=1, keepdims=True)
        for pixels, areas in cell_rows(array, size)
    ]
    np.testing.assert_allclose(rows, cell_means(array, size), atol=1e-12)


def test_centres_of_even_cells_are_the_later_pixel():
    array = np.arange(64).reshape(8, 8)
    assert cell_centres(array, 2).tolist() == [[18, 22], [50, 54]]


@pytest.mark.parametrize(
    ("picture", "size", "message"),
    [
        (noise(8), 0, "1 or more cells"),
        (noise(8)[:, :, 0], 2, "uint8"),
        (noise(8).astype(float), 2, "float64"),
        (np.zeros((0, 4, 3), np.uint8), 2, "uint8"),
    ],
)
def test_what_is_no_source_is_refused(picture, size, message):
    with pytest.raises(ValueError, match=message):
        check_source(picture, size)
