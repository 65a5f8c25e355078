"""Figures of pictures are stacked from strips: horizontal bands with a height in inches.

Every kind of gallery gives strips, so that several can be set into one figure. Places are inches
from the left edge and from the top of the figure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gensight.errors import GensightError
from gensight.figures import style
from gensight.figures.items import Tile

LEFT_IN = 0.07
CAPTION_PT, CAPTION_LINE_IN = 5.5, 0.085
ROW_GAP_IN = 0.09
# A picture more than one and a half times as high as wide is shrunk rather than given a page.
TALLEST, EMPTY_RATIO = 1.5, 0.75
_TILE_GREY = "#F3F3F3"


@dataclass(frozen=True)
class Strip:
    """A band of a figure: its height, and what draws it given the figure and the band's top.

    The names of columns carry those names, so that a panel need not repeat those of the one above.
    """

    height_in: float
    draw: Callable[[Figure, float], None]
    names: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True)
class Placed:
    """A tile in a row: where it begins, and the lines below it."""

    tile: Tile
    left_in: float
    caption: Sequence[str] = field(default_factory=tuple)


def stacked(title: str, lines: Sequence[str], strips: Sequence[Strip]) -> Figure:
    """Return a figure with a heading and the strips below it.

    Raises:
        GensightError: the figure is higher than any page.
    """
    head_in = style.TITLE_IN + style.LINE_IN * len(lines)
    total_in = head_in + sum(strip.height_in for strip in strips)
    if total_in > style.MAX_HEIGHT_IN:
        raise GensightError(
            f"figure '{title}': {total_in:.0f} inches do not fit on a page; name fewer models, "
            f"rules or panels"
        )
    with style.figure_style():
        figure = style.new_figure(total_in)
        style.draw_heading(figure, title, lines, left=LEFT_IN / style.WIDTH_IN)
        top_in = head_in
        for strip in strips:
            strip.draw(figure, top_in)
            top_in += strip.height_in
    return figure


def write(figure: Figure, left_in: float, top_in: float, text: str, **look: object) -> None:
    """Write text at a place of the figure; `look` are matplotlib's text properties."""
    height_in = figure.get_figheight()
    figure.text(left_in / style.WIDTH_IN, 1 - top_in / height_in, text, **look)


def write_lines(
    figure: Figure, left_in: float, top_in: float, lines: Sequence[str], points: float = 6
) -> None:
    """Write small grey lines below each other, evenly, whatever their letters."""
    line_in = CAPTION_LINE_IN if points == CAPTION_PT else style.LINE_IN
    for place, line in enumerate(lines):
        below_in = top_in + line_in * place
        write(figure, left_in, below_in, line, va="top", fontsize=points, color=style.GREY)


def words_strip(lines: Sequence[str]) -> Strip:
    """Return grey lines of words, for what cannot be shown; they are wrapped to the page."""
    told = [part for line in lines for part in style.heading_lines(line)]

    def draw(figure: Figure, top_in: float) -> None:
        write_lines(figure, LEFT_IN, top_in, told)

    return Strip(style.LINE_IN * len(told) + ROW_GAP_IN, draw)


def panel_strip(title: str, lines: Sequence[str]) -> Strip:
    """Return the heading of a panel: a bold title and grey lines below it."""

    def draw(figure: Figure, top_in: float) -> None:
        write(figure, LEFT_IN, top_in + 0.06, title, va="top", fontsize=7.5, weight="bold")
        write_lines(figure, LEFT_IN, top_in + 0.21, lines)

    return Strip(0.21 + style.LINE_IN * len(lines) + 0.03, draw)


def names_strip(names: Sequence[tuple[str, float, float]], points: float = 7.5) -> Strip:
    """Return the names of columns, each with its left edge and width, wrapped to that.

    Their last lines stand on one baseline at the bottom of the strip.
    """
    # Names hold capitals and digits: they run wider than prose.
    lines = [wrapped_name(name, style.characters(width, 1.08 * points)) for name, _, width in names]
    line_in = 1.25 * points / 72
    height_in = line_in * max(map(len, lines)) + 0.09

    def draw(figure: Figure, top_in: float) -> None:
        for (_, left_in, width_in), name in zip(names, lines, strict=True):
            for place, line in enumerate(reversed(name)):
                base_in = top_in + height_in - 0.07 - line_in * place
                look = {"ha": "center", "va": "baseline", "fontsize": points}
                write(figure, left_in + width_in / 2, base_in, line, **look)

    return Strip(height_in, draw, tuple(names))


def row_height(tiles: Sequence[Tile], width_in: float) -> float:
    """Return the height of a row's pictures in inches: the tallest at the width of a tile."""
    shapes = [tile.picture.shape for tile in tiles if tile.picture is not None]
    ratio = max((shape[0] / shape[1] for shape in shapes), default=EMPTY_RATIO)
    return width_in * min(ratio, TALLEST)


def tiles_strip(placed: Sequence[Placed], width_in: float) -> Strip:
    """Return one row of tiles of the same width, with their captions and a gap below."""
    height_in = row_height([one.tile for one in placed], width_in)
    lines = max((len(one.caption) for one in placed), default=0)

    def draw(figure: Figure, top_in: float) -> None:
        for one in placed:
            draw_tile(figure, one, (top_in, width_in, height_in))

    return Strip(height_in + CAPTION_LINE_IN * lines + ROW_GAP_IN, draw)


def draw_tile(figure: Figure, placed: Placed, band: tuple[float, float, float]) -> None:
    """Draw a tile into a box of `band` (top, width and height in inches), its caption below it.

    A tile without a picture is a grey box with its words.
    """
    top_in, width_in, height_in = band
    total_in = figure.get_figheight()
    box = (placed.left_in, total_in - top_in - height_in, width_in, height_in)
    left, bottom, width, height = box
    axes = figure.add_axes(
        (left / style.WIDTH_IN, bottom / total_in, width / style.WIDTH_IN, height / total_in)
    )
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        # A white answer on a white page has no edge of its own.
        spine.set(visible=True, edgecolor=style.LIGHT_GREY, linewidth=0.4)
    if placed.tile.picture is None:
        _write_words(axes, placed.tile.words, style.characters(width_in, 6))
    else:
        axes.imshow(placed.tile.picture, aspect="equal")
        axes.set_anchor("N")
    for place, line in enumerate(placed.caption):
        axes.annotate(
            line,
            (0.5, 0),
            (0, -2 - 72 * CAPTION_LINE_IN * place),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=CAPTION_PT,
            color=style.GREY,
        )


def _write_words(axes: Axes, words: str, characters: int) -> None:
    axes.set_facecolor(_TILE_GREY)
    axes.text(
        0.5,
        0.5,
        "\n".join(wrapped(words, characters)),
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=6,
        color=style.GREY,
    )


def wrapped(text: str, width: int, max_lines: int | None = None) -> list[str]:
    """Return text in lines of at most `width` characters; never empty, and cut with an ellipsis."""
    return textwrap.wrap(text, width, max_lines=max_lines, placeholder=" …") or [""]


def wrapped_name(text: str, width: int) -> list[str]:
    """Return a name in lines, broken at spaces and after hyphens wherever they stand."""
    # Between digits and letters textwrap sees no hyphen, so it is told of a place to break.
    lines = textwrap.wrap(
        text.replace("-", "-\t"),
        width,
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )
    return [line.replace("\t", "") for line in lines] or [""]
