"""Failures: input and output as returned, side by side, several models to a row.

Nothing is extracted: what is to be seen is that the scene was drawn anew, moved, or left as it was.
Below a pair stand the class that the blind classifier gives it and the number it is scored with.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from gensight.figures import style
from gensight.figures.items import GalleryItem, Tile
from gensight.figures.layout import (
    CAPTION_LINE_IN,
    CAPTION_PT,
    LEFT_IN,
    Placed,
    Strip,
    row_height,
    tiles_strip,
    wrapped,
    write,
    write_lines,
)
from gensight.figures.tiles import output_tile, source_picture
from gensight.specs.figures import FailuresSpec

GAP_IN, PAIR_GAP_IN = 0.04, 0.18
NAME_IN, NAME_PT = 0.15, 7.0
QUERY_LINES = 2


def strips(spec: FailuresSpec, items: Sequence[GalleryItem]) -> list[Strip]:
    """Return rows of pairs in the given order."""
    pair_in = (style.WIDTH_IN - 2 * LEFT_IN + PAIR_GAP_IN) / spec.answers_per_row - PAIR_GAP_IN
    rows = [
        items[first : first + spec.answers_per_row]
        for first in range(0, len(items), spec.answers_per_row)
    ]
    return [_row(spec, row, pair_in) for row in rows]


def _row(spec: FailuresSpec, items: Sequence[GalleryItem], pair_in: float) -> Strip:
    tile_in = (pair_in - GAP_IN) / 2
    lefts = [LEFT_IN + i * (pair_in + PAIR_GAP_IN) for i in range(len(items))]
    placed = [
        placed
        for item, left_in in zip(items, lefts, strict=True)
        for placed in _pair(spec, item, left_in, tile_in)
    ]
    pictures = tiles_strip(placed, tile_in)
    below_in = NAME_IN + row_height([one.tile for one in placed], tile_in) + 0.03
    captions = [_caption(spec, item, pair_in) for item in items]
    lines_in = CAPTION_LINE_IN * max(map(len, captions))

    def draw(figure: Figure, top_in: float) -> None:
        pictures.draw(figure, top_in + NAME_IN)
        for item, lines, left_in in zip(items, captions, lefts, strict=True):
            name = wrapped(item.model_label, style.characters(pair_in, 1.1 * NAME_PT), 1)[0]
            look = {"va": "bottom", "fontsize": NAME_PT, "fontweight": "bold"}
            write(figure, left_in, top_in + NAME_IN - 0.03, name, **look)
            write_lines(figure, left_in, top_in + below_in, lines, CAPTION_PT)

    return Strip(NAME_IN + pictures.height_in + lines_in + 0.05, draw)


def _pair(spec: FailuresSpec, item: GalleryItem, left_in: float, tile_in: float) -> list[Placed]:
    source = source_picture(item)
    output = output_tile(spec.task, item, source)
    return [Placed(Tile(source), left_in), Placed(output, left_in + tile_in + GAP_IN)]


def _caption(spec: FailuresSpec, item: GalleryItem, pair_in: float) -> list[str]:
    width = style.characters(pair_in, CAPTION_PT)
    asked = f"“{item.query}”  ·  " if item.query else ""
    judged = item.failure or _status(item)
    lines = [f"{judged}  ·  {item.number}", f"{asked}{item.sample_id}"]
    return [part for line in lines for part in wrapped(line, width, QUERY_LINES)]


def _status(item: GalleryItem) -> str:
    """Return what is known of an answer without a class: how its reading ended."""
    prediction = item.extracted
    if prediction is None or prediction.status == "ok":
        return "no class"
    return f"{prediction.status}: {prediction.reason or 'no reason'}".replace("_", " ")
