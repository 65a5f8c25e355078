import io
import math

import numpy as np
import pytest
from cli_files import BAD_PICTURES, answer, call, error, halves, marked_pair, ramp_mm, save
from PIL import Image

from gensight import images
from gensight.images import encode_png


@pytest.fixture
def masks(tmp_path):
    """Return the half-white mask, its left half, its complement and an empty one."""
    pictures = {
        "half": halves(32),
        "quarter": halves(16),
        "other": 255 - halves(32),
        "nothing": halves(0),
    }
    return {name: save(tmp_path / f"{name}.png", grey) for name, grey in pictures.items()}


def array_bytes(array):
    """Return an array as the bytes of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def pairs(*named):
    """Return the options of (prediction, target) pairs."""
    return [o for p, t in named for o in ("--prediction", p, "--target", t)]


# Segmentation


@pytest.mark.parametrize(
    ("prediction", "target", "giou", "ciou", "valid"),
    [
        ("half", "half", 100.0, 100.0, 1),
        ("quarter", "half", 50.0, 50.0, 1),
        ("half", "quarter", 50.0, 50.0, 1),
        ("other", "half", 0.0, 0.0, 1),
        ("half", "nothing", 0.0, 0.0, 1),
        # One flat level of grey has not the asked format, whatever it scores.
        ("nothing", "half", 0.0, 0.0, 0),
        ("nothing", "nothing", 100.0, None, 0),
    ],
)
def test_one_mask(masks, prediction, target, giou, ciou, valid):
    found = answer("score", "segmentation", *pairs((masks[prediction], masks[target])))
    assert (found["giou"], found["ciou"]) == (giou, ciou)
    assert (found["n"], found["n_valid"], found["coverage"]) == (1, valid, float(valid))
    assert (found["units"]["giou"], found["task"]) == ("percent", "segmentation")
    assert set(found["versions"]) == {"mask", "overlap", "giou", "ciou"}


def test_several_masks_in_order(masks):
    named = [("half", "half"), ("quarter", "half"), ("other", "half")]
    found = answer("score", "segmentation", *pairs(*((masks[p], masks[t]) for p, t in named)))
    # Intersections 1536 + 768 + 0, unions 1536 + 1536 + 3072 pixels of 64 x 48.
    assert found["giou"] == pytest.approx(50.0)
    assert found["ciou"] == pytest.approx(100 * 2304 / 6144)
    assert [pair["giou"] for pair in found["pairs"]] == [100.0, 50.0, 0.0]
    assert [pair["prediction"] for pair in found["pairs"]] == [str(masks[p]) for p, _ in named]


def test_a_prediction_of_another_size_is_brought_to_the_target(tmp_path, masks):
    large = save(tmp_path / "large.png", halves(512, 1024, 768))
    found = answer("score", "segmentation", *pairs((large, masks["half"])))
    assert (found["giou"], found["pairs"][0]["aspect_changed"]) == (100.0, False)
    wide = save(tmp_path / "wide.png", halves(512, 1024, 512))
    found = answer("score", "segmentation", *pairs((wide, masks["half"])))
    assert (found["giou"], found["pairs"][0]["aspect_changed"]) == (100.0, True)


@pytest.mark.parametrize("encoding", ["grey255", "grey1", "one_bit", "palette", "rgb"])
def test_five_encodings_of_a_target(tmp_path, masks, encoding):
    on = halves(32) > 0
    picture = {
        "grey255": Image.fromarray(halves(32)),
        "grey1": Image.fromarray(on.astype(np.uint8)),
        "one_bit": Image.fromarray(on),
        "palette": Image.fromarray(on.astype(np.uint8)).convert("P"),
        "rgb": Image.fromarray(np.dstack([halves(32)] * 3)),
    }[encoding]
    if encoding == "palette":
        picture.putpalette([0, 0, 0, 128, 0, 0] + [7] * 762)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    target = save(tmp_path / "target.png", stream.getvalue())
    assert answer("score", "segmentation", *pairs((masks["half"], target)))["giou"] == 100.0


def test_method_is_the_variant(tmp_path, masks):
    dim = save(tmp_path / "dim.png", halves(32) // 2)
    options = pairs((dim, masks["half"]))
    assert answer("score", "segmentation", *options)["giou"] == 100.0
    options += ["--method", "threshold_128"]
    found = answer("score", "segmentation", *options)
    assert (found["giou"], found["pairs"][0]["variant"]) == (0.0, "threshold_128")


@pytest.mark.parametrize("name", BAD_PICTURES)
def test_an_unreadable_mask_is_scored_zero(tmp_path, masks, name):
    content, reason = BAD_PICTURES[name]
    bad = save(tmp_path / name, content)
    found = answer("score", "segmentation", *pairs((bad, masks["half"])))
    assert (found["giou"], found["ciou"], found["n"], found["coverage"]) == (0.0, 0.0, 1, 0.0)
    assert found["valid_only"] == {"ciou": None, "giou": None}
    pair = found["pairs"][0]
    assert (pair["status"], pair["reason"]) == ("invalid", "unreadable")
    assert reason in pair["detail"]


def test_an_unreadable_mask_enters_the_union(tmp_path, masks):
    bad = save(tmp_path / "bad.png", b"")
    found = answer(
        "score", "segmentation", *pairs((masks["half"], masks["half"]), (bad, masks["half"]))
    )
    assert (found["giou"], found["ciou"], found["coverage"]) == (50.0, 50.0, 0.5)
    assert (found["valid_only"]["giou"], found["valid_only"]["ciou"]) == (100.0, 100.0)
    assert (found["n"], found["n_valid"]) == (2, 1)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (t, n)
        for t in ("segmentation", "depth", "normals")
        for n in BAD_PICTURES
        if t != "depth" or n != "cut.png"
    ],
)
def test_an_unreadable_target_is_one_line(tmp_path, masks, task, name):
    content, reason = BAD_PICTURES[name]
    bad = save(tmp_path / name, content)
    line = error("score", task, *pairs((masks["half"], bad)))
    assert str(bad) in line
    assert reason in line


def test_a_target_that_would_be_a_guess_is_one_line(tmp_path, masks):
    grey = save(tmp_path / "grey.png", np.tile(np.arange(64, dtype=np.uint8), (48, 1)))
    assert "two levels" in error("score", "segmentation", *pairs((masks["half"], grey)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "0 --prediction and 0 --target"),
        (["--prediction", "{half}"], "1 --prediction and 0 --target"),
        (["--target", "{half}"], "0 --prediction and 1 --target"),
        (["--prediction", "{half}", "--target", "none.png"], "no such file"),
        (["--prediction", "none.png", "--target", "{half}"], "no such file"),
        (
            ["--prediction", "{half}", "--target", "{half}", "--method", "cut"],
            "allowed: kmeans, kmeans_rgb, otsu",
        ),
    ],
)
def test_mistakes_are_one_line(masks, options, reason):
    assert reason in error("score", "segmentation", *(o.format(**masks) for o in options))


def test_people_read_aligned_lines(tmp_path, masks):
    bad = save(tmp_path / "bad.png", b"")
    done = call(
        "score", "segmentation", *pairs((masks["half"], masks["half"]), (bad, masks["half"]))
    )
    assert done.stdout.splitlines() == [
        "giou  50  %",
        "ciou  50  %",
        "",
        "n         2",
        "coverage  50 %",
        "",
        "pair  giou  ciou  status               prediction",
        f"1     100   100   ok                   {masks['half']}",
        f"2     0     0     invalid: unreadable  {bad}",
    ]


# Depth


@pytest.fixture
def ramp(tmp_path):
    return save(tmp_path / "ramp.png", ramp_mm())


def affine(tmp_path, slope, offset):
    """Write a 16-bit picture that is exactly affine in the ramp's depth."""
    levels = slope * ramp_mm().astype(np.int64) + offset
    return save(tmp_path / f"affine{slope}.png", levels.astype(np.uint16))


@pytest.mark.parametrize(
    ("slope", "offset", "polarity", "contradicts"),
    [(-6, 65000, "near_bright", 0.0), (6, 100, "near_dark", 100.0)],
)
def test_an_affine_code_of_depth_is_exact(tmp_path, ramp, slope, offset, polarity, contradicts):
    found = answer("score", "depth", *pairs((affine(tmp_path, slope, offset), ramp)))
    free, fit = found["fits"]["depth"], found["pairs"][0]["fits"]["depth"]
    assert free["absrel"] < 1e-4  # percent, so 1e-6 as a share
    assert (free["delta1"], free["polarity_contradicted"]) == (100.0, contradicts)
    assert free["rmse_m"] < 1e-5
    # Levels of 16 bits count as value / 257, and a millimetre is 1/1000 m.
    assert fit["scale"] == pytest.approx(0.257 / slope, rel=1e-4)
    assert fit["shift"] == pytest.approx(-offset / slope / 1000, rel=1e-3, abs=1e-3)
    assert (fit["polarity"], fit["parts"]["n_valid"]) == (polarity, 64 * 48)


@pytest.mark.parametrize(
    ("options", "low", "high"),
    [([], -math.inf, math.inf), (["--min-depth", "0.5", "--max-depth", "10"], 0.5, 10)],
)
def test_disparity_is_not_depth(tmp_path, ramp, options, low, high):
    inverse = 65535 * (1 / ramp_mm() - 1 / 10000) / (1 / 1000 - 1 / 10000)
    code = save(tmp_path / "inverse.png", inverse.round().astype(np.uint16))
    fits = answer("score", "depth", *pairs((code, ramp)), *options)["fits"]
    depth_m = ramp_mm().ravel() / 1000
    line = np.polyval(np.polyfit(1 / depth_m, depth_m, 1), 1 / depth_m).clip(low, high)
    expected = 100 * np.mean(np.abs(line - depth_m) / depth_m)
    assert fits["depth"]["absrel"] == pytest.approx(expected, rel=1e-4)
    assert fits["depth"]["absrel"] > 20  # PROTOCOLS DEP-1
    assert fits["disparity"]["absrel"] < 0.02


def test_signed_keeps_the_promise(tmp_path, ramp):
    options = pairs((affine(tmp_path, 6, 100), ramp))
    fits = answer("score", "depth", *options)["fits"]
    depth_m = ramp_mm() / 1000
    constant = 100 * np.mean(np.abs(depth_m.mean() - depth_m) / depth_m)
    assert fits["signed"]["absrel"] == pytest.approx(constant, rel=1e-5)
    fits = answer("score", "depth", *options, "--near", "dark")["fits"]
    assert fits["signed"]["absrel"] < 1e-4
    found = answer("score", "depth", *options, "--near", "unspecified")
    assert list(found["fits"]) == ["depth", "disparity", "monotone"]
    assert found["fits"]["depth"]["polarity_contradicted"] is None


@pytest.mark.parametrize(
    ("options", "n_valid"),
    [
        ([], 64 * 48),
        (["--min-depth", "2"], 57 * 48),
        (["--max-depth", "5"], 29 * 48),
        (["--min-depth", "2", "--max-depth", "5"], 22 * 48),
    ],
)
def test_caps(tmp_path, ramp, options, n_valid):
    # Column i is 1 + i / 7 m, rounded to the millimetre: below 2 m are 7, up to 5 m are 29.
    found = answer("score", "depth", *pairs((affine(tmp_path, -6, 65000), ramp)), *options)
    assert found["pairs"][0]["fits"]["depth"]["parts"]["n_valid"] == n_valid


@pytest.mark.parametrize(("scale", "metres"), [(1000, 1), (256, 1000 / 256), (500, 2)])
def test_scale_is_the_stored_value_of_a_metre(tmp_path, ramp, scale, metres):
    prediction = save(tmp_path / "flat.png", np.full((48, 64), 9, np.uint8))
    found = answer("score", "depth", *pairs((prediction, ramp)), "--scale", scale)
    expected = metres * (ramp_mm() / 1000).std()
    assert found["fits"]["depth"]["rmse_m"] == pytest.approx(expected, rel=1e-5)
    assert found["target_scale"] == scale


def test_zero_is_missing_and_so_is_what_is_not_finite(tmp_path):
    metres = ramp_mm() / np.float32(1000)
    metres[::2] = 0
    metres[1, 0], metres[1, 1], metres[1, 2] = np.nan, np.inf, -1
    target = save(tmp_path / "target.npy", metres)
    found = answer("score", "depth", *pairs((affine(tmp_path, -6, 65000), target)))
    assert found["pairs"][0]["fits"]["depth"]["parts"]["n_valid"] == 24 * 64 - 3
    assert found["fits"]["depth"]["absrel"] < 1e-4


def test_a_numpy_array_in_metres_is_the_png(tmp_path, ramp):
    target = save(tmp_path / "ramp.npy", ramp_mm() / 1000)
    prediction = affine(tmp_path, -6, 65000)
    first, second = (answer("score", "depth", *pairs((prediction, t))) for t in (ramp, target))
    assert first["fits"] == second["fits"]


def test_an_unreadable_depth_is_the_constant_fit(tmp_path, ramp):
    bad = save(tmp_path / "bad.png", b"")
    flat = save(tmp_path / "flat.png", np.full((48, 64), 9, np.uint8))
    found = answer("score", "depth", *pairs((bad, ramp)))
    constant = answer("score", "depth", *pairs((flat, ramp)))
    for fit, numbers in constant["fits"].items():
        for name in ("absrel", "delta1", "rmse_m"):
            assert found["fits"][fit][name] == numbers[name]
    assert (found["coverage"], found["pairs"][0]["status"]) == (0.0, "invalid")
    assert found["valid_only"]["fits"]["depth"]["absrel"] is None


def test_no_valid_pixel_is_no_ground_truth(tmp_path, ramp):
    empty = save(tmp_path / "empty.png", np.zeros((48, 64), np.uint16))
    prediction = affine(tmp_path, -6, 65000)
    found = answer("score", "depth", *pairs((prediction, ramp), (prediction, empty)))
    assert (found["n"], found["no_ground_truth"], found["coverage"]) == (1, 1, 1.0)
    assert [pair["status"] for pair in found["pairs"]] == ["ok", "no_ground_truth"]
    assert found["fits"]["depth"]["absrel"] < 1e-4
    found = answer("score", "depth", *pairs((prediction, empty)))
    assert (found["n"], found["coverage"]) == (0, None)
    assert found["fits"]["depth"]["absrel"] is None
    assert call("score", "depth", *pairs((prediction, empty))).exit_code == 0


DEPTH_TARGETS = {
    "8 bits.png": (halves(), "16 bits"),
    "colour.png": (np.zeros((48, 64, 3), np.uint16), "16 bits"),
    "cut.png": (encode_png(ramp_mm())[:-30], "truncated"),
    "three axes.npy": (np.zeros((4, 4, 3)), "(height, width)"),
    "text.npy": (np.array([["a", "b"]]), "not an array of numbers"),
    "pickle.npy": (b"\x93NUMPY" + b"\x01\x00\x80\x04", "not a .npy array"),
    "cut.npy": (array_bytes(np.zeros((48, 64)))[:-100], "not a .npy array"),
}


@pytest.mark.parametrize("name", DEPTH_TARGETS)
def test_depth_targets_that_are_none(tmp_path, ramp, name):
    content, reason = DEPTH_TARGETS[name]
    target = save(tmp_path / name, content)
    line = error("score", "depth", *pairs((ramp, target)))
    assert name in line
    assert reason in line


@pytest.mark.parametrize(
    "options",
    [
        ["--scale", "0"],
        ["--scale", "-1000"],
        ["--scale", "nan"],
        ["--min-depth", "-1"],
        ["--min-depth", "5", "--max-depth", "5"],
        ["--max-depth", "nan"],
    ],
)
def test_numbers_that_no_depth_has_are_one_line(ramp, options):
    assert options[0] in error("score", "depth", *pairs((ramp, ramp)), *options)


def test_people_read_a_line_for_each_fit(tmp_path, ramp):
    lines = call("score", "depth", *pairs((affine(tmp_path, -6, 65000), ramp))).stdout.splitlines()
    assert lines[0].split()[:3] == ["fit", "absrel", "%"]
    assert [line.split()[0] for line in lines[1:5]] == ["depth", "disparity", "monotone", "signed"]
    assert all("near_bright" in line for line in lines[1:5])
    assert lines[6:] == ["n         1", "status    ok", "coverage  100 %"]


# Counting


@pytest.fixture
def dots(tmp_path):
    source, marked = marked_pair()
    return save(tmp_path / "source.png", source), save(tmp_path / "marked.png", marked)


def test_counts_of_cnt_4():
    found = answer("score", "counting", *pairs((12, 10), (5, 5), (3, 0)))
    assert found["mae"] == pytest.approx(5 / 3)
    assert found["rmse"] == pytest.approx(math.sqrt(13 / 3))
    logs = [math.log(13 / 11), 0.0, math.log(4)]
    assert found["log_count_error"] == pytest.approx(sum(logs) / 3)
    assert [pair["mae"] for pair in found["pairs"]] == [2.0, 0.0, 3.0]
    assert found["n"] == 3


def test_a_marked_picture_is_decoded(dots):
    source, marked = dots
    found = answer("score", "counting", *pairs((marked, 5)), "--input", source)
    assert (found["mae"], found["pairs"][0]["count"]) == (2.0, 3)
    found = answer("score", "counting", *pairs((source, 0)), "--input", source)
    assert (found["mae"], found["pairs"][0]["count"]) == (0.0, 0)


@pytest.mark.parametrize("inputs", [1, 2])
def test_numbers_and_pictures_mix(dots, inputs):
    source, marked = dots
    options = [*pairs((7, 7), (marked, 3)), *["--input", source] * inputs]
    found = answer("score", "counting", *options)
    assert [pair["count"] for pair in found["pairs"]] == [7, 3]
    assert [pair["input"] for pair in found["pairs"]] == [None, str(source)]
    assert found["mae"] == 0.0


@pytest.mark.parametrize(("truth", "constant", "expected"), [(3, 5, 3.0), (1, 5, 4.0), (9, 2, 9.0)])
def test_a_failed_count_beats_neither_silence_nor_the_constant(
    tmp_path, dots, truth, constant, expected
):
    bad = save(tmp_path / "bad.png", b"")
    options = ["--input", dots[0], "--failure-constant", constant]
    found = answer("score", "counting", *pairs((bad, truth)), *options)
    assert (found["mae"], found["coverage"]) == (expected, 0.0)
    assert found["valid_only"]["mae"] is None
    assert found["settings"]["failure_constant"] == constant


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (pairs(("marked", 3)), "0 --input"),
        ([*pairs((3, 3), ("marked", 3)), *["--input", "source"] * 3], "3 --input"),
        (pairs(("-3", 3)), "neither a whole number"),
        (pairs(("3.5", 3)), "neither a whole number"),
        (pairs((3, "-1")), "--target -1"),
        (pairs((3, "2.0")), "--target 2.0"),
        (pairs((3, "9" * 30)), "--target 999"),
        ([*pairs(("marked", 3)), "--input", "nowhere.png"], "no such file"),
    ],
)
def test_counting_mistakes_are_one_line(dots, options, reason):
    known = dict(zip(("source", "marked"), dots, strict=True))
    assert reason in error("score", "counting", *(known.get(o, o) for o in options))


# Normals


def tilted(path, degrees, as_array=False):
    """Write normals turned about the vertical axis by an angle."""
    angle = math.radians(degrees)
    vectors = np.tile(np.float32([math.sin(angle), 0, math.cos(angle)]), (12, 16, 1))
    coded = ((vectors + 1) * 32767.5).round().astype(np.uint16)
    return save(path, vectors if as_array else coded)


@pytest.mark.parametrize("suffix", ["png", "npy"])
@pytest.mark.parametrize("degrees", [0, 10, 25, 90])
def test_the_angle_between_normals(tmp_path, suffix, degrees):
    target = tilted(tmp_path / f"target.{suffix}", 0, as_array=suffix == "npy")
    prediction = tilted(tmp_path / "prediction.png", degrees)
    found = answer("score", "normals", *pairs((prediction, target)))
    assert found["mean_angle"] == pytest.approx(degrees, abs=0.01)
    assert found["within_11"] == (100.0 if degrees < 11.25 else 0.0)


def test_black_is_no_true_normal(tmp_path):
    target = tilted(tmp_path / "target.png", 0)
    levels = images.decode_colour(target.read_bytes(), matte=(0, 0, 0)).copy()
    levels[:6] = 0
    save(target, levels)
    found = answer("score", "normals", *pairs((tilted(tmp_path / "p.png", 10), target)))
    assert found["pairs"][0]["parts"]["n_valid"] == 6 * 16


def test_normals_of_the_wrong_shape_are_one_line(tmp_path):
    target = save(tmp_path / "target.npy", np.zeros((4, 4)))
    assert "(height, width, 3)" in error(
        "score", "normals", *pairs((tilted(tmp_path / "p.png", 0), target))
    )
