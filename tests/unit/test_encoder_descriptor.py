"""The descriptor: hand values of its three parts, and texts that stand for own drawings."""

from pathlib import Path

import numpy as np
import pytest
from skimage import data

from gensight import encoders
from gensight.encoders.descriptor import LAB_RANGES, label_in
from gensight.errors import GensightError, SpecError
from gensight.images import resize_picture
from gensight.pixels.lab import lab_of

TEMPLATE = "a pixel art icon depicting {label}."


def opened(**settings):
    return encoders.open_encoder("descriptor", settings, Path())


def only(part):
    """Return the descriptor with one of its parts, the others weighing nothing."""
    shares = {"gradients": (1.0, 0.0), "thumbnail": (0.0, 1.0), "colours": (0.0, 0.0)}[part]
    return opened(assumed_gradient_share=shares[0], assumed_thumbnail_share=shares[1])


def flat(*colour, side=32):
    return np.full((side, side, 3), colour, np.uint8)


def stripes(axis, one=(0, 0, 0), other=(255, 255, 255), side=64, width=8):
    """Return stripes that change along an axis (0: from top to bottom)."""
    place = np.arange(side) // width % 2
    grid = np.broadcast_to(place if axis else place[:, None], (side, side))
    return np.array([one, other], np.uint8)[grid]


def noise(count, side=48):
    random = np.random.default_rng(5)
    return [random.integers(0, 256, (side, side + n, 3), np.uint8) for n in range(count)]


def test_vectors_are_of_unit_length_whatever_is_embedded_with_them():
    encoder, shown = opened(), [*noise(5), flat(0, 0, 0), flat(119, 119, 119)]
    together = encoder.pictures(shown)
    assert (together.shape, together.dtype) == ((7, encoder.dimensions), np.float32)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    for picture, vector in zip(shown, together, strict=True):
        np.testing.assert_array_equal(encoder.pictures([picture])[0], vector)
    assert encoder.pictures([]).shape == (0, encoder.dimensions)


@pytest.mark.parametrize(
    "settings",
    [
        {"assumed_side_px": 32, "assumed_cell_px": 4},
        {"assumed_orientations": 5, "assumed_thumbnail_px": 3, "assumed_bins": 2},
        {"assumed_side_px": 48, "assumed_cell_px": 24},
    ],
)
def test_dimensions_follow_from_the_settings(settings):
    encoder = opened(**settings)
    assert encoder.pictures(noise(1)).shape == (1, encoder.dimensions)


def test_the_cosine_of_black_and_white_by_hand():
    """Gradients: none. Thumbnails: opposite, a quarter. Colours: nothing shared, a quarter."""
    black, white, dark = opened().pictures([flat(0, 0, 0), flat(255, 255, 255), flat(1, 1, 1)])
    assert black @ white == pytest.approx(-0.25 / 0.5, abs=1e-4)
    # Both black to a class of colours, and to a thumbnail about mid grey.
    assert black @ dark == pytest.approx(1, abs=1e-4)


def test_gradients_know_directions_and_not_colours():
    encoder = only("gradients")
    across, down, tinted = encoder.pictures(
        [stripes(1), stripes(0), stripes(1, (20, 40, 160), (240, 220, 90))]
    )
    assert across @ down == pytest.approx(0, abs=1e-6)
    assert across @ tinted == pytest.approx(1, abs=1e-6)


def test_thumbnails_know_where_colours_are():
    """Half black, half white: mirrored it is the opposite, by a quarter turn unrelated."""
    half = np.zeros((64, 64, 3), np.uint8)
    half[:, 32:] = 255
    one, turned, quarter = only("thumbnail").pictures(
        [half, half[:, ::-1].copy(), half.transpose(1, 0, 2).copy()]
    )
    assert one @ turned == pytest.approx(-1, abs=1e-4)
    assert one @ quarter == pytest.approx(0, abs=1e-4)


def test_colours_know_how_much_and_not_where():
    """Square roots of shares: of 1/4 and 3/4 against 1/2 and 1/2, (sqrt(1/8) + sqrt(3/8))."""
    halves, quarter = flat(255, 0, 0, side=64), flat(255, 0, 0, side=64)
    halves[:32], quarter[:16] = (0, 0, 255), (0, 0, 255)
    one, moved, other = only("colours").pictures([halves, halves[::-1].copy(), quarter])
    assert one @ moved == pytest.approx(1, abs=1e-6)
    assert one @ other == pytest.approx(np.sqrt(1 / 8) + np.sqrt(3 / 8), abs=1e-6)


def test_colours_are_counted_as_a_literal_loop_counts_them():
    (picture,) = noise(1, side=64)
    counts = np.zeros((6, 6, 6))
    for pixel in lab_of(picture[:, :64]).reshape(-1, 3):
        place = [
            min(5, int((value - low) / (high - low) * 6))
            for value, (low, high) in zip(pixel, LAB_RANGES, strict=True)
        ]
        counts[tuple(place)] += 1
    (made,) = only("colours").pictures([picture])
    np.testing.assert_allclose(made[-216:], np.sqrt(counts.ravel() / 64**2), atol=1e-6)


def test_every_colour_of_a_screen_is_counted():
    levels = np.array([0, 64, 128, 192, 255], np.uint8)
    colours = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    lab = lab_of(colours)
    low, high = np.array(LAB_RANGES).T
    assert (lab >= low - 1e-9).all() and (lab <= high + 1e-9).all()


def test_a_grid_of_a_photograph_finds_its_photograph():
    sources = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket()]
    sources = [resize_picture(np.ascontiguousarray(s[:400, :400]), 256, 256) for s in sources]
    encoder = opened()
    gallery = encoder.pictures(sources)
    for size in (16, 32, 64):
        grids = [resize_picture(source, size, size) for source in sources]
        shown = [encoders.enlarged(grid, encoder.settings) for grid in grids]
        cosines = encoder.pictures(shown) @ gallery.T
        assert cosines.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_a_text_has_the_vector_of_the_second_drawing():
    from gensight.datasets.icons import LABELS, draw

    encoder, labels = opened(), [LABELS[0], LABELS[-1]]
    made = encoder.texts([TEMPLATE.format(label=label) for label in labels])
    second = [draw(label, "second", 256, (255, 255, 255)) for label in labels]
    np.testing.assert_array_equal(made, encoder.pictures(second))
    first = encoder.pictures([draw(label, "first", 256, (255, 255, 255)) for label in labels])
    assert (first * made).sum(axis=1).max() < 0.99


def test_first_drawings_are_nearer_to_their_own_second_ones_than_to_others():
    from gensight.datasets.icons import LABELS, draw

    encoder, labels = opened(), LABELS[:12]
    first = encoder.pictures([draw(label, "first", 64, (255, 255, 255)) for label in labels])
    cosines = first @ encoder.texts([TEMPLATE.format(label=label) for label in labels]).T
    others = cosines[~np.eye(len(labels), dtype=bool)]
    assert np.diagonal(cosines).mean() > others.mean() + 0.03


def test_a_concept_without_a_drawing_is_refused():
    from gensight.datasets.icons import LABELS

    typo = LABELS[0][:-1] + "q"
    with pytest.raises(GensightError, match=rf"no own drawing of '{typo}' \(did you mean '"):
        opened().texts([TEMPLATE.format(label=typo)])
    # A longer label that holds a drawn one is another concept.
    with pytest.raises(GensightError, match=rf"no own drawing of 'toy {LABELS[0]}'"):
        opened().texts([TEMPLATE.format(label=f"toy {LABELS[0]}")])


def test_the_label_of_a_text_is_what_the_template_leaves():
    assert label_in("an icon of fire truck!", "an icon of {label}!") == "fire truck"
    assert label_in("cat", "{label}") == "cat"
    for text in ("an icon of !", "icon of cat!", "an icon of cat", ""):
        with pytest.raises(GensightError, match=r"is not .an icon of \{label\}!.; take"):
            label_in(text, "an icon of {label}!")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"assumed_gradient_share": 0.9, "assumed_thumbnail_share": 0.2}, "at most 1 together"),
        ({"assumed_gradient_share": -0.1}, "at least 0"),
        ({"assumed_cell_px": 7}, "cells of 7 px do not fill a side of 64 px"),
        ({"assumed_cell_px": 64}, "at least 2 times"),
        ({"template": "an icon"}, r"settings\.template: it has to hold \{label\} once"),
        ({"assumed_upscaler": "lanczos"}, r"'lanczos' is not known; allowed: bicubic, nearest"),
        ({"model": "x"}, r"settings: 'model' is not known"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(SpecError, match=rf"^encoder descriptor: [^\n]*{message}[^\n]*$"):
        opened(**settings)


@pytest.mark.parametrize(
    "wrong", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3))]
)
def test_another_form_of_picture_is_refused(wrong):
    with pytest.raises(ValueError, match=r"picture 1 is \w+ \(4, 4.*\), not uint8 \(H, W, 3\)"):
        opened().pictures([flat(0, 0, 0), wrong])
