"""Failures of grids: made to measure, weaker than that, and real pixelations that have none."""

from __future__ import annotations

import functools

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pixel_sources import EIGHT, scene
from skimage import data

from gensight import metrics
from gensight.datasets.icons import drawings
from gensight.measures import grid_failures
from gensight.measures._repetition import autocorrelation, peak, repetition
from gensight.pixels.methods import pixelated
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, Sample
from gensight.statistics.cells import ColumnParts, cell_of

SAMPLE = Sample(sample_id="s", rank=0, cluster_id="c", image={}, width=8, height=8)
FLAGS = ("collapsed", "repeated", "missing_subject", "flat")
SIZES = (16, 32, 64)
PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket", "brick", "coins", "moon", "gravel")


def looks(cells, palette=EIGHT, **given):
    """Return the parts of a grid, through the measure."""
    grid = cells if isinstance(cells, PaletteGrid) else PaletteGrid(palette, cells)
    prediction = Prediction(
        sample_id="s",
        rank=0,
        cluster_id="c",
        variant="strict",
        status="ok",
        outcome="ok",
        text=grid.text(),
    )
    return grid_failures.measure(prediction, SAMPLE, given)[None]


def flags(parts):
    return {name for name in FLAGS if parts[name]}


def drawing(size=64, seed=3):
    """Return the cells of a scene at a size: sky, hill, disc and grain in eight colours."""
    return pixelated(scene(2 * size, seed), size, "pia_reduced").cells


def enlarged(cells, factor):
    return np.kron(cells, np.ones((factor, factor), np.uint8))


def noisy(cells, share, seed=0):
    """Return cells of which this share has got another colour."""
    rng = np.random.default_rng(seed)
    hit = rng.random(cells.shape) < share
    return np.where(hit, (cells + rng.integers(1, 8, cells.shape)) % 8, cells).astype(np.uint8)


@pytest.mark.parametrize(
    ("size", "factor"), [(64, 8), (64, 4), (64, 2), (32, 4), (96, 8), (16, 2), (60, 5)]
)
def test_a_grid_of_blocks_has_their_side_as_factor(size, factor):
    parts = looks(enlarged(drawing(size // factor), factor))
    assert (parts["collapse_factor"], flags(parts)) == (factor, {"collapsed"})


@pytest.mark.parametrize("shift", range(1, 8))
def test_blocks_may_begin_anywhere(shift):
    cells = np.roll(enlarged(drawing(9), 8), (shift, 2 * shift), axis=(0, 1))[:64, :64]
    assert looks(cells)["collapse_factor"] == 8


def test_a_few_finer_strokes_leave_a_grid_of_blocks_one():
    blocks = enlarged(drawing(8), 8)
    assert [looks(noisy(blocks, share))["collapse_factor"] for share in (0, 0.003, 0.05)] == [
        8,
        8,
        1,
    ]


def test_the_share_off_the_lattice_is_the_tolerance():
    # One line in four lies off the lattice of even columns.
    columns = np.zeros(16, np.uint8)
    columns[[2, 6, 10, 13]] = 1
    codes = np.tile(np.cumsum(columns) % 2, (16, 1))
    assert grid_failures.collapse_factor(codes, 0.25) == 4
    assert grid_failures.collapse_factor(codes, 0.24) == 1


@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from([0.0, 0.1, 0.3]))
@settings(deadline=None, max_examples=60)
def test_the_factor_as_a_loop_would_find_it(seed, size, tolerance):
    codes = np.random.default_rng(seed).integers(0, 2, (size, size))
    expected = 1
    for side in range(2, size // 2 + 1):
        best = 0
        for row_start in range(side):
            for column_start in range(side):
                on = sum(
                    codes[i, j] != codes[i - 1, j]
                    for i in range(1, size)
                    for j in range(size)
                    if (i - row_start) % side == 0
                ) + sum(
                    codes[i, j] != codes[i, j - 1]
                    for i in range(size)
                    for j in range(1, size)
                    if (j - column_start) % side == 0
                )
                best = max(best, on)
        total = np.count_nonzero(np.diff(codes, axis=0)) + np.count_nonzero(np.diff(codes, axis=1))
        if total and total - best <= tolerance * total:
            expected = side
    assert grid_failures.collapse_factor(codes, tolerance) == expected


def test_an_empty_background_is_no_block():
    cells = np.zeros((64, 64), np.uint8)
    rows, columns = np.indices(cells.shape)
    cells[np.hypot(rows - 30, columns - 33) < 9] = 1
    assert looks(cells)["collapse_factor"] == 1


def tiled(period, size=64, seed=5):
    tile = np.random.default_rng(seed).integers(0, 8, (period, period), dtype=np.uint8)
    return np.tile(tile, (size // period + 1,) * 2)[:size, :size]


@pytest.mark.parametrize(("size", "period"), [(16, 4), (32, 7), (64, 4), (64, 13), (64, 21)])
def test_a_tiled_patch_repeats(size, period):
    parts = looks(tiled(period, size))
    assert parts["repetition"] == pytest.approx(1, abs=1e-9)
    assert flags(parts) == {"repeated"}


def test_a_pattern_has_to_come_three_times():
    assert looks(tiled(32))["repeated"] == 0
    assert looks(tiled(21))["repeated"] == 1


def test_repetition_falls_as_cells_are_replaced():
    peaks = [looks(noisy(tiled(8), share))["repetition"] for share in (0, 0.05, 0.3, 0.8)]
    assert peaks == sorted(peaks, reverse=True)
    assert [value >= 0.75 for value in peaks] == [True, True, False, False]


def test_a_repeated_texture_beside_an_empty_sky_is_found():
    cells = np.full((64, 64), 7, np.uint8)
    cells[32:] = tiled(6)[:32]
    assert looks(cells)["repeated"] == 1


def test_a_small_repeated_part_of_a_drawing_is_not():
    cells = drawing().copy()
    cells[40:52, 8:20] = tiled(4, 12)
    assert looks(cells)["repeated"] == 0


def test_stripes_repeat_and_edges_do_not():
    rows, columns = np.indices((32, 32))
    assert looks((columns // 2 % 2).astype(np.uint8))["repeated"] == 1
    for edge in (columns > 14, rows > columns, 3 * rows > 20 + columns, rows > 2 * columns - 20):
        assert looks(edge.astype(np.uint8))["repetition"] < 0.2


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7))
@settings(deadline=None, max_examples=40)
def test_autocorrelation_as_a_loop_would_compute_it(seed, height, width):
    rng = np.random.default_rng(seed)
    window = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    centred = window - window.mean(axis=(0, 1))
    energy = (centred**2).sum()
    found = autocorrelation(window)
    for down in range(height):
        for right in range(1 - width, width):
            pairs = [
                (centred[i, j], centred[i + down, j + right])
                for i in range(height - down)
                for j in range(width)
                if 0 <= j + right < width
            ]
            one, two = (sum((pair[k] ** 2).sum() for pair in pairs) for k in (0, 1))
            expected = 0.0
            if min(one, two) > 1.001e-3 * energy:
                expected = sum((a * b).sum() for a, b in pairs) / np.sqrt(one * two)
            elif min(one, two) > 0.999e-3 * energy:
                continue
            assert found[down, right] == pytest.approx(expected, abs=1e-7)


def test_windows_without_contrast_or_room_have_no_peak():
    assert peak(np.full((12, 12, 3), 9, np.uint8)) == 0
    assert peak(np.zeros((1, 1, 3), np.uint8)) == 0
    codes = np.zeros((8, 8), np.int64)
    assert repetition(np.zeros((8, 8, 3), np.uint8), codes, 0.5) == 0


def dotted(size, cells_of_subject):
    cells = np.zeros(size * size, np.uint8)
    start = size * size // 2 + size // 3
    cells[start : start + cells_of_subject] = 1
    return cells.reshape(size, size)


def test_the_subject_is_missing_below_a_share_of_the_cells():
    # Two percent of 4,096 cells are 81.92.
    parts = {n: looks(dotted(64, n)) for n in (1, 81, 82, 1000)}
    assert [parts[n]["missing_subject"] for n in parts] == [1, 1, 0, 0]
    assert parts[1000]["foreground_share"] == 1000 / 4096


def test_the_background_is_the_border_s_colour_and_what_looks_like_it():
    near = ((200, 200, 200), (201, 200, 200), (90, 20, 20))
    cells = np.indices((32, 32)).sum(axis=0) % 2
    assert looks(cells.astype(np.uint8), near)["missing_subject"] == 1
    cells[8:24, 8:24] = 2
    assert looks(cells.astype(np.uint8), near)["foreground_share"] == 0.25
    # A subject that reaches the border here and there is one all the same.
    cells[:, 12:20] = 2
    assert looks(cells.astype(np.uint8), near)["foreground_share"] == (32 * 8 + 16 * 8) / 1024


@pytest.mark.parametrize("size", [1, 2, 16])
def test_a_flat_grid_has_no_subject_and_nothing_else(size):
    for palette in (EIGHT, ((9, 9, 9),) * 8):
        cells = np.zeros((size, size), np.uint8)
        cells[0, 0] = 0 if palette is EIGHT else 5
        parts = looks(cells, palette)
        assert flags(parts) == {"flat", "missing_subject"}
        assert {"collapse_factor", "repetition"}.isdisjoint(parts)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_small_grids_have_looks(size):
    cells = np.eye(size, dtype=np.uint8)
    parts = looks(cells)
    assert (parts["collapse_factor"], flags(parts)) == (1, set())


@functools.cache
def photograph(name):
    """Return the central square of a photograph of scikit-image's, 128 pixels a side."""
    picture = getattr(data, name)()
    if picture.ndim == 2:
        picture = np.repeat(picture[:, :, None], 3, axis=2)
    side = min(picture.shape[:2])
    top, left = ((length - side) // 2 for length in picture.shape[:2])
    square = np.ascontiguousarray(picture[top : top + side, left : left + side, :3])
    return cv2.resize(square, (128, 128), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", ["nearest", "box", "pia_reduced"])
def test_real_pixelations_do_not_fail(size, method):
    found = {name: looks(pixelated(photograph(name), size, method)) for name in PHOTOGRAPHS}
    assert {name: flags(parts) for name, parts in found.items() if flags(parts)} == {}


@pytest.mark.parametrize("size", SIZES)
def test_own_drawings_do_not_fail(size):
    found = {
        (label, rendition): looks(pixelated(drawings.draw(label, rendition, 128), size, "nearest"))
        for label in drawings.LABELS[::3]
        for rendition in drawings.RENDITIONS
    }
    assert {name: flags(parts) for name, parts in found.items() if flags(parts)} == {}


@pytest.mark.parametrize("name", ["astronaut", "coffee"])
def test_a_real_pixelation_that_is_enlarged_or_tiled_does(name):
    coarse = pixelated(photograph(name), 16, "box")
    blocks = looks(PaletteGrid(coarse.palette, enlarged(coarse.cells, 4)))
    assert (blocks["collapse_factor"], flags(blocks)) == (4, {"collapsed"})
    copies = looks(PaletteGrid(coarse.palette, np.tile(coarse.cells, (4, 4))))
    assert flags(copies) == {"repeated"}


def test_shares_are_of_grids_and_failed_answers_say_nothing():
    assert grid_failures.failed(SAMPLE, {}) == {None: {"grid": 0}}
    rows = [
        looks(enlarged(drawing(8), 8)),
        looks(tiled(8)),
        looks(np.zeros((16, 16), np.uint8)),
        looks(drawing()),
        grid_failures.failed(SAMPLE, {})[None],
    ]
    names = {name for row in rows for name in row}
    parts = {name: [row.get(name, np.nan) for row in rows] for name in names}
    expected = {
        "collapsed_share": 25,
        "mean_collapse_factor": (8 + 1 + 1) / 3,
        "repeated_pattern_share": 25,
        "missing_subject_share": 25,
    }
    for name, value in expected.items():
        assert metrics.load(name).aggregate(parts) == pytest.approx(value), name


@pytest.mark.parametrize(
    "name",
    ["collapsed_share", "mean_collapse_factor", "repeated_pattern_share", "missing_subject_share"],
)
def test_a_model_that_never_draws_a_grid_has_no_shares(name):
    parts = {"grid": [0.0, 0.0, 0.0]}
    model = ColumnParts(parts, ["a", "b", "c"], ["a", "b", "c"])
    assert metrics.load(name).aggregate(parts) is None
    assert cell_of(metrics.load(name), model).clusters is None


def test_every_threshold_decides():
    blocks = looks(enlarged(drawing(16), 4), assumed_least_factor=5)
    assert (blocks["collapse_factor"], blocks["collapsed"]) == (4, 0)
    assert looks(tiled(8), assumed_least_repetition=1.1)["repeated"] == 0
    assert looks(dotted(64, 81), assumed_least_foreground=0.01)["missing_subject"] == 0
    assert looks(dotted(64, 500), assumed_background_distance=400.0)["missing_subject"] == 1
    half = np.full((64, 64), 7, np.uint8)
    half[32:] = tiled(6)[:32]
    assert looks(half, assumed_window_detail=1.1)["repetition"] < 0.5
