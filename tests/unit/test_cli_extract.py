import importlib.util
import json
import sys

import cv2
import numpy as np
import pytest
from cli_files import BAD_PICTURES, answer, call, error, halves, marked_pair, ramp_mm, save
from click.testing import CliRunner

from gensight import images
from gensight.cli import main
from gensight.extractors import Answer, mask, text


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


NOSE = ["--colour", "nose=ff0000"]
COMPARING = {
    "count": [],
    "overlay": [],
    "boxes": ["--method", "drawn"],
    "keypoints": NOSE,
}


@pytest.mark.parametrize("task", COMPARING)
def test_what_compares_needs_the_input(dots, task):
    assert "--input FILE" in error("extract", task, dots[1], *COMPARING[task])


def test_a_decoder_without_the_gate_needs_no_input(dots):
    found = answer("extract", "count", dots[1], "--method", "blobdetector")
    assert (found["count"], found["variant"], found["matte"]) == (3, "blobdetector", "white")


@pytest.fixture
def frames(tmp_path):
    source = np.full((768, 1024, 3), 120, np.uint8)
    marked = source.copy()
    cv2.rectangle(marked, (100, 150), (400, 350), (0, 0, 255), 3)
    cv2.rectangle(marked, (600, 400), (900, 700), (0, 0, 255), 3)
    return save(tmp_path / "source.png", source), save(tmp_path / "frames.png", marked)


def test_boxes_that_were_drawn(tmp_path, frames):
    source, marked = frames
    out = tmp_path / "out.png"
    options = ["--input", source, "--method", "drawn", "--colour", "0000FF", "--output", out]
    found = answer("extract", "boxes", marked, *options)
    edges = [[box[edge] for edge in ("left", "top", "right", "bottom")] for box in found["boxes"]]
    expected = [[100.5, 150.5, 400.5, 350.5], [600.5, 400.5, 900.5, 700.5]]
    np.testing.assert_allclose(sorted(edges), expected, atol=0.05)
    assert found["count"] == 2
    assert found["parameters"]["colour"] == [0, 0, 255]
    outlined = images.decode_rgb(out.read_bytes(), matte=(9, 9, 9))
    green = (outlined == (0, 255, 0)).all(axis=2)
    assert green[150, 100:400].all()
    assert green[400:700, 900].all()
    assert not green[250, 250]


def test_boxes_of_a_mask(half):
    found = answer("extract", "boxes", half)
    assert [found["boxes"][0][edge] for edge in ("left", "top", "right", "bottom")] == [
        *(0.0, 0.0),
        *(512.0, 768.0),
    ]
    assert (found["variant"], found["count"]) == ("mask_boxes", 1)


def test_boxes_are_listed_for_people(half):
    lines = call("extract", "boxes", half).stdout.splitlines()
    assert "box                0.0 0.0 512.0 768.0, score 0.5" in lines


def test_overlay_is_a_mask(tmp_path):
    source = np.full((48, 64, 3), 120, np.uint8)
    tinted = source.copy()
    tinted[:, :16] = (120, 190, 120)  # half way to green would be 188
    out = tmp_path / "out.png"
    found = answer(
        *("extract", "overlay", save(tmp_path / "tinted.png", tinted)),
        *("--input", save(tmp_path / "source.png", source)),
        *("--colour", "#00ff00", "--output", out),
    )
    assert found["area_share"] == 0.25
    written = images.decode_grey(out.read_bytes(), matte=(9, 9, 9))
    assert (written == halves(16)).all()


def test_keypoints_by_colour(tmp_path, dots):
    source, _ = dots
    marked = images.decode_rgb(source.read_bytes(), matte=(9, 9, 9)).copy()
    cv2.circle(marked, (300, 200), 7, (255, 0, 0), -1)
    cv2.circle(marked, (500, 600), 7, (0, 0, 255), -1)
    path, out = save(tmp_path / "points.png", marked), tmp_path / "out.png"
    colours = [*NOSE, "--colour", "left_knee=0000ff", "--colour", "chin=00ff00"]
    options = ["--input", source, *colours, "--output", out]
    found = answer("extract", "keypoints", path, *options)
    assert found["keypoints"] == [
        {"name": "nose", "x": 300.0, "y": 200.0},
        {"name": "left_knee", "x": 500.0, "y": 600.0},
    ]
    ringed = images.decode_rgb(out.read_bytes(), matte=(9, 9, 9))
    assert (ringed[200, 310] == (0, 255, 0)).all()
    lines = call("extract", "keypoints", path, *options).stdout.splitlines()
    assert "keypoint           500.0 600.0 left_knee" in lines


@pytest.mark.parametrize(
    ("reply", "count"), [("12", 12), ("**1,234**.\n", 1234), ("\ufeff7\r\n", 7), ("0", 0)]
)
def test_integer_reads_a_file_and_standard_input(tmp_path, reply, count):
    path = save(tmp_path / "reply.txt", reply.encode())
    found = answer("extract", "integer", path)
    expected = {"file": str(path), "count": count, "variant": "strict", "extractor": "integer"}
    assert {key: found[key] for key in expected} == expected
    piped = CliRunner().invoke(main, ["extract", "integer", "-", "--json"], input=reply)
    assert json.loads(piped.stdout) == {**found, "file": "-"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"about 12", "not one whole number (prose): 'about 12'"),
        (b"5-7", "(range)"),
        (b"", "(empty)"),
        (b"\xff\xfe1\x002\x00", "not a text in UTF-8"),
    ],
)
def test_a_reply_that_is_no_integer_is_one_line(tmp_path, content, reason):
    path = save(tmp_path / "reply.txt", content)
    line = error("extract", "integer", path)
    assert str(path) in line
    assert reason in line


@pytest.mark.skipif(
    importlib.util.find_spec("rapidocr") is None, reason="the extra gensight[ocr] is not installed"
)
def test_text_of_a_picture(tmp_path):
    page = np.full((400, 900, 3), 255, np.uint8)
    cv2.putText(page, "zebra", (80, 200), cv2.FONT_HERSHEY_SIMPLEX, 4, (0, 0, 0), 8)
    path = save(tmp_path / "page.png", page)
    assert answer("extract", "text", path)["text"] == "zebra"
    assert "text               zebra" in call("extract", "text", path).stdout.splitlines()


def test_a_missing_ocr_engine_names_the_extra(monkeypatch, half):
    text._engine.cache_clear()
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    assert "gensight[ocr]" in error("extract", "text", half)


@pytest.mark.parametrize("name", BAD_PICTURES)
@pytest.mark.parametrize(
    "task", ["mask", "depth", "count", "normals", "boxes", "overlay", "keypoints"]
)
def test_a_bad_picture_is_one_line(tmp_path, dots, task, name):
    content, reason = BAD_PICTURES[name]
    path = save(tmp_path / name, content)
    options = ["--input", dots[0], "--output", tmp_path / "out.png", *COMPARING.get(task, [])]
    line = error("extract", task, path, *options)
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


@pytest.mark.parametrize(
    ("task", "options", "reason"),
    [
        ("overlay", ["--colour", "red"], "expected six hex digits"),
        ("overlay", ["--colour", "ff000"], "expected six hex digits"),
        ("keypoints", [], "name each keypoint and its colour"),
        ("keypoints", ["--colour", "ff0000"], "NAME=RRGGBB"),
        ("keypoints", ["--colour", "=ff0000"], "NAME=RRGGBB"),
        ("keypoints", [*NOSE, "--colour", "chin=ff0000"], "occurs twice"),
        ("boxes", ["--method", "drawn", "--colour", "ffffff"], "too pale"),
        ("boxes", ["--method", "draw"], "did you mean 'drawn'?"),
    ],
)
def test_mistakes_about_colours_are_one_line(dots, task, options, reason):
    source, marked = dots
    assert reason in error("extract", task, marked, "--input", source, *options)


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
