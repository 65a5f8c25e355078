"""Curves over sizes: how each metric changes with the number of cells of a side, a line per model.

The form of PixelBench's study of resolutions: one panel per metric, sizes on a logarithmic axis.
Bands (of more than four lines: bars) are 95 % intervals. Everything comes from summary rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator

from gensight.figures import style
from gensight.figures.curves import panel_rows, scaled_interval
from gensight.records import Summary
from gensight.specs.pixel_figures import SizeCurvesSpec, SizePanelSpec

# Inches, chosen by eye.
PANEL_IN, LEFT_IN, RIGHT_IN, BOTTOM_IN, NAMES_IN = 1.5, 0.36, 0.08, 0.36, 0.2
LEGEND_LINE_IN, LEGEND_COLUMNS = 0.15, 5
# Okabe and Ito's colours in an order in which neighbours differ in brightness too; yellow is left
# out, which paper swallows. A marker of its own tells a line apart without colour.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#000000",
    "#56B4E9",
    "#666666",
)
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)))
#: More lines than so many have bars in place of bands.
MOST_BANDS = 4
#: Sizes that carry a number; the others are ticks.
NAMED_SIZES = (4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class SizePoint:
    """One summary row as drawn: size, scaled value and interval; hollow if incomplete."""

    size: int
    value: float
    low: float | None
    high: float | None
    complete: bool


@dataclass(frozen=True)
class SizeLine:
    """The points of a model in one panel, by rising size; `place` says how its line looks."""

    model: str
    label: str
    place: int
    higher_is_better: bool
    points: tuple[SizePoint, ...]


def size_lines(
    spec: SizeCurvesSpec, labels: Mapping[str, str], summaries: Iterable[Summary]
) -> list[list[SizeLine]]:
    """Return the lines of each panel: of the models that have a label and a number.

    Raises:
        SpecError: a panel names no variant and its scorer has several.
    """
    rows = list(summaries)
    return [_panel_lines(panel, spec, labels, rows) for panel in spec.panels]


def _panel_lines(
    panel: SizePanelSpec, spec: SizeCurvesSpec, labels: Mapping[str, str], rows: list[Summary]
) -> list[SizeLine]:
    found: dict[str, list[tuple[Summary, SizePoint]]] = {}
    for size in sorted(spec.sizes):
        for row in panel_rows(panel.at(size), rows):
            # A disturbed model has several numbers, and so no line.
            known = row.model in labels and row.severity is None
            if known and row.value is not None and math.isfinite(row.value):
                found.setdefault(row.model, []).append((row, _point(row, size, panel.scale)))
    return [
        SizeLine(
            name,
            labels[name],
            place,
            found[name][0][0].higher_is_better,
            tuple(point for _, point in found[name]),
        )
        for place, name in enumerate(spec.models)
        if name in found
    ]


def _point(row: Summary, size: int, scale: float) -> SizePoint:
    low, high = scaled_interval(row, scale)
    return SizePoint(size, row.value * scale, low, high, complete=not row.infrastructure)


def draw_size_curves(spec: SizeCurvesSpec, lines: Sequence[Sequence[SizeLine]]) -> Figure:
    """Draw the panels with one legend above them; a panel without a line says so."""
    across = min(spec.panels_per_row, len(spec.panels))
    down = -(-len(spec.panels) // across)
    shown = {line.place: line for panel in lines for line in panel}
    told = style.heading_lines(spec.caption)
    legend_in = legend_height_in(len(shown))
    head_in = style.TITLE_IN + style.LINE_IN * len(told) + legend_in + 0.04
    height_in = head_in + down * (NAMES_IN + PANEL_IN + BOTTOM_IN)
    with style.figure_style():
        figure = style.new_figure(height_in)
        style.draw_heading(figure, spec.title, told, left=0.01)
        wide_in = style.WIDTH_IN / across
        for place, (panel, found) in enumerate(zip(spec.panels, lines, strict=True)):
            row, column = divmod(place, across)
            left_in = column * wide_in + LEFT_IN
            top_in = head_in + row * (NAMES_IN + PANEL_IN + BOTTOM_IN) + NAMES_IN
            box = (
                left_in / style.WIDTH_IN,
                1 - (top_in + PANEL_IN) / height_in,
                (wide_in - LEFT_IN - RIGHT_IN) / style.WIDTH_IN,
                PANEL_IN / height_in,
            )
            _draw_panel(figure.add_axes(box), panel, spec.sizes, found)
        _draw_legend(figure, [shown[place] for place in sorted(shown)], head_in - legend_in)
    return figure


def _draw_panel(
    axes: Axes, panel: SizePanelSpec, sizes: Sequence[int], lines: Sequence[SizeLine]
) -> None:
    directions = {line.higher_is_better for line in lines}
    arrow = f" {style.ARROWS[directions.pop()]}" if len(directions) == 1 else ""
    axes.set_title(panel.label + arrow, pad=4, fontsize=7)
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(sizes) * 0.9, max(sizes) * 1.11)
    named = [size for size in sizes if size in NAMED_SIZES] or list(sizes)
    axes.xaxis.set_major_locator(FixedLocator(named))
    axes.xaxis.set_major_formatter(lambda size, _: f"{size:g}")
    others = [size for size in sizes if size not in named]
    axes.xaxis.set_minor_locator(FixedLocator(others) if others else NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=1.2, width=0.5)
    axes.set_xlabel("cells of a side", labelpad=1.5, fontsize=6)
    axes.grid(axis="y", color="#EBEBEB", linewidth=0.5)
    axes.set_axisbelow(True)
    if not lines:
        axes.set_yticks([])
        look = {"ha": "center", "va": "center", "color": style.GREY, "fontsize": 6}
        axes.text(0.5, 0.5, "not run", transform=axes.transAxes, **look)
        return
    axes.yaxis.set_major_locator(MaxNLocator(5))
    for line in lines:
        _draw_line(axes, line, len(lines))


def _look(place: int) -> dict[str, object]:
    n = len(COLOURS)
    return {
        "color": COLOURS[place % n],
        "linestyle": DASHES[place // n % len(DASHES)],
        "linewidth": 1.1,
    }


def _draw_line(axes: Axes, line: SizeLine, n_lines: int) -> None:
    look = _look(line.place)
    bounded = [point for point in line.points if point.low is not None and point.high is not None]
    lows, highs = [point.low for point in bounded], [point.high for point in bounded]
    sizes = [point.size for point in bounded]
    if n_lines <= MOST_BANDS:
        band = {"color": look["color"], "alpha": 0.13, "linewidth": 0, "zorder": 1}
        axes.fill_between(sizes, lows, highs, **band)
    else:
        # Many bands hide each other: thin bars, each line's a little beside the others'.
        beside = 1.012 ** (line.place - (n_lines - 1) / 2)
        bar = {"colors": look["color"], "alpha": 0.45, "linewidth": 0.7, "zorder": 1}
        axes.vlines([size * beside for size in sizes], lows, highs, **bar)
    axes.plot([p.size for p in line.points], [p.value for p in line.points], zorder=3, **look)
    for point in line.points:
        fill = look["color"] if point.complete else "white"
        mark = {"marker": _marker(line), "markersize": 3.0, "color": look["color"]}
        edge = {"markerfacecolor": fill, "markeredgewidth": 0.6}
        axes.plot(point.size, point.value, zorder=4, **mark, **edge)


def _marker(line: SizeLine) -> str:
    return MARKERS[line.place % len(MARKERS)]


def _draw_legend(figure: Figure, lines: Sequence[SizeLine], top_in: float) -> None:
    handles = [
        Line2D([], [], marker=_marker(line), markersize=3.4, label=line.label, **_look(line.place))
        for line in lines
    ]
    draw_legend(figure, handles, top_in, handlelength=2.4, labelspacing=0.35)


def legend_height_in(entries: int) -> float:
    """Return the height of a legend of so many entries."""
    return LEGEND_LINE_IN * -(-entries // LEGEND_COLUMNS)


def draw_legend(figure: Figure, handles: Sequence[Line2D], top_in: float, **spaces: float) -> None:
    """Write a legend over the whole width, `top_in` below the top; none without entries."""
    if not handles:
        return
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, 1 - (top_in - 0.04) / figure.get_figheight()),
        ncols=min(LEGEND_COLUMNS, len(handles)),
        frameon=False,
        fontsize=6.5,
        columnspacing=1.6,
        borderaxespad=0.2,
        **spaces,
    )
