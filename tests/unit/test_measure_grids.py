"""What is measured of a grid alone or with its picture: format and likeness, by hand."""

from __future__ import annotations

import dataclasses
import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pixel_sources import scene
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from gensight import images, metrics
from gensight.errors import RecordError, SpecError
from gensight.measures import grid_failures, grid_format, likeness
from gensight.pixels.methods import pixelated
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, Sample

BLACK, WHITE, RED = (0, 0, 0), (255, 255, 255), (214, 40, 40)


def prediction_of(grid):
    text = grid.text() if isinstance(grid, PaletteGrid) else grid
    return Prediction(
        sample_id="s",
        rank=0,
        cluster_id="c",
        variant="strict",
        status="ok",
        outcome="ok",
        text=text,
    )


def sample_of(picture=None):
    image = None if picture is None else {"bytes": images.encode_png(picture), "path": None}
    return Sample(sample_id="s", rank=0, cluster_id="c", image=image, width=8, height=8)


def grid_of(rows, *palette):
    return PaletteGrid(palette, np.array([[int(d) for d in row] for row in rows], np.uint8))


def measured(measure, grid, sample=None, **given):
    return measure.measure(prediction_of(grid), sample or sample_of(), given)[None]


@pytest.mark.parametrize(
    ("grid", "flat"),
    [
        (grid_of(["01", "11"], BLACK, WHITE), 0),
        (grid_of(["11", "11"], BLACK, WHITE), 1),
        # What it comes out in counts, not how the palette says it.
        (grid_of(["01", "10"], RED, RED), 1),
        (grid_of(["0"], BLACK, WHITE), 1),
    ],
)
def test_valid_and_flat(grid, flat):
    assert measured(grid_format, grid) == {"valid": 1, "flat": flat}


def test_format_shares_are_of_all_answers():
    rows = [
        measured(grid_format, grid_of(["01", "11"], BLACK, WHITE)),
        measured(grid_format, grid_of(["00", "00"], BLACK, WHITE)),
        grid_format.failed(sample_of(), {})[None],
        grid_format.failed(sample_of(), {})[None],
    ]
    parts = {name: [row[name] for row in rows] for name in rows[0]}
    assert metrics.load("valid_grid_share").aggregate(parts) == 50
    assert metrics.load("flat_grid_share").aggregate(parts) == 25


@pytest.mark.parametrize("measure", [grid_format, grid_failures, likeness])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "holds no text; name the extractor 'palette_grid'"),
        ("B", r"is no palette grid \(not_json.*name the extractor 'palette_grid'"),
        ('{"palette": ["#000000"], "pixels": ["0"]}', "palette_length"),
    ],
)
def test_predictions_that_hold_no_grid_are_named(measure, text, told):
    sample = sample_of(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(RecordError, match=f"sample s: .*{told}"):
        measure.measure(prediction_of(text), sample, {})


@pytest.mark.parametrize("measure", [grid_format, grid_failures, likeness])
def test_unknown_failure_policies_are_refused(measure):
    with pytest.raises(SpecError, match=r"settings\.failure: 'drop'"):
        measure.failed(sample_of(), {"failure": "drop"})


def test_a_grid_is_enlarged_exactly_where_its_size_divides_the_picture():
    grid = pixelated(scene(), 16, "box")
    assert np.array_equal(likeness.placed(grid, 64, 64), grid.enlarged(4))


@given(st.integers(1, 9), st.integers(1, 30), st.integers(1, 30))
@settings(deadline=None)
def test_a_pixel_takes_the_cell_that_its_centre_lies_in(size, height, width):
    cells = np.arange(size * size, dtype=np.uint8).reshape(size, size) % 8
    grid = PaletteGrid(tuple((n, 2 * n, 3 * n) for n in range(8)), cells)
    found = likeness.placed(grid, height, width)
    assert found.shape == (height, width, 3)
    for row in range(height):
        for column in range(width):
            cell = cells[
                math.floor((row + 0.5) / height * size + 1e-12),
                math.floor((column + 0.5) / width * size + 1e-12),
            ]
            assert found[row, column].tolist() == [cell, 2 * cell, 3 * cell]


def test_likeness_by_hand():
    grid = grid_of(["01", "10"], BLACK, WHITE)
    assert measured(likeness, grid, sample_of(grid.enlarged(16))) == {"psnr_db": 100, "ssim": 1}
    assert measured(likeness, grid, sample_of(grid.enlarged(16)), assumed_most_psnr_db=60.0) == {
        "psnr_db": 60,
        "ssim": 1,
    }
    # All pixels off by 51 of 255: 20 log10(5).
    source = np.full((32, 32, 3), 51, np.uint8)
    flat = measured(likeness, grid_of(["00", "00"], BLACK, WHITE), sample_of(source))
    assert flat["psnr_db"] == pytest.approx(20 * math.log10(5))
    opposite = measured(likeness, grid, sample_of(255 - grid.enlarged(16)))
    assert opposite["psnr_db"] == 0
    assert opposite["ssim"] < 0


@pytest.mark.parametrize("size", [12, 16, 32])
def test_likeness_as_scikit_image_computes_it(size):
    source = scene(64)
    grid = pixelated(source, size, "pia_reduced")
    shown = likeness.placed(grid, 64, 64)
    parts = measured(likeness, grid, sample_of(source))
    assert parts["psnr_db"] == pytest.approx(peak_signal_noise_ratio(source, shown, data_range=255))
    expected = structural_similarity(
        images.to_grey(source),
        images.to_grey(shown),
        gaussian_weights=True,
        use_sample_covariance=False,
        data_range=255,
    )
    assert parts["ssim"] == pytest.approx(expected, abs=1e-4)


def test_finer_grids_are_more_like_their_source():
    source = scene(64)
    for name in ("psnr_db", "ssim"):
        scores = [
            measured(likeness, pixelated(source, n, "box"), sample_of(source))[name]
            for n in (4, 16, 64)
        ]
        assert scores == sorted(scores)
        assert scores[0] < scores[-1]


def test_a_source_lies_over_white():
    clear = cv2.imencode(".png", np.zeros((32, 32, 4), np.uint8))[1].tobytes()
    sample = dataclasses.replace(sample_of(), image={"bytes": clear, "path": None})
    grid = grid_of(["11", "11"], BLACK, WHITE)
    assert measured(likeness, grid, sample)["psnr_db"] == 100


@pytest.mark.parametrize("side", [1, 3, 10])
def test_pictures_smaller_than_the_window_have_a_likeness(side):
    grid = grid_of(["01", "10"], BLACK, WHITE)
    parts = measured(likeness, grid, sample_of(np.full((side, side, 3), 99, np.uint8)))
    assert all(math.isfinite(value) for value in parts.values())


def test_failed_answers_are_unlike_and_no_picture_is_no_truth():
    sample = sample_of(scene(32))
    assert likeness.failed(sample, {})[None] == {"psnr_db": 0, "ssim": 0}
    assert likeness.failed(sample_of(), {}) is None
    assert likeness.measure(prediction_of("{}"), sample_of(), {}) is None
