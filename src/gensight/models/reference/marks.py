"""Marking an answer on the input: dots, rectangles, tints and writing in declared colours.

Lengths are in pixels of the work size. Everything but the marks is the input, untouched. No paper
prints how thick a line, how strong a tint or how large a letter should be: the constants here are
assumed, chosen so that every decoder can read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np

DOT_RADIUS_MIN_PX = 3
DOT_RADIUS_MAX_PX = 8
# Even, so that the middle of the line lies on the edge that it marks.
LINE_WIDTH_PX = 4
TINT_OPACITY = 0.5
# Half of the side of a square around a point, where a data set has points and no boxes.
SQUARE_RADIUS_MIN_PX = 6
SQUARE_RADIUS_MAX_PX = 24
# Of the picture's height: the white bar along its lower edge, and the letters on it.
BAR_SHARE = 0.14
LETTER_SHARE = 0.09

Colour = Sequence[int]


def dot_radii_px(points: np.ndarray) -> np.ndarray:
    """Return the radius of each dot, clamp(floor(0.45 x nearest neighbour) - 1, 3, 8) px.

    Source: PROTOCOLS 1.4. `points` is (n, 2) at long side 1024. Dots of at least the smallest
    radius never touch unless their centres are less than 8.5 px apart (centres are rounded). A lone
    dot has radius 8.
    """
    if len(points) < 2:
        return np.full(len(points), DOT_RADIUS_MAX_PX)
    radii = np.floor(0.45 * _nearest_px(points)) - 1
    return np.clip(radii, DOT_RADIUS_MIN_PX, DOT_RADIUS_MAX_PX).astype(int)


def paint_dots(picture: np.ndarray, points: np.ndarray, colours: Sequence[Colour]) -> np.ndarray:
    """Return the RGB picture with one solid dot per point (n, 2: x, y in its own pixels).

    `colours` holds one colour for all points, or one for each. A dot is moved inside by what would
    stick out: half a circle is no circle to a decoder.
    """
    marked = picture.copy()
    height, width = picture.shape[:2]
    each = list(colours) * (len(points) if len(colours) == 1 else 1)
    for (x, y), radius, colour in zip(points, dot_radii_px(points), each, strict=True):
        margin = int(radius) + 1
        centre_x = min(max(int(np.floor(x + 0.5)), margin), width - 1 - margin)
        centre_y = min(max(int(np.floor(y + 0.5)), margin), height - 1 - margin)
        centre, ink = (centre_x, centre_y), tuple(map(int, colour))
        cv2.circle(marked, centre, int(radius), ink, cv2.FILLED, cv2.LINE_8)
    return marked


def takes_turns(points: np.ndarray) -> np.ndarray:
    """Return which points (n, 2) have the second of two colours, bool (n,), the first one not.

    Every point and its nearest neighbour differ: they are joined in the shortest tree through all
    points, whose two sides are the colours. Of several such trees the one grown from the first
    point over the lowest indices is taken.
    """
    second = np.zeros(len(points), np.bool_)
    reached = np.full(len(points), np.inf)
    parent = np.zeros(len(points), np.int64)
    waiting = np.ones(len(points), np.bool_)
    for step in range(len(points)):
        new = int(np.argmin(np.where(waiting, reached, np.inf))) if step else 0
        second[new] = step > 0 and not second[parent[new]]
        waiting[new] = False
        away = np.linalg.norm(points - points[new], axis=1)
        closer = waiting & (away < reached)
        reached[closer], parent[closer] = away[closer], new
    return second


def grid_points(count: int, width: int, height: int) -> np.ndarray:
    """Return `count` points (n, 2) on a regular grid over the picture, row by row.

    Cells are as square as the count allows; the last row may be short. No points for a count of 0.
    """
    if count <= 0:
        return np.zeros((0, 2))
    columns = min(count, max(1, int(np.ceil(np.sqrt(count * width / height)))))
    rows = int(np.ceil(count / columns))
    index = np.arange(count)
    x = (index % columns + 0.5) * width / columns - 0.5
    y = (index // columns + 0.5) * height / rows - 0.5
    return np.stack([x, y], axis=1)


def paint_boxes(picture: np.ndarray, boxes: np.ndarray, colour: Colour) -> np.ndarray:
    """Return the RGB picture with one outline per box (n, 4: left, top, right, bottom edges).

    The middle of the line runs along the edges, rounded to whole pixels; the far edges are
    exclusive, as everywhere. What would lie outside the picture is left out.
    """
    marked, half = picture.copy(), LINE_WIDTH_PX // 2
    height, width = picture.shape[:2]
    for left, top, right, bottom in np.floor(np.asarray(boxes) + 0.5).astype(int).tolist():
        across = slice(max(left - half, 0), min(right + half, width))
        down = slice(max(top - half, 0), min(bottom + half, height))
        for edge in (top, bottom):
            marked[max(edge - half, 0) : max(edge + half, 0), across] = colour
        for edge in (left, right):
            marked[down, max(edge - half, 0) : max(edge + half, 0)] = colour
    return marked


def squares_around(points: np.ndarray) -> np.ndarray:
    """Return a box (n, 4) around each point that touches no other point's box where it can."""
    radii = np.full(len(points), float(SQUARE_RADIUS_MAX_PX))
    if len(points) > 1:
        # Squares whose centres are d apart along the diagonal need a radius below d / (2 sqrt 2).
        free = np.floor(_nearest_px(points) / np.sqrt(8.0)) - LINE_WIDTH_PX
        radii = np.clip(free, SQUARE_RADIUS_MIN_PX, SQUARE_RADIUS_MAX_PX)
    middles = points + 0.5
    return np.concatenate([middles - radii[:, None], middles + radii[:, None]], axis=1)


def paint_tint(picture: np.ndarray, mask: np.ndarray, colour: Colour) -> np.ndarray:
    """Return the RGB picture with the mask's pixels half-way to a colour."""
    towards = np.array(colour, np.float64) - picture
    tinted = np.floor(picture + TINT_OPACITY * towards + 0.5).astype(np.uint8)
    return np.where(mask[..., None], tinted, picture)


def paint_writing(picture: np.ndarray, text: str) -> np.ndarray:
    """Return the RGB picture with a text in black on a white bar along its lower edge.

    Letters shrink until the text fits the width. An empty text leaves the bar empty.
    """
    from PIL import Image, ImageDraw

    written = picture.copy()
    height, width = picture.shape[:2]
    bar = max(1, round(BAR_SHARE * height))
    sheet = Image.new("L", (width, bar), 255)
    pen, size_px = ImageDraw.Draw(sheet), max(1.0, LETTER_SHARE * height)
    length = pen.textlength(text, font=_font(size_px))
    size_px *= min(1.0, 0.94 * width / max(length, 1.0))
    pen.text((width / 2, bar / 2), text, fill=0, font=_font(size_px), anchor="mm")
    written[height - bar :] = np.asarray(sheet)[..., None]
    return written


@cache
def _font(size_px: float) -> Any:
    """Return the sans serif font that Matplotlib ships, which knows most scripts of Europe."""
    from PIL import ImageFont

    package = find_spec("matplotlib")
    assert package is not None and package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0]) / "mpl-data/fonts/ttf"
    return ImageFont.truetype(folder / "DejaVuSans.ttf", size_px)


def _nearest_px(points: np.ndarray) -> np.ndarray:
    """Return the distance of each of two or more points (n, 2) to its nearest neighbour."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances.min(axis=1)
