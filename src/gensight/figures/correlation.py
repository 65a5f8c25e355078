"""Correlations over models: each model a point, with an ellipse of what its items leave open.

PROTOCOLS 2.6: never a bare r. The half-axes of an ellipse are those of the two 95 % intervals,
which resample items (concepts, pictures), made so much longer that both numbers together lie
inside in 95 %; the sides are taken as drawn apart. An interval with unequal sides gives quarters
of unequal ellipses. What the handful of models leaves open stands in words: Fisher's interval, and
p over all orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import MaxNLocator

from gensight.figures import style
from gensight.figures.size_curves import COLOURS, MARKERS, draw_legend, legend_height_in
from gensight.records import Summary
from gensight.specs.correlation_figure import AxisSpec, CorrelationFigureSpec, CorrelationPanelSpec

# Inches, chosen by eye.
PANEL_IN, LEFT_IN, RIGHT_IN, BOTTOM_IN, NAMES_IN = 2.6, 0.42, 0.1, 0.4, 0.46
#: From the half of a 95 % interval to that of a 95 % ellipse of two numbers: the root of the 95 %
#: point of chi squared with two degrees of freedom, over the 97.5 % point of the normal.
STRETCH = math.sqrt(-2 * math.log(0.05)) / 1.959964
CORNERS = 200
#: A p that three decimals would print as 0.
LEAST_P = 0.0005


@dataclass(frozen=True)
class Side:
    """One number of a model as drawn, scaled, with its interval; hollow if incomplete."""

    value: float
    low: float | None
    high: float | None
    complete: bool


@dataclass(frozen=True)
class CorrelationPoint:
    """A model in one panel."""

    model: str
    label: str
    x: Side
    y: Side


@dataclass(frozen=True)
class CorrelationPanel:
    """What a panel shows: its models, by name, and the coefficients in words."""

    points: tuple[CorrelationPoint, ...]
    told: tuple[str, ...]


def correlation_panel(
    panel: CorrelationPanelSpec,
    aggregate: str,
    labels: Mapping[str, str],
    summaries: Iterable[Summary],
) -> CorrelationPanel:
    """Return what a panel shows of the models in `labels` that have both numbers."""
    rows = [row for row in summaries if row.scorer == "aggregate"]
    x, y = (_side(axis, rows) for axis in (panel.x, panel.y))
    points = tuple(
        CorrelationPoint(name, labels[name], x[name], y[name])
        for name in sorted({*x} & {*y} & {*labels})
    )
    facts = {
        row.metric: row
        for row in rows
        if (row.benchmark, row.model) == (aggregate, panel.correlation)
    }
    return CorrelationPanel(points, tuple(_told(facts)))


def _side(axis: AxisSpec, rows: Sequence[Summary]) -> dict[str, Side]:
    return {
        row.model: Side(
            row.value * axis.scale,
            None if row.interval_low is None else row.interval_low * axis.scale,
            None if row.interval_high is None else row.interval_high * axis.scale,
            complete=not row.infrastructure,
        )
        for row in rows
        if (row.benchmark, row.metric) == (axis.aggregate, axis.row)
        and row.value is not None
        and math.isfinite(row.value)
    }


def _told(facts: Mapping[str, Summary]) -> Iterable[str]:
    """Yield each coefficient with its interval and p; none without them."""
    for metric, sign in (("pearson", "r"), ("spearman", "ρ"), ("kendall", "τ")):
        row, p = facts.get(metric), facts.get(f"{metric}_p")
        if row is None or row.value is None or p is None or p.value is None:
            continue
        interval = ""
        if row.interval_low is not None and row.interval_high is not None:
            interval = f" [{row.interval_low:.2f}, {row.interval_high:.2f}]"
        told = "p < 0.001" if p.value < LEAST_P else f"p = {p.value:.3f}"
        yield f"{sign} = {row.value:.2f}{interval}, {told}"


def draw_correlations(spec: CorrelationFigureSpec, panels: Sequence[CorrelationPanel]) -> Figure:
    """Draw the panels side by side, one legend above them; a panel without a model says so."""
    labels = {point.model: point.label for panel in panels for point in panel.points}
    places = {model: place for place, model in enumerate(sorted(labels))}
    told = style.heading_lines(spec.caption)
    legend_in = legend_height_in(len(labels))
    head_in = style.TITLE_IN + style.LINE_IN * len(told) + legend_in + 0.04
    height_in = head_in + NAMES_IN + PANEL_IN + BOTTOM_IN
    with style.figure_style():
        figure = style.new_figure(height_in)
        style.draw_heading(figure, spec.title, told, left=0.01)
        wide_in = style.WIDTH_IN / max(len(panels), 2)
        for place, (panel, found) in enumerate(zip(spec.panels, panels, strict=True)):
            box = (
                (place * wide_in + LEFT_IN) / style.WIDTH_IN,
                BOTTOM_IN / height_in,
                (wide_in - LEFT_IN - RIGHT_IN) / style.WIDTH_IN,
                PANEL_IN / height_in,
            )
            _draw_panel(figure.add_axes(box), panel, found, places)
        _draw_legend(figure, labels, places, head_in - legend_in)
    return figure


def _draw_panel(
    axes: Axes, spec: CorrelationPanelSpec, panel: CorrelationPanel, places: Mapping[str, int]
) -> None:
    words = [f"{spec.title} ({len(panel.points)} models)", *panel.told[:1]]
    words += [";  ".join(panel.told[1:])] if panel.told[1:] else []
    axes.set_title("\n".join(words), pad=4, fontsize=6.5, loc="left")
    axes.set_xlabel(spec.x.label, labelpad=1.5)
    axes.set_ylabel(spec.y.label, labelpad=1.5)
    axes.grid(color="#EBEBEB", linewidth=0.5)
    axes.set_axisbelow(True)
    if not panel.points:
        axes.set_xticks([])
        axes.set_yticks([])
        look = {"ha": "center", "va": "center", "color": style.GREY, "fontsize": 6}
        axes.text(0.5, 0.5, "not run", transform=axes.transAxes, **look)
        return
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))
    for point in panel.points:
        colour = _colour(places[point.model])
        outline = ellipse(point)
        if outline is not None:
            fill = {"facecolor": colour, "alpha": 0.15, "linewidth": 0, "zorder": 1}
            axes.add_patch(Polygon(outline, closed=True, **fill))
            axes.plot(*outline.T, color=colour, linewidth=0.6, alpha=0.7, zorder=2)
        is_whole = point.x.complete and point.y.complete
        mark = {"marker": _marker(places[point.model]), "markersize": 3.6, "color": colour}
        face = {"markerfacecolor": colour if is_whole else "white", "markeredgewidth": 0.7}
        axes.plot(point.x.value, point.y.value, linestyle="none", zorder=3, **mark, **face)
    axes.margins(0.06)


def ellipse(point: CorrelationPoint) -> np.ndarray | None:
    """Return the outline of a model's ellipse, float64 (n, 2), closed; None without intervals."""
    sides = (point.x, point.y)
    if any(side.low is None or side.high is None for side in sides):
        return None
    angles = np.linspace(0, 2 * math.pi, CORNERS + 1)
    outline = []
    for side, turned in zip(sides, (np.cos(angles), np.sin(angles)), strict=True):
        assert side.low is not None and side.high is not None
        half = np.where(turned >= 0, side.high - side.value, side.value - side.low)
        outline.append(side.value + STRETCH * half * turned)
    return np.stack(outline, axis=1)


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _marker(place: int) -> str:
    # Beyond the last colour the pairs of colour and mark are others.
    return MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]


def _draw_legend(
    figure: Figure, labels: Mapping[str, str], places: Mapping[str, int], top_in: float
) -> None:
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=_marker(place),
            markersize=3.8,
            color=_colour(place),
            label=labels[model],
        )
        for model, place in places.items()
    ]
    draw_legend(figure, handles, top_in, handletextpad=0.4)
