"""Features of the blind classifier against scikit-image, other formulas and known moves."""

import cv2
import numpy as np
import pytest
from images_by_hand import photograph
from skimage.color import rgb2lab
from skimage.metrics import structural_similarity

from gensight.datasets.photographs import load_photograph
from gensight.failures import likeness, marks, pictures, tones
from gensight.failures.evidence import GROUPS, SOURCES, Evidence
from gensight.failures.pictures import Pair
from gensight.failures.thresholds import THRESHOLDS


@pytest.fixture(scope="module")
def coffee():
    return load_photograph("coffee")


def pair_of(source, answer):
    return Pair(source, answer, THRESHOLDS)


def grey_of(levels):
    """Return an RGB picture of these grey levels (H, W)."""
    return np.repeat(np.asarray(levels, np.uint8)[:, :, None], 3, axis=2)


def warped(rgb, *, right=0.0, down=0.0, scale=1.0, turn_deg=0.0):
    """Return a picture moved about its centre, in shares of its width; the border is mirrored."""
    height, width = rgb.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), turn_deg, scale)
    matrix[:, 2] += right * width, down * width
    return cv2.warpAffine(rgb, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


@pytest.mark.parametrize("seed", [0, 1])
def test_similarity_is_that_of_scikit_image(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 256, (60, 80)).astype(np.uint8)
    second = (first * 0.7 + rng.normal(20, 10, first.shape)).clip(0, 255).astype(np.uint8)
    expected = structural_similarity(
        first, second, gaussian_weights=True, use_sample_covariance=False, data_range=255
    )
    found = pictures.mean_within(pictures.ssim_map(first, second))
    assert found == pytest.approx(expected, abs=1e-5)


def test_lab_is_that_of_scikit_image():
    rgb = photograph(seed=3)
    np.testing.assert_allclose(pictures.lab(rgb), rgb2lab(rgb), atol=0.5)


def test_otsu_share_is_the_best_over_all_cuts():
    rng = np.random.default_rng(0)
    levels = np.concatenate([rng.normal(60, 15, 4000), rng.normal(190, 25, 2000)]).clip(0, 255)
    counts = np.bincount(levels.astype(int), minlength=256)
    values = np.repeat(np.arange(256), counts)
    shares = []
    for cut in range(255):
        low, high = values[values <= cut], values[values > cut]
        if len(low) and len(high):
            between = len(low) * len(high) / len(values) ** 2 * (high.mean() - low.mean()) ** 2
            shares.append(between / values.var())
    assert tones.otsu_share(counts) == pytest.approx(max(shares))
    assert tones.otsu_share(np.bincount([7, 7], minlength=256)) == 0


def test_correlation_is_that_of_numpy():
    one, two = np.random.default_rng(0).random((2, 9, 9))
    assert tones.correlation(one, two) == pytest.approx(np.corrcoef(one.ravel(), two.ravel())[0, 1])
    flat = np.ones((3, 3))
    assert tones.correlation(flat, 2 * flat) == 1
    assert tones.correlation(flat, one[:3, :3]) == 0


def test_noise_has_no_neighbours():
    noise = np.random.default_rng(0).integers(0, 256, (288, 384)).astype(np.uint8)
    found = tones.autocorrelation(pair_of(grey_of(noise), grey_of(noise)))
    assert abs(found["autocorrelation"]) < 0.05


def test_chroma_is_a_percentile():
    rgb = np.zeros((100, 384, 3), np.uint8)
    rgb[:, 24:, 0] = 90
    assert tones.chroma(pair_of(rgb, rgb))["chroma"] == 90
    rgb[:, 12:] = 0
    assert tones.chroma(pair_of(rgb, rgb))["chroma"] == 0


def test_strokes_holes_and_letters():
    page = np.zeros((288, 384), np.uint8)
    cv2.rectangle(page, (50, 50), (250, 200), 255, 4)
    ring = tones.shapes(pair_of(grey_of(page), grey_of(page)))
    assert ring["stroke_px"] < 3
    assert ring["filled_gain"] > 5
    assert ring["border_white_share"] == 0
    filled = np.zeros((288, 384), np.uint8)
    filled[50:200, 50:250] = 255
    solid = tones.shapes(pair_of(grey_of(filled), grey_of(filled)))
    assert solid["stroke_px"] == pytest.approx(200 * 150 / (2 * (199 + 149)))
    assert solid["filled_gain"] == 1
    assert solid["white_share"] == pytest.approx(200 * 150 / (288 * 384))
    text = np.full((288, 384), 255, np.uint8)
    cv2.putText(text, "nine words", (20, 150), cv2.FONT_HERSHEY_SIMPLEX, 1, 0, 2)
    letters = tones.shapes(pair_of(grey_of(text), grey_of(text)))
    assert letters["dark_parts"] >= 8
    assert letters["dark_stroke_px"] < 3


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (2, 2), (3, 3), (20, 8)])
def test_colours_are_counted_down_to_five_percent(n, expected):
    rgb = np.zeros((288, 384, 3), np.uint8)
    for place, column in enumerate(np.array_split(np.arange(384), n)):
        rgb[:, column] = (place * 12, 255 - place * 12, (place * 97) % 256)
    assert tones.colours(pair_of(rgb, rgb))["colours"] == expected


def test_a_small_coloured_target_has_its_chroma():
    rgb = np.zeros((288, 384, 3), np.uint8)
    rgb[100:120, 100:130] = (200, 20, 20)
    found = tones.colours(pair_of(rgb, rgb))
    assert found["colours"] == 1
    assert found["colour_chroma"] == 180


def test_distance_to_colour_maps():
    from matplotlib import colormaps

    ramp = np.tile(np.linspace(0, 255, 384).astype(np.uint8), (288, 1))
    for name in ("turbo", "viridis"):
        rgb = (255 * colormaps[name](ramp)[..., :3]).round().astype(np.uint8)
        assert tones.colormap(pair_of(rgb, rgb))["colormap_distance"] < 1
    found = tones.colormap(pair_of(grey_of(ramp), grey_of(ramp)))
    assert found["colormap_distance"] > 30
    assert found["colour_bins"] <= 16


def test_a_function_of_colour_is_a_filter(coffee):
    curve = (255 * (np.arange(256) / 255) ** 1.7).astype(np.uint8)
    found = Evidence(pair_of(coffee, curve[coffee][:, :, ::-1].copy()))
    assert found["filter_fit"] > 0.95
    assert found["affine_fit"] > 0.9
    assert found["residual_share"] < 0.01
    other = Evidence(pair_of(coffee, warped(coffee, turn_deg=180)))
    assert other["filter_fit"] < 0.6


def test_what_departs_from_a_filter_is_found_through_a_filter(coffee):
    target = np.zeros(coffee.shape[:2], bool)
    target[100:200, 150:300] = True
    darker = (coffee * 0.5).astype(np.uint8)
    tinted = darker.copy()
    tinted[target] = tinted[target] // 2 + np.array([0, 110, 0], np.uint8)
    found = likeness.departure(pair_of(coffee, tinted))
    assert found["residual_share"] == pytest.approx(target.mean(), rel=0.1)
    assert found["residual_compactness"] > 0.95
    assert found["residual_kept_share"] < 0.1
    assert found["residual_hue"] > 15
    assert found["residual_outside"] < 3
    spotlit = darker.copy()
    spotlit[target] = coffee[target]
    assert likeness.departure(pair_of(coffee, spotlit))["residual_kept_share"] > 0.95


def test_a_filter_that_saturates_has_no_region_of_its_own(coffee):
    brighter = np.clip(coffee * 1.3, 0, 255).astype(np.uint8)
    assert likeness.departure(pair_of(coffee, brighter))["residual_share"] < 0.01


def test_a_cut_out_keeps_what_it_shows(coffee):
    target = np.zeros(coffee.shape[:2], bool)
    target[100:250, 150:400] = True
    cut = np.where(target[:, :, None], coffee, 0).astype(np.uint8)
    found = likeness.cutout(pair_of(coffee, cut))
    assert found["kept_share"] > 0.9
    assert found["cutout_ssim"] > 0.95
    assert found["rest_flat_share"] < 0.7
    mask = likeness.cutout(pair_of(coffee, grey_of(target * 255)))
    assert mask["kept_share"] < 0.5
    assert mask["rest_flat_share"] > 0.95


@pytest.mark.parametrize("side", ["left", "below"])
def test_a_panel_is_found_in_its_half(coffee, side):
    height, width = coffee.shape[:2]
    answer = np.zeros_like(coffee)
    if side == "left":
        answer[:, : width // 2] = cv2.resize(coffee, (width // 2, height))
    else:
        answer[height // 2 :] = cv2.resize(coffee, (width, height - height // 2))
    assert likeness.panels(pair_of(coffee, answer))["panel_ssim"] > 0.8
    assert likeness.panels(pair_of(coffee, coffee))["panel_ssim"] < 0.5


def test_threads_change_no_feature(coffee):
    answer = warped(coffee, right=0.02)
    before = cv2.getNumThreads()
    measured = []
    try:
        for threads in (1, 2):
            cv2.setNumThreads(threads)
            evidence = Evidence(pair_of(coffee, answer))
            evidence.measure_all()
            measured.append(evidence.measured)
    finally:
        cv2.setNumThreads(before)
    assert measured[0] == measured[1]


def marked(rgb, places, colour, radius=6):
    answer = rgb.copy()
    for place in places:
        cv2.circle(answer, place, radius, colour, -1, cv2.LINE_AA)
    return answer


def test_dots_strokes_and_other_dots(coffee):
    canvas = np.full((768, 1024, 3), 130, np.uint8)
    places = [(100 + 90 * i, 200) for i in range(8)]
    red = marks.marks(pair_of(canvas, marked(canvas, places, (255, 0, 0))))
    assert (red["dots"], red["other_dots"], red["strokes"]) == (8, 0, 0)
    assert red["ssim_off_marks"] > 0.999
    assert red["changed_share"] == 0
    green = marks.marks(pair_of(canvas, marked(canvas, places, (0, 255, 0))))
    assert (green["dots"], green["other_dots"], green["strokes"]) == (0, 8, 0)
    framed = canvas.copy()
    cv2.rectangle(framed, (300, 300), (500, 450), (255, 0, 0), 3)
    assert marks.marks(pair_of(canvas, framed))["strokes"] == 1
    touching = marked(canvas, [(100, 100), (110, 100), (105, 108)], (255, 0, 0))
    assert marks.marks(pair_of(canvas, touching))["strokes"] == 0


def test_groups_name_what_they_return(coffee):
    pair = pair_of(coffee, warped(coffee, right=0.01))
    for group, names in GROUPS.items():
        assert set(group(pair)) == set(names), group.__name__
    assert len(SOURCES) == sum(map(len, GROUPS.values()))


def test_a_feature_is_measured_when_it_is_asked_for(coffee):
    evidence = Evidence(pair_of(coffee, coffee))
    assert evidence.measured == {}
    assert evidence["layout"] == pytest.approx(1)
    assert list(evidence.measured) == ["layout"]
    evidence.measure_all()
    assert set(evidence.measured) == set(SOURCES)
    assert all(isinstance(value, float) for value in evidence.measured.values())


def test_pictures_must_be_colour_pictures():
    rgb = photograph()
    for wrong in (rgb[..., 0], rgb.astype(np.float32), rgb[:0]):
        with pytest.raises(ValueError, match="uint8"):
            Pair(wrong, rgb, THRESHOLDS)
        with pytest.raises(ValueError, match="output"):
            Pair(rgb, wrong, THRESHOLDS)
