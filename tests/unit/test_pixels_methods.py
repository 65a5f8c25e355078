import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from pixel_sources import (
    EIGHT,
    checkerboard,
    eight_regions,
    flat,
    grey_ramp,
    halves,
    noise,
    scene,
)

from gensight import images
from gensight.errors import GensightError
from gensight.pixels import PaletteGrid
from gensight.pixels.methods import METHODS, pixelated

WHITE = (255, 255, 255)
# Their kernels have negative lobes, which leave a ring of a level or two beside an edge.
OVERSHOOTING = ("bicubic", "lanczos")
SOURCES = {
    "noise": noise(),
    "flat": flat(),
    "black": flat((0, 0, 0)),
    "halves": halves(),
    "checkerboard": checkerboard(),
    "scene": scene(),
    "one pixel": flat((9, 8, 7), 1),
    "wide": noise(40)[:13],
}
# Prints the digest of every method's answer at two sizes; run with other numbers of threads.
THREADED = """
import json, sys
sys.path.insert(0, {tests!r})
from pixel_sources import scene
from gensight.pixels.methods import METHODS, pixelated
texts = [pixelated(scene(96), size, name).text() for name in METHODS for size in (12, 32)]
print(json.dumps(texts))
"""


@pytest.fixture(params=METHODS)
def name(request):
    return request.param


@pytest.mark.parametrize("size", [1, 3, 16, 32, 64])
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_n_by_n_cells_of_at_most_eight_colours(name, source, size):
    grid = pixelated(SOURCES[source], size, name)
    assert isinstance(grid, PaletteGrid)
    assert grid.cells.shape == (size, size)
    assert 2 <= len(grid.palette) <= 8
    written = json.loads(grid.text())
    assert [len(row) for row in written["pixels"]] == [size] * size
    if len(grid.used_colours) > 1:
        assert len(grid.used_colours) == len(grid.palette)


@pytest.mark.parametrize("colour", [(128, 128, 128), (0, 0, 0), WHITE])
def test_a_flat_source_keeps_its_colour_and_gets_a_second(name, colour):
    grid = pixelated(flat(colour), 16, name)
    assert grid.used_colours == (colour,)
    assert len(grid.palette) == 2


def test_halves_keep_two_colours(name):
    grid = pixelated(halves(), 16, name)
    picture = grid.picture()
    for row in picture:
        assert (row[:5] == 0).all()
        assert (row[11:] == 255).all()


def test_a_ramp_has_no_dither(name):
    rows = pixelated(grey_ramp(), 16, name).picture()[:, :, 0].astype(int)
    for row in rows:
        assert (np.diff(row) >= 0).all()
        assert (np.diff(row) > 0).sum() <= 7


def test_a_black_and_white_ramp_has_one_edge_a_row(name):
    two = np.where(grey_ramp() < 128, 0, 255).astype(np.uint8)
    grid = pixelated(two, 16, name).picture()[:, :, 0]
    levels = grid.astype(int)
    assert (np.diff((levels > 127).astype(int), axis=1) != 0).sum(axis=1).tolist() == [1] * 16


def test_transparency_is_white_for_every_method(name):
    rgba = np.zeros((64, 64, 4), np.uint8)
    rgba[:, :32] = (255, 0, 0, 0)
    rgba[:, 32:] = (0, 0, 255, 255)
    encoded = cv2.imencode(".png", cv2.cvtColor(rgba, cv2.COLOR_RGBA2BGRA))[1].tobytes()
    grid = pixelated(images.decode_rgb(encoded, matte=WHITE), 16, name)
    if name not in OVERSHOOTING:
        assert set(grid.palette) == {WHITE, (0, 0, 255)}
    left, right = grid.picture()[:, :6].astype(int), grid.picture()[:, 10:].astype(int)
    assert np.abs(left - 255).max() <= 2
    assert np.abs(right - (0, 0, 255)).max() <= 2


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1", "LA"])
def test_grey_palette_alpha_and_cmyk_sources(mode, tmp_path):
    picture = Image.fromarray(eight_regions())
    picture = picture.quantize(8) if mode == "P" else picture.convert(mode)
    path = tmp_path / ("source.jpg" if mode == "CMYK" else "source.png")
    picture.save(path, quality=95) if mode == "CMYK" else picture.save(path)
    rgb = images.decode_rgb(path.read_bytes(), matte=WHITE)
    for name in METHODS:
        assert pixelated(rgb, 16, name).cells.shape == (16, 16)
    expected = np.asarray(picture.convert("RGB")).astype(int)[8::16, 8::16]
    found = rgb[8::16, 8::16]
    assert np.abs(found - expected).max() <= (12 if mode == "CMYK" else 0)
    if mode != "CMYK":
        np.testing.assert_array_equal(pixelated(rgb, 4, "nearest").picture(), expected)


def test_pia_reduced_and_resampling_keep_eight_regions_exactly():
    for name in ("nearest", "box", "pia_reduced"):
        grid = pixelated(eight_regions(), 16, name)
        np.testing.assert_array_equal(grid.picture(), eight_regions(16))
        assert sorted(grid.palette) == sorted(EIGHT)


def test_a_picture_that_is_not_square_is_divided_evenly(name):
    grid = pixelated(halves(side=64)[:16], 8, name)
    assert grid.picture()[:, :3].max() <= 2
    assert grid.picture()[:, 5:].min() >= 253


def test_threads_change_no_byte():
    variables = (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENCV_FOR_THREADS_NUM",
    )
    program = THREADED.format(tests=str(Path(__file__).parent))
    answers = []
    for threads in ("1", "2"):
        environment = os.environ | dict.fromkeys(variables, threads)
        run = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            timeout=120,
            check=True,
        )
        answers.append(run.stdout)
    assert answers[0] == answers[1]
    assert len(json.loads(answers[0])) == 20


def test_the_ten_rows_are_those_of_table_25():
    assert [method.row for method in METHODS.values()] == [
        "Nearest + median cut",
        "Box + median cut",
        "Bicubic + median cut",
        "Lanczos + median cut",
        "DPID + median cut",
        "DPID + median cut",
        "SSIM-optimal + median cut",
        "Pyxelate",
        "PIA (reduced)",
        "PIA (reference)",
    ]


def test_only_the_own_pyxelate_is_marked_as_standing_for_another():
    marked = {name: method.stands_for for name, method in METHODS.items() if method.stands_for}
    assert marked == {"pyxelate_like": "Pyxelate 2.1"}


def test_settings_that_the_paper_does_not_state_say_so():
    stated = {
        (name, key)
        for name, method in METHODS.items()
        for key in method.defaults
        if not key.startswith("assumed_")
    }
    assert stated == {("pia_reference", "saturation")}


def test_settings_change_the_answer():
    for name, settings in {
        "dpid_one": {"assumed_lambda": 3.0},
        "ssim_optimal": {"assumed_neighbourhood_cells": 4},
        "pyxelate_like": {"assumed_concentration": 100.0},
        "pia_reduced": {"assumed_compactness": 45.0},
        "pia_reference": {"saturation": 1.0},
    }.items():
        assert pixelated(scene(), 16, name, settings) != pixelated(scene(), 16, name)


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("pia", {}, "method: 'pia' is not known"),
        ("nearest", {"seed": 1}, "method nearest has no setting seed; its settings: none"),
        ("dpid_one", {"lambda": 1}, "no setting lambda; its settings: assumed_lambda"),
    ],
)
def test_unknown_names_are_refused(method, settings, message):
    with pytest.raises(GensightError, match=message):
        pixelated(flat(), 16, method, settings)
