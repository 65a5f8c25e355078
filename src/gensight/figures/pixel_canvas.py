"""A canvas for grids: one pair of axes over a whole figure, with places on borders of pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from gensight.figures import style
from gensight.figures.fitted_text import fitting_points, lines_of
from gensight.figures.pixel_panels import GridTile

# Inches, chosen by eye.
PALETTE_IN, PALETTE_GAP_IN = 0.07, 0.02
_EMPTY, _CROSS, _EDGE = "#F6F6F6", "#C9C9C9", "#BBBBBB"


class Canvas:
    """One pair of axes over the whole figure, in inches from its upper left corner."""

    def __init__(self, tile_in: float, dpi: float) -> None:
        self.tile_in, self.dpi = tile_in, dpi
        self._drawn: list[Callable[[Axes], Any]] = []

    def finish(self, figure: Figure, _: float) -> None:
        """Draw all that was put on the canvas."""
        width_in, height_in = style.WIDTH_IN, figure.get_figheight()
        axes = figure.add_axes((0, 0, 1, 1), frameon=False)
        axes.set_axis_off()
        axes.set_xlim(0, width_in)
        axes.set_ylim(height_in, 0)
        axes.set_autoscale_on(False)
        for draw in self._drawn:
            draw(axes)

    def snapped(self, inches: float) -> float:
        """Return a place on the border of a pixel."""
        return round(inches * self.dpi) / self.dpi

    def write(self, left_in: float, top_in: float, text: str, **look: Any) -> None:
        """Write text at a place."""
        self._drawn.append(lambda axes: axes.text(left_in, top_in, text, **look))

    def picture(
        self, left_in: float, top_in: float, side_in: float, rgb: np.ndarray, sharp: bool
    ) -> None:
        """Draw a picture into a square; a sharp one keeps its pixels as they are."""
        left_in, top_in = self.snapped(left_in), self.snapped(top_in)
        height, width = rgb.shape[:2]
        across_in = side_in * min(1.0, width / height)
        down_in = side_in * min(1.0, height / width)
        extent = (left_in, left_in + across_in, top_in + down_in, top_in)

        def draw(axes: Axes) -> None:
            kind = "none" if sharp else "antialiased"
            image = AxesImage(axes, extent=extent, interpolation=kind, origin="upper")
            image.set_data(rgb)
            axes.add_artist(image)
            edge = {"fill": False, "edgecolor": _EDGE, "linewidth": 0.3}
            axes.add_patch(Rectangle((left_in, top_in), across_in, down_in, **edge))

        self._drawn.append(draw)

    def box(self, left_in: float, top_in: float, size: tuple[float, float], **look: Any) -> None:
        """Draw a rectangle of a width and height."""
        corner = (self.snapped(left_in), self.snapped(top_in))
        self._drawn.append(lambda axes: axes.add_patch(Rectangle(corner, *size, **look)))

    def line(self, start: tuple[float, float], end: tuple[float, float], **look: Any) -> None:
        """Draw a straight line."""
        across, down = zip(start, end, strict=True)
        self._drawn.append(lambda axes: axes.add_line(Line2D(across, down, **look)))

    def grid(self, left_in: float, top_in: float, tile: GridTile, palette: bool) -> None:
        """Draw an answer: its grid, or words on an empty tile."""
        side_in = self.tile_in
        if tile.picture is not None:
            self.picture(left_in, top_in, side_in, tile.picture, sharp=True)
        else:
            self._words(left_in, top_in, tile)
        for place, colour in enumerate(tile.palette if palette else ()):
            swatch_in = side_in / 8
            look = {
                "facecolor": np.array(colour) / 255,
                "edgecolor": _EDGE,
                "linewidth": 0.3,
            }
            below_in = top_in + side_in + PALETTE_GAP_IN
            self.box(left_in + place * swatch_in, below_in, (swatch_in, PALETTE_IN), **look)

    def _words(self, left_in: float, top_in: float, tile: GridTile) -> None:
        side_in = self.tile_in
        look = {"facecolor": _EMPTY, "edgecolor": _EDGE, "linewidth": 0.3}
        self.box(left_in, top_in, (side_in, side_in), **look)
        right_in, bottom_in = left_in + side_in, top_in + side_in
        if tile.crossed:
            for start, end in (
                ((left_in, top_in), (right_in, bottom_in)),
                ((left_in, bottom_in), (right_in, top_in)),
            ):
                self.line(start, end, color=_CROSS, linewidth=0.6)
        points = fitting_points([tile.words], 0.92 * side_in, 5.5 if side_in > 0.5 else 4.5)
        lines = lines_of(tile.words, 0.92 * side_in, points)
        look = {"ha": "center", "va": "center", "fontsize": points, "color": style.GREY}
        if tile.crossed:
            look["bbox"] = {"facecolor": _EMPTY, "edgecolor": "none", "pad": 0.8}
        middle = (left_in + side_in / 2, top_in + side_in / 2)
        self.write(*middle, "\n".join(lines), linespacing=1.05, **look)
