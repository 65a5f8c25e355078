"""The drawings: every concept twice, made independently, from lines of shapes to pictures.

`first.yaml` is drawn with dark outlines and strong colours and stands in the samples; `second.yaml`
is flat, in softer colours, with other poses, and is the gallery of retrieval: an oracle that copies
its input would otherwise find itself (PROTOCOLS 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from gensight.datasets.icons.raster import enlarge, fill, reduce
from gensight.datasets.icons.shapes import Polygon, Shape, read_shape
from gensight.errors import SpecError

Colour = tuple[int, int, int]

FOLDER = Path(__file__).resolve().parent
RENDITIONS = ("first", "second")
WHITE: Colour = (255, 255, 255)
#: A drawing fills the picture; placing it smaller is in thousandths, whole numbers again.
WHOLE = 1000


@dataclass(frozen=True)
class Frame:
    """Where the square of a drawing lies in its picture, in thousandths of the picture's side."""

    left: int = 0
    top: int = 0
    side: int = WHOLE

    def place(self, polygon: Polygon) -> Polygon:
        """Return a polygon of the drawing as one of the picture."""
        shift = 100 * self.left, 100 * self.top
        return [
            (x * self.side // WHOLE + shift[0], y * self.side // WHOLE + shift[1])
            for x, y in polygon
        ]


def draw(
    label: str, rendition: str, side_px: int, background: Colour | np.ndarray = WHITE
) -> np.ndarray:
    """Return a drawing as uint8 (side_px, side_px, 3) RGB; the same bytes on every machine.

    `background` is a colour or a uint8 picture of the same size. At the sizes of palette grids the
    drawing is antialiased, as a picture reduced by area means would be.

    Raises:
        SpecError: there is no such label or rendition.
    """
    return paint(label, rendition, _canvas(side_px, background), Frame())


def paint(label: str, rendition: str, picture: np.ndarray, frame: Frame) -> np.ndarray:
    """Return a square uint8 picture (n, n, 3) with a drawing painted over it where `frame` says.

    Raises:
        SpecError: there is no such label or rendition.
    """
    colours, outline, shapes = _drawing(label, rendition)
    points = enlarge(picture)
    for shape in shapes:
        steps = ((shape.outline, outline), (shape.polygons, colours[shape.colour]))
        # A stroke lies on its outline, an outline on its area.
        for polygons, colour in steps if shape.is_stroke else reversed(steps):
            if polygons:
                fill(points, [frame.place(polygon) for polygon in polygons], colour)
    return reduce(points)


def _canvas(side_px: int, background: Colour | np.ndarray) -> np.ndarray:
    shape = (side_px, side_px, 3)
    return np.ascontiguousarray(np.broadcast_to(np.asarray(background, np.uint8), shape))


def _drawing(label: str, rendition: str) -> tuple[dict[str, Colour], Colour, list[Shape]]:
    if rendition not in RENDITIONS:
        raise SpecError(f"icons: there is no rendition {rendition!r}; use {', '.join(RENDITIONS)}")
    if label not in LABELS:
        raise SpecError(f"icons: there is no drawing of {label!r}; there are {', '.join(LABELS)}")
    sheet = _sheet(rendition)
    colours = {name: _colour(text) for name, text in sheet["colours"].items()}
    return colours, colours.get("ink", (0, 0, 0)), _shapes(label, rendition)


@cache
def _shapes(label: str, rendition: str) -> list[Shape]:
    sheet = _sheet(rendition)
    try:
        return [read_shape(line, sheet["outline"]) for line in sheet["drawings"][label]]
    except (ValueError, TypeError) as error:
        raise SpecError(f"{FOLDER / f'{rendition}.yaml'}: {label}: {error}") from error


@cache
def _sheet(rendition: str) -> Mapping[str, Any]:
    return yaml.safe_load((FOLDER / f"{rendition}.yaml").read_text(encoding="utf-8"))


def _colour(text: str) -> Colour:
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue


#: The concepts that are drawn, in the order of the paper's list.
LABELS: tuple[str, ...] = tuple(_sheet("first")["drawings"])
