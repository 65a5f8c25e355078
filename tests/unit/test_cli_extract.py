import json

import numpy as np
import pytest
from cli_files import BAD_PICTURES, answer, call, error, halves, marked_pair, ramp_mm, save

from gensight import images
from gensight.extractors import Answer, mask


@pytest.fixture
def half(tmp_path):
    return save(tmp_path / "half.png", halves())


@pytest.fixture
def dots(tmp_path):
    source, marked = marked_pair()
    return save(tmp_path / "source.png", source), save(tmp_path / "marked.png", marked)


def test_mask_of_a_half_white_picture(half):
    found = answer("extract", "mask", half)
    expected = {
        "area_share": 0.5,
        "degenerate_output": False,
        "file": str(half),
        "variant": "otsu",
        "status": "ok",
        "returned_width": 64,
        "returned_height": 48,
        "work_width": 1024,
        "work_height": 768,
        "image_kind": "png",
        "bit_depth": 8,
        "aspect_error": None,
        "aspect_changed": None,
        "input": None,
        "output": None,
    }
    assert {key: found[key] for key in expected} == expected
    assert (images.decode_mask(found["mask"]) == (halves() > 0)).all()
    assert 0 <= found["threshold"] < 255


def test_mask_holds_everything_the_extractor_says(half):
    found = answer("extract", "mask", half)
    data = half.read_bytes()
    reading = mask.extract(Answer(image=data, source_width=64, source_height=48), {})[0]
    unknown = {"aspect_error": None, "aspect_changed": None}  # no input was named
    fields = {**reading.fields, **unknown, "parameters": json.loads(reading.fields["parameters"])}
    assert {key: found[key] for key in fields} == fields


@pytest.mark.parametrize(
    ("method", "share"), [("otsu", 0.75), ("threshold_128", 0.5), ("threshold_225", 0.25)]
)
def test_method_is_the_variant(tmp_path, method, share):
    # Distances of the class means: 163 for {0} (weight 3/16), 125 (1/4), 143 for {230} (3/16).
    levels = np.repeat(np.array([0, 120, 140, 230], np.uint8), 16)
    path = save(tmp_path / "steps.png", np.tile(levels, (48, 1)))
    found = answer("extract", "mask", path, "--method", method)
    assert (found["variant"], found["area_share"]) == (method, share)


@pytest.mark.parametrize(("level", "share"), [(0, 0.0), (127, 0.0), (128, 1.0), (255, 1.0)])
def test_a_flat_picture_is_degenerate_and_cut_at_127(tmp_path, level, share):
    path = save(tmp_path / "flat.png", np.full((32, 32), level, np.uint8))
    found = answer("extract", "mask", path)
    assert (found["degenerate_output"], found["area_share"]) == (True, share)


@pytest.mark.parametrize(
    ("size", "aspect_error"), [((64, 48), 0.0), ((128, 96), 0.0), ((96, 48), 64 / 96 - 1)]
)
def test_input_decides_the_aspect(tmp_path, half, size, aspect_error):
    source = save(tmp_path / "source.png", np.zeros((size[1], size[0], 3), np.uint8))
    found = answer("extract", "mask", half, "--input", source)
    assert found["aspect_error"] == pytest.approx(abs(aspect_error), abs=1e-12)
    assert found["aspect_changed"] is (aspect_error != 0)


def test_mask_output_is_black_and_white(tmp_path, half):
    out = tmp_path / "out.png"
    assert answer("extract", "mask", half, "--output", out)["output"] == str(out)
    written = images.decode_grey(out.read_bytes(), matte=(9, 9, 9))
    assert (written == halves()).all()


def test_depth_keeps_its_sixteen_bits(tmp_path):
    path, out = save(tmp_path / "depth.png", ramp_mm()), tmp_path / "out.png"
    found = answer("extract", "depth", path, "--output", out)
    assert (found["bit_depth"], found["variant"], "grey" in found) == (16, "grey", False)
    assert (images.decode_grey(out.read_bytes(), matte=(9, 9, 9)) == ramp_mm()).all()


def test_normals_output_keeps_the_colours(tmp_path):
    colour = np.random.default_rng(0).integers(0, 256, (12, 16, 3)).astype(np.uint8)
    path, out = save(tmp_path / "normals.png", colour), tmp_path / "out.png"
    found = answer("extract", "normals", path, "--output", out)
    assert ("normals" in found, found["degenerate_output"]) == (False, False)
    assert (images.decode_rgb(out.read_bytes(), matte=(9, 9, 9)) == colour).all()


def test_count_of_three_dots(dots):
    source, marked = dots
    found = answer("extract", "count", marked, "--input", source)
    assert found["count"] == 3
    places = [(round(p["x"]), round(p["y"])) for p in found["points"]]
    assert places == [(200, 200), (500, 400), (900, 700)]
    assert (found["facts"]["n_red_components"], found["facts"]["n_after_diff"]) == (3.0, 3.0)
    assert found["parameters"]["min_area"] == 12


def test_dots_that_the_input_has_already_are_not_counted(dots):
    _, marked = dots
    assert answer("extract", "count", marked, "--input", marked)["count"] == 0


def test_count_output_rings_every_dot(tmp_path, dots):
    source, marked = dots
    out = tmp_path / "rings.png"
    answer("extract", "count", marked, "--input", source, "--output", out)
    ringed = images.decode_rgb(out.read_bytes(), matte=(9, 9, 9))
    original = images.decode_rgb(marked.read_bytes(), matte=(9, 9, 9))
    green = (ringed == (0, 255, 0)).all(axis=2)
    assert [bool(green[y, x + 10]) for x, y in ((200, 200), (500, 400), (900, 700))] == [True] * 3
    assert green.sum() < 3 * 200
    assert (ringed[200, 200] == original[200, 200]).all()


def test_count_needs_the_input(dots):
    assert "--input FILE" in error("extract", "count", dots[1])


@pytest.mark.parametrize("name", BAD_PICTURES)
@pytest.mark.parametrize("task", ["mask", "depth", "count", "normals"])
def test_a_bad_picture_is_one_line(tmp_path, dots, task, name):
    content, reason = BAD_PICTURES[name]
    path = save(tmp_path / name, content)
    line = error("extract", task, path, "--input", dots[0], "--output", tmp_path / "out.png")
    assert str(path) in line
    assert reason in line
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("name", BAD_PICTURES)
def test_a_bad_input_is_one_line(tmp_path, dots, name):
    content, reason = BAD_PICTURES[name]
    source = save(tmp_path / name, content)
    assert reason in error("extract", "count", dots[1], "--input", source)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere.png"], "no such file"),
        (["."], "directory"),
        (["{half}", "--input", "nowhere.png"], "no such file"),
        (["{half}", "--method", "otsy"], "did you mean 'otsu'?"),
        (["{half}", "--output", "mask.jpg"], "name it *.png"),
        (["{half}", "--output", "{half}"], "replace the picture that is read"),
        (["{half}", "--output", "no/folder/out.png"], "cannot be written"),
    ],
)
def test_mistakes_are_one_line(half, arguments, reason):
    assert reason in error("extract", "mask", *(a.format(half=half) for a in arguments))


def test_people_read_aligned_lines(half):
    result = call("extract", "mask", half)
    assert result.stdout.splitlines() == [
        f"file               {half}",
        "picture            png, 64x48, 8 bit",
        "method             mask, otsu",
        "threshold          0",
        "area_share         0.5",
        "degenerate_output  no",
        "contrast           255",
    ]
