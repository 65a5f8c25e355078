"""Mask extractor: thresholds against OpenCV, scikit-image and brute force; the contrast rule."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from images_by_hand import GREY_ALPHA, RGB, photograph, png, saved

from gensight.extractors import Answer
from gensight.extractors import mask as mask_extractor
from gensight.extractors._histogram import histogram, percentile, two_class_threshold
from gensight.extractors._two_colours import split_colours
from gensight.images import decode_mask, encode_png


def read(picture, variant="otsu", width=64, height=48, **parameters):
    data = picture if isinstance(picture, bytes) else encode_png(picture)
    answer = Answer(image=data, source_width=width, source_height=height)
    parameters = {"variants": [variant], **parameters}
    (reading,) = mask_extractor.extract(answer, parameters)
    assert reading.status == "ok"
    return reading


def pixels(reading):
    return decode_mask(reading.fields["mask"])


def two_humps(seed, levels=(60, 180), spread=25, share=0.4):
    rng = np.random.default_rng(seed)
    bright = rng.random((48, 64)) < share
    noise = rng.normal(0, spread, bright.shape)
    return np.clip(np.where(bright, levels[1], levels[0]) + noise, 0, 255).astype(np.uint8)


GREYS = {
    "two humps": two_humps(0),
    "few bright": two_humps(1, share=0.05),
    "close humps": two_humps(2, (100, 140), 10),
    "flat noise": np.random.default_rng(3).integers(0, 256, (48, 64)).astype(np.uint8),
    "photograph": photograph()[:, :, 0],
    "three levels": np.repeat(np.array([0, 100, 255], np.uint8), [1000, 500, 1572]).reshape(48, 64),
}


@pytest.mark.parametrize("name", GREYS)
def test_otsu_agrees_with_opencv_and_scikit_image(name):
    from skimage.filters import threshold_otsu

    grey = GREYS[name]
    result = pixels(read(grey))
    by_opencv = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1] > 0
    assert (result == by_opencv).all()
    assert (result == (grey > threshold_otsu(grey))).all()


@pytest.mark.parametrize("name", GREYS)
def test_kmeans_is_the_exact_optimum_in_one_dimension(name):
    grey = GREYS[name].astype(float)

    def cost(level):
        parts = (grey[grey <= level], grey[grey > level])
        return sum(((part - part.mean()) ** 2).sum() for part in parts if part.size)

    best = min(cost(level) for level in range(256))
    reading = read(GREYS[name], "kmeans")
    assert cost(reading.fields["facts"]["threshold"]) == pytest.approx(best, rel=1e-12)
    assert reading.fields["mask"] == read(GREYS[name]).fields["mask"]


@pytest.mark.parametrize(("variant", "threshold"), [("threshold_128", 128), ("threshold_225", 225)])
def test_fixed_thresholds_are_exclusive(variant, threshold):
    ramp = np.arange(256, dtype=np.uint8).reshape(4, 64)
    reading = read(ramp, variant)
    assert (pixels(reading) == (ramp > threshold)).all()
    assert reading.fields["facts"] == {
        "threshold": threshold,
        "foreground_share": (255 - threshold) / 256,
        "contrast": 251,  # from level 2 to level 253
    }
    sixteen = ramp.astype(np.uint16) * 257
    sixteen[0, 0] = threshold * 257 + 1
    assert pixels(read(sixteen, variant))[0, 0]
    assert (pixels(read(sixteen, variant)).ravel()[1:] == (ramp > threshold).ravel()[1:]).all()


# PROTOCOLS "Decided" overrules PROTOCOLS SEG-5 on two neighbouring levels: no contrast, no split.
FLAT = {
    "black": (np.full((48, 64), 0, np.uint8), False),
    "grey": (np.full((48, 64), 128, np.uint8), True),
    "127": (np.full((48, 64), 127, np.uint8), False),
    "white": (np.full((48, 64), 255, np.uint8), True),
    "levels 0 and 1": (np.indices((48, 64))[1].astype(np.uint8) % 2, False),
    "levels 254 and 255": (np.indices((48, 64))[1].astype(np.uint8) % 2 + 254, True),
    "white of 16 bits": (np.full((48, 64), 65535, np.uint16), True),
    "just above 127 of 16 bits": (np.full((48, 64), 127 * 257 + 1, np.uint16), True),
    "127 of 16 bits": (np.full((48, 64), 127 * 257, np.uint16), False),
}


@pytest.mark.parametrize("variant", ["otsu", "kmeans", "kmeans_rgb"])
@pytest.mark.parametrize("name", FLAT)
def test_without_contrast_the_mask_is_grey_above_127(name, variant):
    picture, foreground = FLAT[name]
    reading = read(picture, variant)
    assert reading.fields["degenerate_output"] is True
    assert (pixels(reading) == foreground).all()


def split(low, high):
    """Return half of one level, half of another."""
    return np.repeat(np.array([[low, high]], np.uint8), 32, axis=1).repeat(48, axis=0)


@pytest.mark.parametrize(("difference", "degenerate"), [(15, True), (16, False), (17, False)])
def test_the_contrast_floor_is_sixteen(difference, degenerate):
    reading = read(split(40, 40 + difference))
    assert reading.fields["degenerate_output"] is degenerate
    assert pixels(reading).mean() == (0 if degenerate else 0.5)


def test_contrast_is_measured_at_the_work_size():
    """A fine chequerboard of large size averages out: at work size there is nothing to split."""
    chequer = np.indices((1536, 2048)).sum(0).astype(np.uint8) % 2 * 40
    assert read(chequer).fields["degenerate_output"] is True
    assert read(chequer[:768, :1024]).fields["degenerate_output"] is False


@pytest.mark.parametrize(("background", "target"), [(0, 255), (0, 120), (130, 255), (255, 130)])
def test_a_small_target_is_split_like_any_other(background, target):
    """Below 1 % of the picture p99 - p1 is 0 however well the target is painted."""
    picture = np.full((768, 1024), background, np.uint8)
    picture[100:140, 100:140] = target  # 0.2 % of the picture
    reading = read(picture)
    assert reading.fields["degenerate_output"] is False
    assert (pixels(reading) == (picture == max(background, target))).all()


def test_specks_are_no_target():
    """Nothing is there to split where less than 0.05 % of the picture stands out."""
    picture = np.full((768, 1024), 140, np.uint8)
    picture[100:115, 100:115] = 255
    reading = read(picture)
    assert reading.fields["degenerate_output"] is True
    assert pixels(reading).all()


def test_the_mask_keeps_the_returned_size_and_polarity():
    picture = np.zeros((30, 50), np.uint8)
    picture[5:20, 10:30] = 250
    result = pixels(read(picture))
    assert result.shape == (30, 50)
    assert (result == (picture > 0)).all()
    assert (pixels(read(255 - picture)) == (picture == 0)).all()


def test_transparency_is_black():
    row = [255, 255] * 20 + [255, 0] * 20
    result = pixels(read(png((40, 10), 8, GREY_ALPHA, [row] * 10)))
    assert result[:, :20].all()
    assert not result[:, 20:].any()


def test_colour_counts_by_its_luma():
    """Pure red (76) and pure green (150) lie on two sides of the split, whatever their channels."""
    row = [255, 0, 0] * 8 + [0, 255, 0] * 8
    result = pixels(read(png((16, 12), 8, RGB, [row] * 12)))
    assert (result == (np.arange(16) >= 8)).all()


def test_jpeg_of_a_soft_mask_is_split_in_the_middle():
    distance = 150 - np.hypot(*(np.indices((480, 640)) - np.array([240, 320])[:, None, None]))
    soft = (255 / (1 + np.exp(-distance / 2))).round().astype(np.uint8)
    result = pixels(read(saved(soft, "JPEG", quality=85)))
    assert abs(int(result.sum()) - int((distance > 0).sum())) / (distance > 0).sum() < 0.005


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(60, 70), (61, 70), (1, 5), (2, 1), (1, 1)])
def test_histogram_counts_every_level(dtype, shape):
    highest = np.iinfo(dtype).max
    grey = np.random.default_rng(6).integers(0, highest, shape, dtype, endpoint=True)
    counts = histogram(grey)
    assert len(counts) == highest + 1
    assert (counts == np.bincount(grey.ravel(), minlength=highest + 1)).all()


def test_percentiles_are_levels_of_the_picture():
    grey = GREYS["photograph"]
    for percent in (0, 1, 37.5, 50, 99, 100):
        expected = np.percentile(grey, percent, method="inverted_cdf")
        assert percentile(histogram(grey), percent) == expected


def test_a_single_level_has_no_split():
    counts = np.zeros(256, np.int64)
    counts[77] = 5
    assert two_class_threshold(counts) == 77


@pytest.mark.parametrize("name", GREYS)
def test_two_means_of_colours_equal_otsu_on_grey_pictures(name):
    reading = read(GREYS[name], "kmeans_rgb")
    assert reading.fields["mask"] == read(GREYS[name]).fields["mask"]


def cost_of(colours, foreground):
    """Return the summed squared distance of colours (n, 3) to the mean of their part."""
    parts = (colours[foreground], colours[~foreground])
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts if len(part))


@pytest.mark.parametrize("seed", range(12))
def test_two_means_of_colours_end_in_the_optimum_of_clustered_colours(seed):
    """All splits of nine colours, two of which lie far apart with others around them."""
    rng = np.random.default_rng(seed)
    middles = np.array([(60, 90, 200), (200, 120, 40)])[rng.integers(0, 2, 9)]
    palette = np.clip(middles + rng.integers(-45, 46, (9, 3)), 0, 255).astype(np.uint8)
    index = rng.integers(0, 9, (12, 15))
    picture = palette[index]
    found = split_colours(picture).foreground
    colours = picture.reshape(-1, 3).astype(float)
    best = min(
        cost_of(colours, (bits >> index.ravel() & 1).astype(bool)) for bits in range(1, 2**8)
    )
    assert cost_of(colours, found.ravel()) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_two_means_of_colours_have_settled(seed):
    """Every pixel is nearer to the mean of its own part: Lloyd's iteration has nothing left."""
    picture = photograph(96, 128, seed)
    found = split_colours(picture)
    colours = picture.reshape(-1, 3).astype(float)
    foreground = found.foreground.ravel()
    bright, dark = colours[foreground].mean(axis=0), colours[~foreground].mean(axis=0)
    np.testing.assert_allclose([found.bright, found.dark], [bright, dark], rtol=1e-12)
    nearer = ((colours - bright) ** 2).sum(1) < ((colours - dark) ** 2).sum(1)
    assert (nearer == foreground).all()
    luma = np.array([0.299, 0.587, 0.114])
    assert bright @ luma >= dark @ luma


def test_two_means_of_colours_can_differ_from_otsu():
    """Saturated blue is dark in grey, yet nearer to cyan than to brown: Table 5 needs this much."""
    row = [[0, 0, 255]] * 8 + [[60, 40, 0]] * 30 + [[0, 200, 255]] * 10
    picture = np.array([row] * 12, np.uint8)
    otsu, colours = pixels(read(picture)), pixels(read(picture, "kmeans_rgb"))
    assert (otsu[0] == np.repeat([False, False, True], [8, 30, 10])).all()
    assert (colours[0] == np.repeat([True, False, True], [8, 30, 10])).all()


def test_colours_and_grey_are_decoded_once_and_agree():
    """The grey rows do not change when a row that needs colours stands beside them."""
    data = encode_png(photograph())
    answer = Answer(image=data, source_width=64, source_height=48)
    alone = mask_extractor.extract(answer, {"variants": ["otsu", "threshold_128"]})
    beside = mask_extractor.extract(answer, {"variants": ["otsu", "threshold_128", "kmeans_rgb"]})
    assert [reading.fields for reading in beside[:2]] == [reading.fields for reading in alone]


def test_one_colour_has_no_foreground():
    assert not split_colours(np.full((4, 5, 3), 200, np.uint8)).foreground.any()
