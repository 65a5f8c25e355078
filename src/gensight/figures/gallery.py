"""Galleries: what a few models drew for a few samples, beside what was read from it and the truth.

One row per answer: input, raw output, extracted, truth, score. Which answers are shown is decided
by a rule (`gensight.figures.examples`), whose text is printed under the title.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gensight.errors import GensightError
from gensight.figures import style
from gensight.figures.examples import ChosenExample
from gensight.figures.tiles import GalleryItem, Tile, row_tiles
from gensight.rounding import rounded
from gensight.specs.figures import GallerySpec

# Inches, chosen by eye: names and scores take what they need, the four tiles share the rest.
LABEL_IN, SCORE_IN, GAP_IN = 0.92, 0.66, 0.06
TILE_IN = (style.WIDTH_IN - LABEL_IN - SCORE_IN - 5 * GAP_IN) / 4
COLUMN_NAMES_IN = 0.2
CAPTION_LINE_IN, ROW_GAP_IN = 0.085, 0.09
# What fits below a tile in the captions' type.
CAPTION_CHARACTERS, CAPTION_LINES = 31, 3
COLUMNS = ("Input", "Raw output", "Extracted", "Truth", "Score")
# Rows that do not fit on one page belong into another gallery.
MAX_ROWS = 40


def score_text(spec: GallerySpec, example: ChosenExample) -> str:
    """Return the words of the score column: the raw number, or why there is none."""
    if example.raw is not None:
        return f"{spec.metric_label}\n{rounded(example.raw, spec.decimals, spec.scale)}"
    status = f"{example.status}: {example.reason}" if example.reason else example.status
    if example.value is None:
        return f"{spec.metric_label}\n–\n({status})"
    counted = rounded(example.value, spec.decimals, spec.scale)
    return f"{spec.metric_label}\n{counted}\n({status}, scored by policy)"


def draw_gallery(spec: GallerySpec, items: Sequence[GalleryItem]) -> Figure:
    """Draw the rows in the given order; a picture that is missing is a tile that says so.

    Raises:
        GensightError: there are more than MAX_ROWS items.
    """
    if len(items) > MAX_ROWS:
        raise GensightError(
            f"gallery '{spec.title}': {len(items)} rows do not fit on a page; name fewer models "
            f"or rules (at most {MAX_ROWS} rows)"
        )
    rows = [row_tiles(spec.task, item, spec.fit) for item in items]
    notes = [*style.heading_lines(spec.caption), *_rule_lines(items)]
    heights = [_row_height(tiles) for tiles in rows]
    head = style.TITLE_IN + style.LINE_IN * len(notes) + COLUMN_NAMES_IN
    captions = [_caption_height(tiles) for tiles in rows]
    total = head + sum(heights) + sum(captions) + (0 if rows else 0.5)
    with style.figure_style():
        figure = style.new_figure(total)
        style.draw_heading(figure, spec.title, notes, left=0.01)
        _draw_columns(figure, total, head)
        top = total - head
        for item, tiles, height, caption in zip(items, rows, heights, captions, strict=True):
            _draw_row(figure, item, tiles, top, height, total)
            top -= height + caption
        if not rows:
            figure.text(
                0.5,
                0.25 / total,
                "no answer fits the rule",
                ha="center",
                va="center",
                color=style.GREY,
            )
    return figure


def _rule_lines(items: Sequence[GalleryItem]) -> list[str]:
    """Return the texts of the rules in use, one per line, long ones wrapped."""
    texts = dict.fromkeys(f"{item.rule}: {item.rule_text}" for item in items if item.rule_text)
    lines = [f"Examples, {text}." for text in texts]
    return [part for line in lines for part in style.heading_lines(line)]


def _row_height(tiles: Sequence[Tile]) -> float:
    """Return the height of a row's pictures in inches: the tallest at tile width."""
    shapes = [tile.picture.shape for tile in tiles if tile.picture is not None]
    # A picture three times as high as wide is shrunk rather than given a page.
    ratio = min(max((shape[0] / shape[1] for shape in shapes), default=0.75), 1.5)
    return TILE_IN * ratio


def _caption(tile: Tile) -> list[str]:
    """Return the lines below a picture; a tile of words has none."""
    if tile.picture is None:
        return []
    limits = {"max_lines": CAPTION_LINES, "placeholder": " …"}
    return textwrap.wrap(tile.words, CAPTION_CHARACTERS, **limits)


def _caption_height(tiles: Sequence[Tile]) -> float:
    return CAPTION_LINE_IN * max(len(_caption(tile)) for tile in tiles) + ROW_GAP_IN


def _left(column: int) -> float:
    """Return the left edge of a tile column, or of the score column after the last, in inches."""
    return LABEL_IN + GAP_IN + column * (TILE_IN + GAP_IN)


def _draw_columns(figure: Figure, total: float, head: float) -> None:
    for column, name in enumerate(COLUMNS):
        width = SCORE_IN if name == "Score" else TILE_IN
        centre = (_left(column) + width / 2) / style.WIDTH_IN
        figure.text(
            centre, (total - head + 0.04) / total, name, ha="center", va="bottom", fontsize=7.5
        )


def _draw_row(
    figure: Figure,
    item: GalleryItem,
    tiles: Sequence[Tile],
    top: float,
    height: float,
    total: float,
) -> None:
    middle = (top - height / 2) / total
    _draw_name(figure, item, middle, total)
    for column, tile in enumerate(tiles):
        box = (
            _left(column) / style.WIDTH_IN,
            (top - height) / total,
            TILE_IN / style.WIDTH_IN,
            height / total,
        )
        _draw_tile(figure.add_axes(box), tile)
    centre = (_left(len(tiles)) + SCORE_IN / 2) / style.WIDTH_IN
    wrapped = "\n".join(part for line in item.score.split("\n") for part in _wrap(line, 12))
    figure.text(centre, middle, wrapped, ha="center", va="center", fontsize=6.5, linespacing=1.3)


def _draw_name(figure: Figure, item: GalleryItem, middle: float, total: float) -> None:
    """Write the model above the middle of a row, the sample and the rule below it."""
    name = "\n".join(_wrap(item.model_label, 14))
    sample = textwrap.wrap(item.sample_id.replace("_", "_ "), 20)
    details = "\n".join([*(line.replace("_ ", "_") for line in sample), item.rule])
    figure.text(
        0.01, middle, name, ha="left", va="bottom", fontsize=7, fontweight="bold", linespacing=1.1
    )
    figure.text(
        0.01,
        middle - 0.03 / total,
        details,
        ha="left",
        va="top",
        fontsize=5.5,
        color=style.GREY,
        linespacing=1.25,
    )


def _draw_tile(axes: Axes, tile: Tile) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    if tile.picture is None:
        axes.set_facecolor("#F3F3F3")
        axes.text(
            0.5,
            0.5,
            "\n".join(_wrap(tile.words, 26)),
            transform=axes.transAxes,
            ha="center",
            va="center",
            fontsize=6,
            color=style.GREY,
        )
        return
    axes.imshow(tile.picture, aspect="equal")
    axes.set_anchor("N")
    axes.annotate(
        "\n".join(_caption(tile)),
        (0.5, 0),
        (0, -2),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=5.5,
        color=style.GREY,
        linespacing=1.1,
    )


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width) or [""]
