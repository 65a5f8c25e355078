"""The blind rules on answers made by hand, and on pictures that nobody should send."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from images_by_hand import photograph

from gensight import failures
from gensight.datasets.photographs import load_photograph
from gensight.errors import SpecError
from gensight.failures import rules
from gensight.failures.evidence import SOURCES
from gensight.failures.thresholds import THRESHOLDS

SEPIA = np.array([[0.393, 0.349, 0.272], [0.769, 0.686, 0.534], [0.189, 0.168, 0.131]])


@pytest.fixture(scope="module")
def coffee():
    return load_photograph("coffee")


@pytest.fixture(scope="module")
def target(coffee):
    """Return a target with a shape of its own, as most have: the saucer."""
    mask = np.zeros(coffee.shape[:2], np.uint8)
    cv2.ellipse(mask, (290, 200), (140, 110), 0, 0, 360, 1, -1)
    return mask > 0


def grey_of(levels):
    return np.repeat(np.asarray(levels, np.uint8)[:, :, None], 3, axis=2)


def moved(rgb, columns):
    return np.roll(rgb, columns, axis=1)


def dotted(rgb, colour=(255, 0, 0)):
    answer = rgb.copy()
    for place in range(12):
        centre = (60 + 150 * (place % 4), 70 + 120 * (place // 4))
        cv2.circle(answer, centre, 4, colour, -1, cv2.LINE_AA)
    return answer


def depth_of(shape):
    """Return smooth shades with three things in front of them."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    grey = 40 + 150 * rows / shape[0]
    for x, y, radius, level in ((150, 120, 60, 240), (400, 200, 90, 160), (300, 330, 40, 90)):
        inside = (columns - x) ** 2 + (rows - y) ** 2 < radius**2
        grey = np.where(inside, level - 0.2 * np.hypot(columns - x, rows - y), grey)
    return grey.astype(np.uint8)


def named(source, answer, task):
    return failures.blind(source, answer, task).name


ANSWERS = {
    "mask": ("ok", lambda rgb, target: grey_of(target * 255)),
    "soft mask": (
        "ok",
        lambda rgb, target: cv2.GaussianBlur(grey_of(target * 255), (0, 0), 3),
    ),
    "inverted": ("inverted", lambda rgb, target: grey_of(~target * 255)),
    "copy": ("copy", lambda rgb, target: rgb),
    "sepia": ("filter", lambda rgb, target: np.clip(rgb @ SEPIA, 0, 255).astype(np.uint8)),
    "grey photograph": (
        "filter",
        lambda rgb, target: grey_of(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)),
    ),
    "overlay": (
        "wrong_format:overlay",
        lambda rgb, target: np.where(
            target[..., None], rgb // 2 + np.array([0, 0, 127], np.uint8), rgb
        ),
    ),
    "cut-out": (
        "wrong_format:cutout",
        lambda rgb, target: np.where(target[..., None], rgb, np.uint8(0)),
    ),
    "colour mask": (
        "wrong_format:colour_mask",
        lambda rgb, target: np.where(target[..., None], np.uint8([0, 200, 0]), np.uint8(0)),
    ),
    "outline": (
        "wrong_format:outline",
        lambda rgb, target: grey_of(
            cv2.morphologyEx(
                target.astype(np.uint8) * 255, cv2.MORPH_GRADIENT, np.ones((5, 5), np.uint8)
            )
        ),
    ),
    "shades": ("wrong_format:grey", lambda rgb, target: grey_of(depth_of(rgb.shape))),
    "one level": ("degenerate", lambda rgb, target: np.full_like(rgb, 255)),
    "noise": (
        "degenerate",
        lambda rgb, target: np.random.default_rng(0).integers(0, 256, (800, 1200, 3), np.uint8),
    ),
    "another picture": ("unrelated", lambda rgb, target: load_photograph("rocket")),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_segmentation(coffee, target, case):
    expected, make = ANSWERS[case]
    assert named(coffee, make(coffee, target), "segmentation") == expected


def test_a_drawing_of_an_input_without_edges_is_a_drawing(target):
    """A smooth input keeps no edge: its mask and its depth must not pass for pictures of it."""
    rows, columns = np.mgrid[: target.shape[0], : target.shape[1]]
    smooth = np.dstack([columns // 5, 100 + rows // 8, 180 - columns // 8]).astype(np.uint8)
    assert named(smooth, grey_of(target * 255), "segmentation") == "ok"
    assert named(smooth, grey_of(depth_of(target.shape)), "depth") == "ok"


def test_a_mask_beside_its_target_is_suspected():
    """A target with sharp borders in an otherwise plain picture: here the eye can tell."""
    source = np.full((288, 384, 3), 90, np.uint8)
    source += np.random.default_rng(0).integers(0, 12, source.shape, np.uint8)
    mask = np.zeros((288, 384), np.uint8)
    cv2.rectangle(mask, (120, 90), (240, 190), 1, -1)
    source[mask > 0] = (220, 200, 60)
    for x, y in ((320, 60), (50, 60), (60, 230), (330, 230), (180, 45)):
        cv2.circle(source, (x, y), 32, (30, 40, 160), -1)
    assert named(source, grey_of(mask * 255), "segmentation") == "ok"
    beside = moved(grey_of(mask * 255), 20)
    assert named(source, beside, "segmentation") == "drift:possible"


DRAWINGS = {
    "depth": ("ok", lambda rgb, target: grey_of(depth_of(rgb.shape))),
    "colour map": (
        "wrong_format:colormap",
        lambda rgb, target: cv2.cvtColor(
            cv2.applyColorMap(depth_of(rgb.shape), cv2.COLORMAP_TURBO), cv2.COLOR_BGR2RGB
        ),
    ),
    "mask": ("wrong_format:mask", lambda rgb, target: grey_of(target * 255)),
    "copy": ("copy", lambda rgb, target: rgb),
    "three levels": (
        "wrong_format:flat_regions",
        lambda rgb, target: grey_of(np.where(target, 200, 90) - 60 * (np.arange(600) < 250)),
    ),
    "flat": ("degenerate", lambda rgb, target: np.full_like(rgb, 128)),
}


@pytest.mark.parametrize("case", DRAWINGS)
def test_depth(coffee, target, case):
    expected, make = DRAWINGS[case]
    assert named(coffee, make(coffee, target), "depth") == expected


MARKED = {
    "dots": ("ok", lambda rgb, target: dotted(rgb)),
    "none": ("unmarked_copy", lambda rgb, target: rgb),
    "green dots": ("wrong_format:other", lambda rgb, target: dotted(rgb, (0, 255, 0))),
    "moved": ("drift:global", lambda rgb, target: moved(dotted(rgb), 12)),
    "slightly moved": ("ok", lambda rgb, target: moved(dotted(rgb), 2)),
    "sepia": ("filter", lambda rgb, target: np.clip(rgb @ SEPIA, 0, 255).astype(np.uint8)),
    "mask": ("wrong_format:mask", lambda rgb, target: grey_of(target * 255)),
    "dots on a page": (
        "wrong_format:other",
        lambda rgb, target: dotted(np.full_like(rgb, 255)),
    ),
    "another picture": ("unrelated", lambda rgb, target: dotted(load_photograph("rocket"))),
    "two panels": (
        "wrong_format:other",
        lambda rgb, target: np.hstack([cv2.resize(rgb, (300, 400)), np.zeros_like(rgb[:, :300])]),
    ),
}


@pytest.mark.parametrize("case", MARKED)
def test_counting(coffee, target, case):
    expected, make = MARKED[case]
    assert named(coffee, make(coffee, target), "counting") == expected


def test_another_returned_size_is_stretched(coffee, target):
    large = cv2.resize(grey_of(target * 255), (1024, 1024))
    assert named(coffee, large, "segmentation") == "ok"
    assert named(coffee, cv2.resize(dotted(coffee), (1200, 800)), "counting") == "ok"


def test_a_target_too_small_for_the_percentiles_is_no_flat_picture(coffee):
    tiny = np.zeros(coffee.shape[:2], np.uint8)
    tiny[200:220, 300:322] = 255
    verdict = failures.blind(coffee, grey_of(tiny), "segmentation")
    assert verdict.features["contrast"] == 0
    assert verdict.failure_class == "ok"


ODD_PICTURES = {
    "one pixel": np.full((1, 1, 3), 7, np.uint8),
    "a line": photograph(8, 2000)[:1],
    "black": np.zeros((40, 60, 3), np.uint8),
    "noise": np.random.default_rng(1).integers(0, 256, (50, 70, 3), np.uint8),
    "smooth": photograph(),
}


@pytest.mark.parametrize("source", ODD_PICTURES)
def test_odd_pictures_have_a_class_and_finite_features(source):
    """Flat, tiny and extreme pictures reach every feature; none may raise, nor be no number."""
    small = {"compare_side_px": 96}
    for answer in ODD_PICTURES.values():
        rgb = ODD_PICTURES[source]
        verdict = failures.blind(rgb, answer, "counting", small, every_feature=True)
        assert set(verdict.features) == set(SOURCES)
        finite = {k: np.isfinite(v) for k, v in verdict.features.items() if k != "anisotropy"}
        assert all(finite.values()), finite
        for task in failures.TASKS:
            assert failures.blind(rgb, answer, task, small).name in failures.blind_names()


def test_every_threshold_is_asked_for_by_a_rule_or_a_feature():
    """A threshold that nothing asks for would be a setting without effect."""
    folder = Path(rules.__file__).parent
    modules = [path for path in folder.glob("*.py") if path.stem != "thresholds"]
    words = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert [name for name in THRESHOLDS if f'"{name}"' not in words] == []


def test_settings_change_the_verdict(coffee):
    brighter = np.clip(coffee * 1.05, 0, 255).astype(np.uint8)
    assert failures.blind(coffee, brighter, "segmentation").failure_class == "copy"
    strict = {"copy_lab_difference": 0.5}
    assert failures.blind(coffee, brighter, "segmentation", strict).failure_class == "filter"


def test_unknown_tasks_and_thresholds_are_named(coffee):
    with pytest.raises(SpecError, match="'normals' has no failure classes; allowed: counting"):
        failures.blind(coffee, coffee, "normals")
    with pytest.raises(SpecError, match="'copy_sim' is not known \\(did you mean 'copy_ssim'"):
        failures.blind(coffee, coffee, "depth", {"copy_sim": 0.5})


def test_equal_pictures_give_equal_verdicts(coffee, target):
    first, second = (failures.blind(coffee, grey_of(target * 255), "depth") for _ in range(2))
    assert first == second
