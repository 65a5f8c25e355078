"""The drawings of the icons: the raster against a literal reference, and what they all keep."""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.datasets import icons
from gensight.datasets.icons import drawings
from gensight.datasets.icons.drawings import RENDITIONS, Frame, draw, paint
from gensight.datasets.icons.raster import SAMPLES, enlarge, fill, inside_window, reduce
from gensight.datasets.icons.shapes import SIDE, UNITS, read_shape
from gensight.errors import SpecError

FOLDER = Path(drawings.__file__).parent
SHEETS = {name: yaml.safe_load((FOLDER / f"{name}.yaml").read_text()) for name in RENDITIONS}
BACKGROUND = (250, 240, 230)
DIGEST = "5c4cc4639652cd7f7b2165a52de23b958deef92ab371ba35b38bc659ca602120"

corner = st.tuples(st.integers(-SIDE // 4, 5 * SIDE // 4), st.integers(-SIDE // 4, 5 * SIDE // 4))
on_points = st.tuples(st.sampled_from([0, 6250, 18750, 50000, 81250]), st.integers(0, 8))
snapped = on_points.map(lambda drawn: (drawn[0], drawn[1] * 6250))
polygon = st.lists(st.one_of(corner, snapped), min_size=3, max_size=7)


def area_doubled(corners):
    ends = corners[1:] + corners[:1]
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(corners, ends, strict=True))


def literal_inside(polygons, number):
    """Count for every point the edges that pass left of it: exact fractions, one point a time."""
    inside = np.zeros((number, number), bool)
    for row, column in np.ndindex(number, number):
        x, y = (Fraction((2 * place + 1) * SIDE, 2 * number) for place in (column, row))
        winding = 0
        for corners in polygons:
            sign = -1 if area_doubled(corners) < 0 else 1
            for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
                if min(y0, y1) <= y < max(y0, y1):
                    crossing = x0 + (y - y0) * Fraction(x1 - x0, y1 - y0)
                    winding += sign * (1 if y1 > y0 else -1) * (crossing < x)
        inside[row, column] = winding != 0
    return inside


@settings(max_examples=150, deadline=None)
@given(st.lists(polygon, min_size=1, max_size=3))
def test_the_raster_against_a_literal_reference(polygons):
    found = np.zeros((8, 8), bool)
    rows, columns, inside = inside_window(polygons, 8)
    found[rows, columns] = inside
    np.testing.assert_array_equal(found, literal_inside(polygons, 8))


def test_a_box_covers_whole_and_half_pixels():
    """Of a 4 x 4 picture: columns 1 and 2 whole, half of column 3, one row of samples of row 0."""
    points = enlarge(np.full((4, 4, 3), 100, np.uint8))
    box = read_shape("box black 25 18.75 87.5 75", None)
    fill(points, box.polygons, (0, 0, 0))
    expected = [
        [100, 75, 75, 88],
        [100, 0, 0, 50],
        [100, 0, 0, 50],
        [100, 100, 100, 100],
    ]
    np.testing.assert_array_equal(reduce(points)[..., 0], expected)


@pytest.mark.parametrize(
    ("line", "area"),
    [
        ("ellipse red 50 50 30 20", np.pi * 30 * 20),
        ("ellipse red 50 50 30 20 40", np.pi * 30 * 20),
        ("chord red 50 50 40 40 180 360", np.pi * 800),
        ("chord red 50 50 40 40 0 90", np.pi * 400 - 800),
        ("wedge red 50 50 40 40 0 90", np.pi * 400),
        ("box red 10 20 60 40", 1000),
        ("polygon red 10 10 90 10 10 90", 3200),
        ("line red 10 20 50 70 50", 500 + np.pi * 25),
        ("line red 10 20 20 70 20 70 70", 1000 - 25 + np.pi * 25 * 1.25),
        ("arc red 10 50 50 30 30 0 360", np.pi * (35**2 - 25**2)),
        # A cubic spline of four corners of a square keeps 5 / 6 of its area (integral by hand).
        ("blob red 10 10 90 10 90 90 10 90", 6400 * 5 / 6),
        ("curve red 10 20 50 50 50 80 50", 600 + np.pi * 25),
    ],
)
def test_areas_of_shapes(line, area):
    """In square hundredths of the side, by hand; corners cut off at most 2 % of a round end."""
    number = 400
    inside = inside_window(read_shape(line, None).polygons, number)[2]
    assert inside.sum() * (100 / number) ** 2 == pytest.approx(area, rel=0.02)


def test_outlines_lie_around_areas_and_under_strokes():
    picture = np.full((100, 100, 3), 255, np.uint8)
    area = read_shape("box red 30 30 70 70", 4)
    stroke = read_shape("line red 10 30 50 70 50", 4)
    assert not area.is_stroke
    assert stroke.is_stroke
    points = enlarge(picture)
    fill(points, area.outline, (0, 0, 0))
    ring = reduce(points)[..., 0] < 128
    assert ring[50].nonzero()[0].tolist() == [28, 29, 30, 31, 68, 69, 70, 71]
    points = enlarge(picture)
    fill(points, stroke.outline, (0, 0, 0))
    assert (reduce(points)[:, 50, 0] < 128).nonzero()[0].tolist() == list(range(41, 59))
    assert read_shape("plain box red 30 30 70 70", 4).outline == []


@pytest.mark.parametrize(
    "line", ["heart red 1 2 3", "ellipse red 1 2 3", "polygon red 1 2 3", "box"]
)
def test_a_wrong_line(line):
    with pytest.raises((ValueError, TypeError)):
        read_shape(line, None)


@pytest.mark.parametrize("rendition", RENDITIONS)
@pytest.mark.parametrize("label", icons.LABELS)
def test_every_drawing_can_be_told_from_its_background(label, rendition):
    picture = draw(label, rendition, 32, BACKGROUND)
    assert picture.shape == (32, 32, 3)
    assert picture.dtype == np.uint8
    covered = (picture != BACKGROUND).any(axis=-1)
    assert 0.15 < covered.mean() < 0.9
    # The frame is used: at 32 x 32 a small drawing would lose its parts.
    spans = sorted(np.ptp(covered.any(axis=axis).nonzero()[0]) for axis in (0, 1))
    assert spans[0] >= 11
    assert spans[1] >= 26
    assert not covered[[0, 0, -1, -1], [0, -1, 0, -1]].any()


def test_the_two_sheets_are_made_independently():
    first, second = (SHEETS[name] for name in RENDITIONS)
    assert list(first["drawings"]) == list(second["drawings"]) == list(icons.LABELS)
    assert len(icons.LABELS) == 40
    assert not set(first["colours"].values()) & set(second["colours"].values())
    assert (first["outline"] is None, second["outline"] is None) == (False, True)
    numbers = [
        {tuple(line.split()[2:]) for lines in sheet["drawings"].values() for line in lines}
        for sheet in (first, second)
    ]
    shared = [one for one in numbers[0] & numbers[1] if len(one) > 4]
    assert shared == []


def test_no_drawing_is_found_by_copying_pixels():
    """The second drawing of a label is no near copy of the first; nor are two labels alike."""
    pictures = {
        name: np.stack([draw(label, name, 32, BACKGROUND) for label in icons.LABELS]).astype(float)
        for name in RENDITIONS
    }
    pairs = np.abs(pictures["first"] - pictures["second"]).mean(axis=(1, 2, 3))
    assert pairs.min() > 15
    for stack in pictures.values():
        apart = [np.abs(a - b).mean() for a, b in itertools.combinations(stack, 2)]
        assert min(apart) > 15


@pytest.mark.parametrize("rendition", RENDITIONS)
def test_all_colours_of_a_sheet_exist_and_are_used(rendition):
    sheet = SHEETS[rendition]
    lines = [line for lines in sheet["drawings"].values() for line in lines]
    used = {line.removeprefix("plain ").split()[1] for line in lines}
    assert used | {"ink"} == set(sheet["colours"]) | {"ink"}


def test_the_bytes_are_the_same_everywhere():
    """Written down once; a change of the drawings or of the raster raises VERSION and this."""
    digest = hashlib.sha256()
    for rendition, label in itertools.product(RENDITIONS, icons.LABELS):
        digest.update(draw(label, rendition, 16, BACKGROUND).tobytes())
    assert digest.hexdigest() == DIGEST


def test_sizes_agree():
    """A drawing at 32 is the drawing at 256 reduced by area means, to a level of rounding each."""
    for label in ("apple", "snail"):
        large = draw(label, "first", 256, BACKGROUND).astype(float)
        means = large.reshape(32, 8, 32, 8, 3).mean(axis=(1, 3))
        assert np.abs(means - draw(label, "first", 32, BACKGROUND)).mean() < 2


def test_backgrounds():
    """A colour and a picture of it are the same; where nothing is drawn the picture stays."""
    picture = np.random.default_rng(0).integers(0, 256, (24, 24, 3), dtype=np.uint8)
    kept = picture.copy()
    flat = np.broadcast_to(np.array(BACKGROUND, np.uint8), (24, 24, 3))
    for given_picture in (BACKGROUND, flat):
        drawn = draw("apple", "second", 24, given_picture)
        np.testing.assert_array_equal(drawn, draw("apple", "second", 24, BACKGROUND))
    over = draw("apple", "second", 24, picture)
    np.testing.assert_array_equal(picture, kept)
    untouched = (draw("apple", "second", 24, (0, 0, 0)) == 0).all(axis=-1)
    untouched &= (draw("apple", "second", 24, (255, 255, 255)) == 255).all(axis=-1)
    assert 50 < untouched.sum() < 400
    np.testing.assert_array_equal(over[untouched], picture[untouched])


def test_a_frame_places_the_drawing():
    """Half the size, a quarter from the left and half from the top: the same pixels, moved."""
    white = np.full((64, 64, 3), 255, np.uint8)
    placed = paint("apple", "first", white, Frame(left=250, top=500, side=500))
    apart = np.abs(placed[32:, 16:48].astype(int) - draw("apple", "first", 32))
    # Halved corners are rounded: here and there one sample point of sixteen changes sides.
    assert (apart > 0).mean() < 0.01
    assert apart.max() <= 255 / 16 + 1
    assert (placed[:32] == 255).all()
    assert (placed[:, :16] == 255).all()
    assert (placed[:, 48:] == 255).all()


@pytest.mark.parametrize(
    ("label", "rendition", "word"),
    [
        ("unicorn", "first", "no drawing of 'unicorn'; there are apple"),
        ("apple", "third", "second"),
    ],
)
def test_what_is_not_drawn(label, rendition, word):
    with pytest.raises(SpecError, match=word):
        draw(label, rendition, 16)


def test_corners_are_whole_numbers():
    for line in ("ellipse red 50 50 33.3 21.7 12", "curve red 3 10 10 40 80 90 20"):
        for corners in read_shape(line, 2).polygons:
            assert all(isinstance(place, int) for point in corners for place in point)
    assert SIDE == 100 * UNITS
    assert SAMPLES == 4
