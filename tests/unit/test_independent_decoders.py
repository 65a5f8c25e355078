"""The eight dot decoders once more, by SciPy and by hand, on streaks, touching dots and red scenes.

Nothing here calls OpenCV but to draw: hue and saturation are the textbook's, components and
distances SciPy's, outlines are walked pixel by pixel, their moments are Green's formula.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from scipy import ndimage

from gensight.extractors import Answer
from gensight.extractors import dots as dot_extractor
from gensight.images import encode_png

SIDE, PAPER, RED = 240, (90, 120, 90), (255, 0, 0)
EIGHT = dot_extractor.CHOICES["variants"]
SQUARE = np.ones((3, 3), bool)


def red(rgb, saturation_floor=160, low_to=10, high_from=170):
    """Return pixels of a red hue (half degrees), saturated and bright enough (ProbeGen 3.4 (i))."""
    r, g, b = (rgb[..., channel].astype(int) for channel in range(3))
    value, least = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    chroma = np.maximum(value - least, 1)
    degrees = np.select(
        [value == r, value == g],
        [60 * (g - b) / chroma, 120 + 60 * (b - r) / chroma],
        240 + 60 * (r - g) / chroma,
    )
    hue = np.floor(degrees % 360 / 2 + 0.5) % 180
    saturation = np.floor(255 * (value - least) / np.maximum(value, 1) + 0.5)
    in_hue = (hue <= low_to) | (hue >= high_from)
    return in_hue & (saturation >= saturation_floor) & (value >= 100)


def changed(marked, source):
    return np.abs(marked.astype(int) - source.astype(int)).max(axis=2) > 30


def components(mask):
    labels, number = ndimage.label(mask, SQUARE)
    return [labels == place for place in range(1, number + 1)]


def opened(mask):
    """Erode and dilate by 3x3; what lies beyond the picture neither erodes nor grows."""
    eroded = ndimage.binary_erosion(mask, SQUARE, border_value=1)
    return ndimage.binary_dilation(eroded, SQUARE)


def middle(mask):
    rows, columns = np.nonzero(mask)
    return float(columns.mean()), float(rows.mean())


def peaks(mask):
    distance = ndimage.distance_transform_edt(mask)
    top = mask & (distance == ndimage.maximum_filter(distance, 3, mode="constant"))
    high = np.zeros_like(mask)
    for part in components(mask):
        high |= part & top & (distance >= 0.5 * distance[part & top].max())
    return [middle(part) for part in components(high)]


STEPS = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]


def outline(part):
    """Walk once round the border pixels of a component, eight ways; return rows and columns."""
    padded = np.pad(part, 1)
    first = tuple(int(each) for each in np.argwhere(padded)[0])
    here, heading, walked = first, 0, [first]
    if padded.sum() == 1:
        return np.array(walked)
    begun = None
    while True:
        for turn in range(8):
            # From the pixel behind on the left, clockwise to the first that is marked.
            way = (heading + 5 + turn) % 8
            there = (here[0] + STEPS[way][0], here[1] + STEPS[way][1])
            if padded[there]:
                break
        if (here, way) == begun:
            return np.array(walked[:-1]) - 1
        begun = begun or (here, way)
        here, heading = there, way
        walked.append(here)


def shape(part):
    """Return area, centre, circularity and ratio of inertia of the polygon through its border."""
    y, x = outline(part).T.astype(float)
    x_next, y_next = np.roll(x, -1), np.roll(y, -1)
    cross = x * y_next - x_next * y
    area = cross.sum() / 2
    if area == 0:
        return 0.0, (x[0], y[0]), 0.0, 0.0
    length = np.hypot(x_next - x, y_next - y).sum()
    cx, cy = (((a + b) * cross).sum() / 6 / area for a, b in ((x, x_next), (y, y_next)))
    xx = ((x * x + x * x_next + x_next**2) * cross).sum() / 12 - area * cx * cx
    yy = ((y * y + y * y_next + y_next**2) * cross).sum() / 12 - area * cy * cy
    mixed = 2 * x * y + x * y_next + x_next * y + 2 * x_next * y_next
    xy = (mixed * cross).sum() / 24 - area * cx * cy
    low, high = sorted(np.linalg.eigvalsh([[xx, xy], [xy, yy]]) * np.sign(area))
    area = abs(area)
    return area, (cx, cy), 4 * math.pi * area / length**2, low / high if high > 1e-2 else 1.0


def round_outlines(mask):
    """Return outer outlines that are round enough; what lies inside of others has none."""
    parts = components(ndimage.binary_fill_holes(mask))
    return [place for _, place, roundness, _ in map(shape, parts) if roundness >= 0.6]


def blobs(mask):
    """Return components by area, circularity, inertia and mark at the centre (CNT-3).

    Holes have outlines too; those of up to four pixels enclose less than the least area.
    """
    holes = ndimage.label(ndimage.binary_fill_holes(mask) & ~mask)[0]
    assert (np.bincount(holes.ravel())[1:] <= 4).all(), "outlines of large holes are not walked"
    found = []
    for area, (x, y), roundness, inertia in map(shape, components(mask)):
        is_blob = 12 <= area < 1500 and roundness >= 0.6 and inertia >= 0.5
        if is_blob and mask[round(y), round(x)]:
            found.append((x, y))
    return found


def places_by_hand(marked, source):
    """Return the places that each of the eight decoders finds, by its description in Table 7."""
    plain, wide = red(marked), red(marked, 100, 15, 165)
    gated = plain & changed(marked, source)
    return {
        "red_open_cc": [middle(part) for part in components(opened(plain))],
        "red_wide_open_cc": [middle(part) for part in components(opened(wide))],
        "area_window": [middle(p) for p in components(plain) if 12 <= p.sum() <= 800],
        "peak_dt": peaks(plain),
        "circularity": round_outlines(plain),
        "diff_red_open_cc": [middle(part) for part in components(opened(gated))],
        "blobdetector": blobs(plain),
        "diff_red_blob": blobs(gated),
    }


def read(marked, source):
    answer = Answer(
        image=encode_png(marked), source=encode_png(source), source_width=SIDE, source_height=SIDE
    )
    readings = dot_extractor.extract(answer, {"variants": EIGHT, "long_side_px": SIDE})
    return {
        one.variant: [(point["x"], point["y"]) for point in one.fields["points"]]
        for one in readings
    }


def blank():
    return np.full((SIDE, SIDE, 3), PAPER, np.uint8)


def spread(random, number, gap):
    """Return places at least `gap` apart, far from the border."""
    places = []
    while len(places) < number:
        place = random.integers(30, SIDE - 30, 2)
        if all(math.dist(place, other) >= gap for other in places):
            places.append(place)
    return places


def streaks(random):
    """Dots, and lines of some width as a brush leaves them."""
    marked = blank()
    for place in spread(random, 6, 62):
        angle, length = random.uniform(0, np.pi), random.integers(6, 26)
        way = (np.array([np.cos(angle), np.sin(angle)]) * length).astype(int)
        ends = [tuple(map(int, place - way)), tuple(map(int, place + way))]
        cv2.line(marked, *ends, RED, int(random.integers(1, 8)))
    for x in range(12, SIDE, 40):
        cv2.circle(marked, (x, 12), int(random.integers(3, 8)), RED, -1)
    return marked, blank()


def touching(random):
    """Pairs and triples of dots that overlap, touch in a point, or leave a gap."""
    marked = blank()
    for place in spread(random, 6, 62):
        radius, angle = int(random.integers(3, 9)), random.uniform(0, 2 * np.pi)
        for step in range(int(random.integers(2, 4))):
            away = step * (2 * radius + random.integers(-3, 3))
            centre = place + away * np.array([np.cos(angle), np.sin(angle)]) * 0.8
            cv2.circle(marked, tuple(map(int, centre)), radius, RED, -1)
    return marked, blank()


def red_scene(random):
    """Red crates, lamps and wires in the input, in several reds; dots on and beside them."""
    source = blank()
    for place in spread(random, 8, 50):
        colour = (int(random.integers(170, 256)), *map(int, random.integers(0, 60, 2)))
        x, y = map(int, place)
        kind = random.integers(3)
        if kind == 0:
            cv2.rectangle(source, (x, y), (x + 18, y + 12), colour, -1)
        elif kind == 1:
            cv2.circle(source, (x, y), int(random.integers(4, 12)), colour, -1)
        else:
            cv2.line(source, (x, y), (x + 20, y + 9), colour, 3)
    marked = source.copy()
    for place in spread(random, 5, 30):
        cv2.circle(marked, tuple(map(int, place)), int(random.integers(3, 8)), RED, -1)
    return marked, source


def pale_and_specks(random):
    """Dots of every paleness and hue near red, among single red pixels."""
    marked = blank()
    for place in spread(random, 10, 40):
        colour = (int(random.integers(95, 256)), *map(int, random.integers(0, 150, 2)))
        cv2.circle(marked, tuple(map(int, place)), int(random.integers(2, 9)), colour, -1)
    marked[random.random((SIDE, SIDE)) < 0.001] = RED
    return marked, blank()


PICTURES = {each.__name__: each for each in (streaks, touching, red_scene, pale_and_specks)}


def by_place(places):
    return np.array(sorted(places, key=lambda place: (round(place[1], 3), place[0])))


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("seed", range(5))
def test_all_eight_decoders_find_what_their_description_finds(name, seed):
    marked, source = PICTURES[name](np.random.default_rng([seed, len(name)]))
    expected, found = places_by_hand(marked, source), read(marked, source)
    assert list(expected) == list(found) == EIGHT
    assert {v: len(places) for v, places in found.items()} == {
        v: len(places) for v, places in expected.items()
    }
    for variant, places in expected.items():
        if places:
            np.testing.assert_allclose(by_place(found[variant]), by_place(places), atol=2e-3)


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_tell_the_decoders_apart(name):
    """Over its seeds each kind of picture is counted in at least four different ways."""
    totals = dict.fromkeys(EIGHT, 0)
    for seed in range(5):
        found = read(*PICTURES[name](np.random.default_rng([seed, len(name)])))
        totals = {variant: totals[variant] + len(found[variant]) for variant in EIGHT}
    assert len(set(totals.values())) >= 4
    assert totals["diff_red_blob"] > 0
