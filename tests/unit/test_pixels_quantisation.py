import numpy as np
import pytest
from pixel_sources import EIGHT, eight_regions, flat, grey_ramp, noise

from gensight.pixels.lab import lab_of, rgb_of
from gensight.pixels.quantisation import grid_of, median_cut


def test_eight_colours_stay_as_they_are():
    picture = eight_regions(16)
    picture[0, 0] = picture[-1, -1]  # The areas differ, which moves the medians.
    grid = median_cut(picture)
    np.testing.assert_array_equal(grid.picture(), picture)
    assert sorted(grid.palette) == sorted(EIGHT)


def test_nine_colours_become_eight():
    picture = eight_regions(16)
    picture[5, 5] = (1, 2, 3)
    grid = median_cut(picture)
    assert len(grid.used_colours) == 8
    assert (grid.picture() != picture).any(axis=2).sum() >= 1


def test_a_ramp_keeps_one_edge_between_neighbours():
    # Dither would scatter the levels, and a row would change them far more often.
    rows = median_cut(grey_ramp()).cells
    assert (np.diff(rows.astype(int)) != 0).sum(axis=1).tolist() == [7] * 64
    assert (rows == rows[0]).all()


def test_cells_of_noise_take_the_nearest_of_eight_colours():
    picture = noise(32)
    grid = median_cut(picture)
    assert len(grid.used_colours) == 8
    apart = picture[:, :, None].astype(int) - np.array(grid.palette)
    squares = np.square(apart).sum(axis=-1)
    own = np.take_along_axis(squares, grid.cells[:, :, None].astype(int), axis=2)[:, :, 0]
    np.testing.assert_array_equal(own, squares.min(axis=2))


@pytest.mark.parametrize(
    ("colour", "second"), [((9, 9, 9), (0, 0, 0)), ((0, 0, 0), (255, 255, 255))]
)
def test_one_colour_gets_a_second_that_no_cell_has(colour, second):
    grid = median_cut(flat(colour, 16))
    assert grid.palette == (colour, second)
    assert grid.used_colours == (colour,)


def test_the_palette_starts_with_the_colour_of_most_cells():
    picture = flat((200, 0, 0), 4)
    picture[0, 0], picture[0, 1] = (0, 0, 9), (0, 0, 8)
    assert grid_of(picture).palette == ((200, 0, 0), (0, 0, 8), (0, 0, 9))


def test_nine_colours_are_no_grid():
    with pytest.raises(ValueError, match="at most 8 colours, not 9"):
        grid_of(np.arange(27, dtype=np.uint8).reshape(3, 3, 3))


def test_lab_is_that_of_scikit_image():
    color = pytest.importorskip("skimage.color")
    picture = noise(64)
    np.testing.assert_allclose(lab_of(picture), color.rgb2lab(picture), atol=1e-9)


def test_every_colour_comes_back_from_lab():
    steps = np.arange(0, 256, 5, dtype=np.uint8)
    colours = np.stack(np.meshgrid(steps, steps, steps), axis=-1)
    np.testing.assert_array_equal(rgb_of(lab_of(colours)), colours)


def test_colours_beyond_srgb_are_clipped():
    assert rgb_of(np.array([[150.0, 0, 0], [-20.0, 0, 0], [50.0, 200.0, 0]])).tolist()[:2] == [
        [255, 255, 255],
        [0, 0, 0],
    ]
    assert rgb_of(np.array([50.0, 200.0, 0.0]))[0] == 255
