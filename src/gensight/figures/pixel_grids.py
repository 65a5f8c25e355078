"""Panels of grids: every cell a flat square, every answer with its label, nothing smoothed.

Protocol: PixelBench shows its grids enlarged by nearest neighbour. All tiles of a figure have one
side, and in the PNG that side is a whole number of pixels for each cell of the grid (see
`pixel_layout.whole_pixels`); the PDF holds the enlarged pictures themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from matplotlib.figure import Figure

from gensight.errors import GensightError
from gensight.figures import style
from gensight.figures.fitted_text import fitting_points, lines_of, most_lines, width_in
from gensight.figures.layout import LEFT_IN, Strip, stacked
from gensight.figures.pixel_canvas import PALETTE_GAP_IN, PALETTE_IN, Canvas
from gensight.figures.pixel_layout import (
    BLOCK_GAP_IN,
    GAP_IN,
    GROUP_GAP_IN,
    MODEL_IN,
    PANEL_GAP_IN,
    SAMPLE_IN,
    SIZE_IN,
    Key,
    PanelLayout,
    sample_of,
    tile_side,
    whole_pixels,
)
from gensight.figures.pixel_panels import GridPanel, GridTile
from gensight.specs.pixel_figures import PixelGridsSpec

# Inches and points, chosen by eye.
SMALLEST_TILE_IN = 0.2
LINE_GAP_IN = 0.06
HEAD_PT, NAME_PT, SMALL_PT = 6.0, 6.5, 5.0
LINE_EM = 1.22
CROSSED = "A crossed tile is an answer that is no valid grid, with the reason."


def draw_pixel_grids(spec: PixelGridsSpec, panels: Sequence[GridPanel]) -> Figure:
    """Draw the panels; the figure's own dpi is what its PNG is to be written at.

    Raises:
        GensightError: the tiles would be too small to see anything, or the figure is too high.
    """
    layouts = [PanelLayout(panel) for panel in panels]
    n = spec.panels_per_row
    bands = [layouts[first : first + n] for first in range(0, len(layouts), n)]
    tile_in = tile_side(bands)
    if tile_in < SMALLEST_TILE_IN:
        raise GensightError(
            f"figure '{spec.title}': tiles of {tile_in:.2f} inches are too small to see anything; "
            f"name fewer models, samples or sizes, or fewer samples_per_row or panels_per_row"
        )
    sizes = sorted({size for panel in panels for size in panel.sizes})
    dpi = whole_pixels(tile_in, sizes)
    letters = iter(ascii_lowercase if len(panels) > 1 else "")
    canvas = Canvas(tile_in, dpi)
    strips = [_band(canvas, band, [next(letters, "") for _ in band]) for band in bands]
    lines = [part for line in _lines(spec, panels) for part in style.heading_lines(line)]
    # Whole pixels from the top need a figure of whole pixels.
    height_in = style.TITLE_IN + style.LINE_IN * len(lines) + sum(s.height_in for s in strips)
    filler_in = math.ceil(height_in * dpi - 1e-6) / dpi - height_in
    with style.figure_style():
        figure = stacked(spec.title, lines, [*strips, Strip(filler_in, canvas.finish)])
    figure.set_dpi(dpi)
    return figure


def _lines(spec: PixelGridsSpec, panels: Sequence[GridPanel]) -> list[str]:
    crossed = any(tile.crossed for panel in panels for tile in panel.tiles.values())
    first = " ".join(part for part in (spec.caption, CROSSED if crossed else "") if part)
    notes = dict.fromkeys(note for panel in panels for note in panel.notes)
    return [line for line in (first, *notes) if line]


def _band(canvas: Canvas, band: Sequence[PanelLayout], letters: Sequence[str]) -> Strip:
    """Return the strip of panels that lie side by side."""
    drawn = [_Panel(canvas, layout, letter) for layout, letter in zip(band, letters, strict=True)]
    gaps = [gap for layout in band for gap in _gap_words(layout.panel)]
    told = [part for line in gaps for part in style.heading_lines(line)]
    title_in = max(panel.title_in for panel in drawn)
    body_in = max(panel.height_in for panel in drawn)

    def draw(_: Figure, top_in: float) -> None:
        left_in = LEFT_IN
        for panel in drawn:
            panel.draw(left_in, top_in, top_in + title_in)
            left_in += panel.layout.width.at(canvas.tile_in) + PANEL_GAP_IN
        look = {"va": "top", "fontsize": 6, "color": style.GREY}
        for place, line in enumerate(told):
            below_in = top_in + title_in + body_in + style.LINE_IN * place
            canvas.write(LEFT_IN, below_in, line, **look)

    return Strip(title_in + body_in + style.LINE_IN * len(told) + 0.06, draw)


def _gap_words(panel: GridPanel) -> list[str]:
    if panel.spec.models and not panel.models:
        return ["No model of this panel is in the run."]
    title = f"{panel.spec.title}: " if panel.spec.title else ""
    return [f"Not shown: {title}{gap}." for gap in dict.fromkeys(panel.gaps)]


@dataclass(frozen=True)
class _Heads:
    """The heads of one axis of columns: first and last column, and lines."""

    axis: str
    points: float
    heads: list[tuple[int, int, list[str]]]

    @property
    def height_in(self) -> float:
        return max((len(lines) for _, _, lines in self.heads), default=0) * _line_in(
            self.points
        ) + (0.01 if self.heads else 0)


class _Panel:
    """Draws one panel."""

    def __init__(self, canvas: Canvas, layout: PanelLayout, letter: str) -> None:
        self.canvas, self.layout, self.panel = canvas, layout, layout.panel
        self.tile_in, self.spec = canvas.tile_in, layout.spec
        self.title = f"({letter}) {self.spec.title}" if letter else self.spec.title
        self.palette_in = PALETTE_IN + PALETTE_GAP_IN if self.spec.palette else 0.0
        self.empty = not layout.panel.samples or bool(self.spec.models and not layout.panel.models)

    @property
    def title_in(self) -> float:
        return 0.2 if self.title else 0.02

    @property
    def height_in(self) -> float:
        return 0.0 if self.empty else sum(self._line_heights())

    def _lines(self) -> list[list[list[Key]]]:
        """Return the blocks that lie side by side, line by line."""
        blocks, n = self.layout.blocks, self.layout.beside
        return [blocks[first : first + n] for first in range(0, len(blocks), n)]

    def _line_heights(self) -> list[float]:
        lines = self._lines()
        heights = []
        for place, line in enumerate(lines):
            # A line that begins with heads needs little air above it.
            between_in = BLOCK_GAP_IN if self.layout.in_blocks else LINE_GAP_IN
            gap_in = between_in if place + 1 < len(lines) else 0.04
            heights.append(self._heads_in(line, place) + self._rows_in + gap_in)
        return heights

    @property
    def _on_top(self) -> bool:
        """Say whether the samples' pictures are a row of their own above the others."""
        return "samples" in self.spec.columns and self.panel.has_pictures

    def _row_tops(self) -> list[float]:
        """Return the top of each row of grids, counted from the first row of pictures."""
        top_in = 0.0
        if self._on_top:
            top_in += self.tile_in + (GROUP_GAP_IN if self.layout.rows else 0)
        tops = []
        for place in range(len(self.layout.rows)):
            if place:
                apart = self.layout.is_new_group(place)
                top_in += self.tile_in + self.palette_in + (GROUP_GAP_IN if apart else GAP_IN)
            tops.append(top_in)
        return tops

    @property
    def _rows_in(self) -> float:
        tops = self._row_tops()
        below_in = tops[-1] + self.tile_in + self.palette_in if tops else self.tile_in
        if self.layout.in_blocks:
            below_in = max(below_in, self._beside_in())
        return below_in

    def _beside_in(self) -> float:
        """Return the height of a block's picture with the label below it."""
        if not self.panel.has_pictures:
            return 0.0
        wide_in, points, bold = self._label_look
        labels = [sample.label for sample in self.panel.samples]
        lines = most_lines(labels, wide_in, points, bold)
        return self._picture_in + 0.03 + lines * _line_in(points)

    @property
    def _picture_in(self) -> float:
        n = self.spec.source_tiles
        return n * self.tile_in + (n - 1) * GAP_IN

    @property
    def _label_look(self) -> tuple[float, float, bool]:
        """Return the width, the size of type and the boldness of the labels beside blocks."""
        bold = not self.panel.has_pictures
        wide_in = SAMPLE_IN - 0.05 if bold else self._picture_in + GAP_IN
        labels = [sample.label for sample in self.panel.samples]
        points = fitting_points(labels, wide_in, NAME_PT if bold else HEAD_PT, bold)
        return wide_in, points, bold

    def draw(self, left_in: float, title_top_in: float, top_in: float) -> None:
        if self.title:
            look = {"va": "top", "fontsize": 7.5, "weight": "bold"}
            self.canvas.write(left_in, title_top_in + 0.03, self.title, **look)
        if self.empty:
            return
        block_in = self.layout.block_width.at(self.tile_in) + BLOCK_GAP_IN
        for place, (line, height_in) in enumerate(
            zip(self._lines(), self._line_heights(), strict=True)
        ):
            heads_in = self._heads_in(line, place)
            for n, keys in enumerate(line):
                self._block(left_in + n * block_in, top_in, heads_in, keys)
            top_in += height_in

    def _block(self, left_in: float, top_in: float, heads_in: float, keys: list[Key]) -> None:
        rows_top_in = top_in + heads_in
        tops = [rows_top_in + row_in for row_in in self._row_tops()]
        if self.layout.in_blocks:
            self._sample(left_in, rows_top_in, keys)
        labels_left_in = left_in + (
            self.layout.pictures.at(self.tile_in) if self.layout.in_blocks else 0
        )
        first_in = left_in + self.layout.labels_in + self.layout.pictures.at(self.tile_in)
        lefts = [first_in + p.at(self.tile_in) for p in self.layout.column_places(keys)]
        if heads_in:
            self._heads(lefts, rows_top_in, keys)
        self._row_labels(labels_left_in, tops)
        if self._on_top:
            self._pictures_on_top(lefts, rows_top_in, keys)
        if "samples" in self.spec.rows and self.panel.has_pictures:
            self._pictures_at_left(left_in + self.layout.labels_in, tops, rows_top_in)
        for row, row_top_in in zip(self.layout.rows, tops, strict=True):
            for key, column_in in zip(keys, lefts, strict=True):
                tile = self._tile({**row, **key})
                self.canvas.grid(column_in, row_top_in, tile, self.spec.palette)

    def _tile(self, key: Key) -> GridTile:
        model = key.get("models") or self.panel.models[0]
        size = key.get("sizes") or self.panel.sizes[0]
        return self.panel.tile(model, size, key["samples"])

    def _sample(self, left_in: float, top_in: float, keys: list[Key]) -> None:
        """Draw what stands left of a block: the sample's picture and label, or the label alone."""
        sample = keys[0]["samples"] if keys else None
        if sample is None:
            return
        wide_in, points, bold = self._label_look
        lines = lines_of(sample.label, wide_in, points, bold)
        look = {"fontsize": points, "linespacing": 1.1}
        if sample.picture is not None and self.spec.source:
            side_in = self._picture_in
            self.canvas.picture(left_in, top_in, side_in, sample.picture, sharp=False)
            place = (left_in + side_in / 2, top_in + side_in + 0.03)
            self.canvas.write(*place, "\n".join(lines), ha="center", va="top", **look)
            return
        place = (left_in, top_in + self._rows_in / 2)
        look |= {"ha": "left", "va": "center", "weight": "bold"}
        self.canvas.write(*place, "\n".join(lines), **look)

    def _picture(self, key: Key, left_in: float, top_in: float) -> None:
        sample = sample_of(key)
        if sample is not None and sample.picture is not None:
            self.canvas.picture(left_in, top_in, self.tile_in, sample.picture, sharp=False)

    def _pictures_at_left(self, left_in: float, tops: list[float], rows_top_in: float) -> None:
        for first, last, _ in self.layout.runs(self.layout.rows, "samples"):
            self._picture(self.layout.rows[first], left_in, (tops[first] + tops[last]) / 2)
        look = {"ha": "center", "va": "baseline", "fontsize": HEAD_PT, "color": style.GREY}
        place = (left_in + self.tile_in / 2, rows_top_in - 0.035)
        self.canvas.write(*place, self.panel.picture_name, **look)

    def _pictures_on_top(self, lefts: list[float], top_in: float, keys: list[Key]) -> None:
        for first, last, _ in self.layout.runs(keys, "samples"):
            middle_in = (lefts[first] + lefts[last]) / 2
            self._picture(keys[first], middle_in, top_in)

    def _heads_of(self, keys: list[Key]) -> list[_Heads]:
        """Return the heads of each axis of columns, the outer one first."""
        found = []
        for axis in self.spec.columns:
            inner = axis == self.spec.columns[-1]
            runs = [(first, last) for first, last, _ in self.layout.runs(keys, axis)]
            places = [(n, n) for n in range(len(keys))] if inner else runs
            texts = [self._head_text(keys[first], axis) for first, _ in places]
            # Neighbours nearly touch: their heads have no more room than they.
            tiles = min((last - first + 1 for first, last in places), default=1)
            wide_in = tiles * (self.tile_in + GAP_IN) - 0.02
            largest_pt = SMALL_PT if axis == "sizes" or self.tile_in < 0.45 else HEAD_PT
            points = fitting_points(self._all_head_texts(axis), wide_in, largest_pt)
            lines = [[t] if axis == "sizes" else lines_of(t, wide_in, points) for t in texts]
            heads = [(*place, one) for place, one in zip(places, lines, strict=True)]
            found.append(_Heads(axis, points, heads))
        return found

    def _head_text(self, key: Key, axis: str) -> str:
        return f"{key[axis]} × {key[axis]}" if axis == "sizes" else key[axis].label

    def _all_head_texts(self, axis: str) -> list[str]:
        """Return the heads of all blocks, so that all have one size of type."""
        if axis == "sizes":
            # Not to be broken, so measured as one word.
            return [f"{size}×{size}" for size in self.panel.sizes]
        return [self._head_text(key, axis) for key in self.layout.columns]

    def _heads_in(self, line: list[list[Key]], place: int) -> float:
        """Return the height of the heads of columns; blocks below others need none again."""
        if self.layout.in_blocks and place:
            return 0.0
        return max(sum(heads.height_in for heads in self._heads_of(keys)) for keys in line) + 0.03

    def _heads(self, lefts: list[float], bottom_in: float, keys: list[Key]) -> None:
        base_in = bottom_in - 0.035
        for heads in reversed(self._heads_of(keys)):
            colour = style.GREY if heads.axis == "sizes" else "black"
            points = heads.points
            for first, last, lines in heads.heads:
                middle_in = (lefts[first] + lefts[last] + self.tile_in) / 2
                for n, line in enumerate(reversed(lines)):
                    look = {"ha": "center", "va": "baseline", "fontsize": points, "color": colour}
                    self.canvas.write(middle_in, base_in - n * _line_in(points), line, **look)
            base_in -= heads.height_in

    def _row_labels(self, left_in: float, tops: list[float]) -> None:
        right_in = left_in + self.layout.labels_in - GAP_IN
        if self._on_top and self.layout.labels_in:
            top_in = (tops[0] if tops else 0) - GROUP_GAP_IN - self.tile_in / 2
            look = {"ha": "right", "va": "center", "fontsize": NAME_PT, "color": style.GREY}
            self.canvas.write(right_in - 0.03, top_in, self.panel.picture_name, **look)
        for axis in reversed(self.spec.rows if self.layout.rows else ()):
            for first, last, value in self.layout.runs(self.layout.rows, axis):
                middle_in = (tops[first] + tops[last] + self.tile_in) / 2
                self._row_label(axis, value, right_in, middle_in)
            right_in -= SIZE_IN if axis == "sizes" else MODEL_IN

    def _row_label(self, axis: str, value: Any, right_in: float, middle_in: float) -> None:
        if axis == "sizes":
            look = {"rotation": 90, "fontsize": SMALL_PT, "color": style.GREY}
            text = f"{value} × {value}"
            # Where the tile is too low for both numbers, one says it.
            text = text if width_in(text, SMALL_PT) < self.tile_in else f"{value}"
            centre_in = right_in - SIZE_IN / 2
            self.canvas.write(centre_in, middle_in, text, ha="center", va="center", **look)
            return
        bold = axis == "models"
        wide_in = (MODEL_IN if bold else SAMPLE_IN) - 0.05
        labels = [row[axis].label for row in self.layout.rows]
        points = fitting_points(labels, wide_in, NAME_PT, bold)
        lines = lines_of(value.label, wide_in, points, bold)
        look = {"ha": "right", "va": "center", "fontsize": points, "linespacing": 1.1}
        weight = "bold" if bold else "normal"
        self.canvas.write(right_in - 0.03, middle_in, "\n".join(lines), weight=weight, **look)


def _line_in(points: float) -> float:
    return LINE_EM * points / 72
