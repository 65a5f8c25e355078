"""The photographs that scikit-image ships, and the metric depth of one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gensight.datasets import photographs
from gensight.errors import MissingDataError, SpecError
from gensight.images import decode_array, decode_mask


@pytest.mark.parametrize(
    ("disparity", "depth", "is_valid"),
    [
        (0.0, 994.978 * 0.193001 / 31.086, True),
        (31.086, 994.978 * 0.193001 / 62.172, True),
        (math.inf, 0.0, False),
        (math.nan, 0.0, False),
    ],
)
def test_depth_from_disparity(disparity, depth, is_valid):
    found, valid = photographs.depth_from_disparity(np.array([[disparity]]))
    assert found.dtype == np.float32
    assert found[0, 0] == pytest.approx(depth, rel=1e-6)
    assert valid[0, 0] == is_valid


def test_motorcycle_agrees_with_scikit_image():
    """The sample against the picture and disparity that scikit-image itself returns."""
    from skimage.data import stereo_motorcycle

    left, _, disparity = stereo_motorcycle()
    (sample,) = photographs.iter_samples(photographs.DEFAULTS, [0])
    np.testing.assert_array_equal(photographs.load_photograph("motorcycle"), left)
    depth, valid = decode_array(sample.target_depth_m), decode_mask(sample.valid_mask)
    np.testing.assert_array_equal(valid, np.isfinite(disparity))
    expected = 994.978 * 0.193001 / (disparity[valid] + 31.086)
    np.testing.assert_allclose(depth[valid], expected, rtol=1e-6)
    assert 2 < depth[valid].min() < depth[valid].max() < 6
    assert (sample.width, sample.height) == (741, 500)
    assert (sample.population_n, sample.rank) == (1, 0)
    assert sample.min_depth_m < 2
    assert sample.max_depth_m > 6


@pytest.mark.parametrize("name", sorted(photographs.PHOTOGRAPHS))
def test_photographs_are_colour_pictures(name):
    picture = photographs.load_photograph(name)
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert picture.std() > 10


@pytest.mark.parametrize(
    ("parameters", "ranks", "word"),
    [
        ({"photograph": "motorcycle"}, [1], "rank 1"),
        ({"photograph": "motorcycle"}, [-1], "rank -1"),
        ({"photograph": "coffee"}, [0], "coffee"),
    ],
)
def test_what_does_not_exist_is_named(parameters, ranks, word):
    with pytest.raises(SpecError, match=word):
        list(photographs.iter_samples(parameters, ranks))


def test_unknown_photograph_lists_the_known_ones():
    with pytest.raises(SpecError, match="astronaut"):
        photographs.load_photograph("horse")


def test_missing_and_altered_files(tmp_path, monkeypatch):
    """A scikit-image without the files, or with others, ends with what to install."""
    monkeypatch.setattr(photographs, "_folder", lambda: tmp_path)
    with pytest.raises(MissingDataError, match="scikit-image"):
        list(photographs.iter_samples({}, [0]))
    (tmp_path / photographs.LEFT_VIEW).write_bytes(b"another picture")
    with pytest.raises(MissingDataError, match="reinstall"):
        list(photographs.iter_samples({}, [0]))
