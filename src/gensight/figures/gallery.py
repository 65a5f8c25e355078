"""Galleries: what a few models drew for a few samples, beside what was read from it and the truth.

One row per answer: input, raw output, extracted, truth, score. Which answers are shown is decided
by a rule (`gensight.figures.examples`), whose text is printed under the title.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure

from gensight.errors import GensightError
from gensight.figures import style
from gensight.figures.items import GalleryItem, Tile
from gensight.figures.layout import (
    LEFT_IN,
    Placed,
    Strip,
    names_strip,
    row_height,
    tiles_strip,
    wrapped,
    wrapped_name,
    write,
)
from gensight.figures.tiles import row_tiles
from gensight.specs.figures import GallerySpec

# Inches, chosen by eye: names and scores take what they need, the four tiles share the rest.
LABEL_IN, SCORE_IN, GAP_IN = 0.92, 0.7, 0.06
TILE_IN = (style.WIDTH_IN - LABEL_IN - SCORE_IN - 5 * GAP_IN) / 4
COLUMNS = ("Input", "Raw output", "Extracted", "Truth", "Score")
# What fits beside and below the tiles.
CAPTION_LINES, NAME_CHARACTERS, DETAIL_CHARACTERS, SCORE_CHARACTERS = 3, 14, 20, 12
# Rows that do not fit on one page belong into another gallery.
MAX_ROWS = 40


def strips(spec: GallerySpec, items: Sequence[GalleryItem]) -> list[Strip]:
    """Return the names of the columns, then a row per answer in the given order.

    Raises:
        GensightError: there are more than MAX_ROWS items.
    """
    if len(items) > MAX_ROWS:
        raise GensightError(
            f"gallery '{spec.title}': {len(items)} rows do not fit on a page; name fewer models "
            f"or rules (at most {MAX_ROWS} rows)"
        )
    if not items:
        return []
    widths = (*[TILE_IN] * 4, SCORE_IN)
    names = [(name, _left(i), widths[i]) for i, name in enumerate(COLUMNS)]
    return [names_strip(names), *(_row(item, row_tiles(spec.task, item)) for item in items)]


def _left(column: int) -> float:
    """Return the left edge of a tile column, or of the score column after the last, in inches."""
    return LABEL_IN + GAP_IN + column * (TILE_IN + GAP_IN)


def _row(item: GalleryItem, tiles: Sequence[Tile]) -> Strip:
    placed = [Placed(tile, _left(i), _caption(tile)) for i, tile in enumerate(tiles)]
    pictures, height_in = tiles_strip(placed, TILE_IN), row_height(tiles, TILE_IN)

    def draw(figure: Figure, top_in: float) -> None:
        pictures.draw(figure, top_in)
        _write_name(figure, item, top_in + height_in / 2)
        score = [
            part for line in item.score.split("\n") for part in wrapped(line, SCORE_CHARACTERS)
        ]
        centre = _left(len(tiles)) + SCORE_IN / 2
        look = {"ha": "center", "va": "center", "fontsize": 6.5, "linespacing": 1.3}
        write(figure, centre, top_in + height_in / 2, "\n".join(score), **look)

    return Strip(pictures.height_in, draw)


def _caption(tile: Tile) -> list[str]:
    """Return the lines below a picture; a tile of words has none."""
    if tile.picture is None or not tile.words:
        return []
    return wrapped(tile.words, style.characters(TILE_IN, 5.5), CAPTION_LINES)


def _write_name(figure: Figure, item: GalleryItem, middle_in: float) -> None:
    """Write the model above the middle of a row, the sample and the rule below it."""
    name = "\n".join(wrapped_name(item.model_label, NAME_CHARACTERS))
    sample = textwrap.wrap(item.sample_id.replace("_", "_ "), DETAIL_CHARACTERS)
    details = "\n".join([*(line.replace("_ ", "_") for line in sample), item.rule])
    look = {"ha": "left", "va": "bottom", "fontsize": 7, "linespacing": 1.1}
    write(figure, LEFT_IN, middle_in, name, fontweight="bold", **look)
    look = {"ha": "left", "va": "top", "fontsize": 5.5, "linespacing": 1.25}
    write(figure, LEFT_IN, middle_in + 0.03, details, color=style.GREY, **look)
