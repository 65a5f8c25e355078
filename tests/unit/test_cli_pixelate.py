import json

import numpy as np
import pytest
from cli_files import BAD_PICTURES, answer, call, error, save
from pixel_sources import EIGHT, eight_regions, halves, scene

from gensight import images
from gensight.pixels.methods import METHODS, pixelated


@pytest.fixture
def regions(tmp_path):
    return save(tmp_path / "regions.png", eight_regions())


def grid_of(text):
    written = json.loads(text)
    cells = np.array([[int(digit) for digit in row] for row in written["pixels"]])
    palette = np.array([list(bytes.fromhex(c[1:])) for c in written["palette"]])
    return palette[cells]


def test_the_grid_is_printed_as_a_model_answers_it(regions):
    result = call("pixelate", regions, "--method", "pia_reduced", "--size", "16")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    np.testing.assert_array_equal(grid_of(result.stdout), eight_regions(16))


def test_what_was_done_is_told(regions):
    found = answer("pixelate", regions, "--method", "dpid_half", "--size", "8")
    assert found["settings"] == {"assumed_lambda": 0.5}
    assert (found["size"], found["source_side_px"], found["used_colours"]) == (8, 64, 8)
    assert len(found["palette"]) == len(EIGHT)
    assert [len(row) for row in found["pixels"]] == [8] * 8
    assert (found["stands_for"], found["output"]) == (None, None)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_is_the_librarys(tmp_path, method):
    path = save(tmp_path / "scene.png", scene())
    result = call("pixelate", path, "--method", method, "--size", "8")
    assert result.stdout == pixelated(scene(), 8, method).text() + "\n"


def test_the_default_is_pia_reduced_at_32(tmp_path):
    found = answer("pixelate", save(tmp_path / "scene.png", scene()))
    assert (found["method"], found["size"]) == ("pia_reduced", 32)
    assert answer("pixelate", tmp_path / "scene.png", "--method", "pyxelate_like")["stands_for"]


def test_a_setting_is_passed_on(tmp_path):
    path = save(tmp_path / "scene.png", scene())
    plain = answer("pixelate", path, "--size", "16")
    changed = answer("pixelate", path, "--size", "16", "--setting", "assumed_compactness=45")
    assert changed["settings"] == plain["settings"] | {"assumed_compactness": 45}
    assert changed["pixels"] != plain["pixels"]


def test_the_output_is_enlarged_by_a_whole_factor(regions, tmp_path):
    out = tmp_path / "out.png"
    found = answer("pixelate", regions, "--size", "24", "--output", out)
    assert found["output"] == str(out)
    shown = images.decode_rgb(out.read_bytes(), matte=(0, 0, 0))
    assert shown.shape == (528, 528, 3)
    np.testing.assert_array_equal(shown[::22, ::22], eight_regions(24))


def test_the_central_square_of_a_large_picture_is_shrunk(tmp_path):
    wide = np.zeros((300, 900, 3), np.uint8)
    wide[:, 300:600] = halves((250, 0, 0), (0, 0, 250), side=300)
    found = answer("pixelate", save(tmp_path / "wide.png", wide), "--size", "4", "--method", "box")
    assert found["source_side_px"] == 256
    assert found["pixels"] == ["0011"] * 4 or found["pixels"] == ["1100"] * 4
    assert sorted(found["palette"]) == ["#0000FA", "#FA0000"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "pia"], "--method: 'pia' is not known"),
        (["--size", "0"], "--size 0: a grid has 1 to 256 cells a side"),
        (["--size", "5000"], "--size 5000: a grid has"),
        (["--setting", "assumed_seed"], "expected a name and a number, KEY=VALUE"),
        (["--setting", "assumed_seed=one"], "expected a name and a number, KEY=VALUE"),
        (["--setting", "seed=1"], "method pia_reduced has no setting seed"),
        (["--setting", "assumed_seed=1.5"], "assumed_seed is a whole number of 0 or more, not 1.5"),
        (["--setting", "assumed_starts=0"], "assumed_starts is a whole number above 0, not 0"),
        (["--setting", "assumed_compactness=NaN"], "assumed_compactness is a number above 0"),
        (["--output", "grid.jpg"], "a PNG is written; name it *.png"),
        (["--output", "no/such/folder/out.png"], "cannot be written"),
    ],
)
def test_wrong_arguments_end_in_one_line(regions, arguments, message):
    assert message in error("pixelate", regions, *arguments)


def test_cooling_that_never_ends_is_refused(regions):
    told = error("pixelate", regions, "--method", "pia_reference", "--setting", "assumed_cooling=1")
    assert "assumed_cooling is a number between 0 and 1, not 1" in told


def test_the_source_is_not_replaced(regions):
    assert "would replace" in error("pixelate", regions, "--output", regions)


@pytest.mark.parametrize("name", BAD_PICTURES)
def test_what_is_no_picture_is_named(tmp_path, name):
    path = tmp_path / "bad.png"
    path.write_bytes(BAD_PICTURES[name][0])
    told = error("pixelate", path)
    assert str(path) in told
    assert BAD_PICTURES[name][1] in told


def test_a_missing_file_is_named(tmp_path):
    assert "there is no such file" in error("pixelate", tmp_path / "none.png")
