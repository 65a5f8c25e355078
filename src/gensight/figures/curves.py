"""Disturbance curves: how each metric changes as a perfect answer is spoilt more and more.

One row of panels per metric with a shared y axis, one column per disturbance with its own unit on
the x axis (PROTOCOLS 1.7). The dashed lines are the metric's ceiling (the truth through the same
interface) and floor (the best row that cannot see or cannot understand); a curve that reaches the
floor has lost all that was seen. Everything comes from summary rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from gensight.figures import style
from gensight.records import Summary
from gensight.specs.figures import DisturbanceCurvesSpec, DisturbanceSpec, MetricPanelSpec
from gensight.variants import only_variant

ROW_HEIGHT_IN = 1.12
LEFT_IN, RIGHT_IN, BOTTOM_IN = 0.62, 0.08, 0.42
# Room above the first row for the disturbances' names.
NAMES_IN = 0.22


@dataclass(frozen=True)
class CurvePoint:
    """One summary row as drawn: severity, scaled value and interval; hollow if incomplete."""

    severity: float
    value: float
    low: float | None
    high: float | None
    complete: bool


@dataclass(frozen=True)
class Panel:
    """One panel: the points by severity, and the bounds of its metric (scaled)."""

    points: tuple[CurvePoint, ...]
    floor: float | None
    ceiling: float | None


def draw_disturbance_curves(spec: DisturbanceCurvesSpec, summaries: Iterable[Summary]) -> Figure:
    """Draw the grid of panels; a disturbance that was not run for a metric says so.

    Raises:
        SpecError: a panel names no variant and its scorer has several.
    """
    rows = list(summaries)
    with style.figure_style():
        lines = style.heading_lines(spec.caption)
        top = style.TITLE_IN + style.LINE_IN * len(lines) + NAMES_IN
        height = top + BOTTOM_IN + ROW_HEIGHT_IN * len(spec.panels)
        figure = style.new_figure(height)
        grid = figure.subplots(
            len(spec.panels),
            len(spec.disturbances),
            squeeze=False,
            sharey="row",
            sharex="col",
            gridspec_kw=_margins(height, top),
        )
        for metric, line in zip(spec.panels, grid, strict=True):
            cell = panel_rows(metric, rows)
            for disturbance, axes in zip(spec.disturbances, line, strict=True):
                _draw_panel(axes, curve_panel(metric, disturbance, spec.undisturbed, cell))
            _finish_row(line, metric, cell)
        _finish_columns(grid, spec.disturbances)
        figure.align_ylabels([line[0] for line in grid])
        style.draw_heading(figure, spec.title, lines, left=0.01)
        _draw_legend(figure)
    return figure


def curve_panel(
    metric: MetricPanelSpec,
    disturbance: DisturbanceSpec,
    undisturbed: str | None,
    rows: Sequence[Summary],
) -> Panel:
    """Return what a panel shows: the disturbed model's rows, from severity 0 where known."""
    found = {}
    for row in rows:
        severity = 0.0 if row.model == undisturbed else row.severity
        shown = severity is not None and row.model in (disturbance.model, undisturbed)
        if shown and row.value is not None and math.isfinite(row.value):
            found[severity] = _point(row, severity, metric.scale)
    # An undisturbed point alone is no curve.
    disturbed = any(row.model == disturbance.model for row in rows)
    points = tuple(found[severity] for severity in sorted(found)) if disturbed else ()
    return Panel(points, _bound(rows, "floor", metric), _bound(rows, "ceiling", metric))


def _point(row: Summary, severity: float, scale: float) -> CurvePoint:
    low, high = scaled_interval(row, scale)
    return CurvePoint(severity, row.value * scale, low, high, complete=not row.infrastructure)


def scaled_interval(row: Summary, scale: float) -> tuple[float | None, float | None]:
    """Return the ends of a row's interval as drawn; None: it has none, or no finite one."""
    low, high = (
        None if bound is None or not math.isfinite(bound) else bound * scale
        for bound in (row.interval_low, row.interval_high)
    )
    return low, high


def _bound(rows: Sequence[Summary], name: str, metric: MetricPanelSpec) -> float | None:
    known = {getattr(row, name) for row in rows} - {None}
    return min(known) * metric.scale if len(known) == 1 else None


def panel_rows(metric: MetricPanelSpec, rows: Iterable[Summary]) -> list[Summary]:
    """Return the summary rows of every model in a panel's metric, over all strata."""
    place = (metric.benchmark, metric.prompt, metric.scorer, metric.metric, metric.fit)
    found = [
        row
        for row in rows
        if (row.benchmark, row.prompt, row.scorer, row.metric, row.fit) == place
        and row.stratum is None
        and metric.variant in (None, row.variant)
    ]
    where = f"panel '{metric.label}' of {metric.benchmark}"
    only_variant(where, metric.scorer, (row.variant for row in found))
    return found


def _margins(height_in: float, top_in: float) -> dict[str, float]:
    return {
        "left": LEFT_IN / style.WIDTH_IN,
        "right": 1 - RIGHT_IN / style.WIDTH_IN,
        "top": 1 - top_in / height_in,
        "bottom": BOTTOM_IN / height_in,
        "wspace": 0.12,
        "hspace": 0.18,
    }


def _draw_panel(axes: Axes, panel: Panel) -> None:
    for bound, colour in ((panel.ceiling, style.GREEN), (panel.floor, style.VERMILION)):
        if bound is not None:
            axes.axhline(bound, color=colour, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.grid(axis="y", color=style.LIGHT_GREY, linewidth=0.4)
    axes.set_axisbelow(True)
    if not panel.points:
        axes.text(
            0.5,
            0.5,
            "not run",
            transform=axes.transAxes,
            ha="center",
            va="center",
            color=style.GREY,
            fontsize=6,
        )
        return
    severities = [point.severity for point in panel.points]
    values = [point.value for point in panel.points]
    axes.plot(severities, values, color=style.BLUE, linewidth=1.1, zorder=3)
    for point in panel.points:
        if point.low is not None and point.high is not None:
            axes.plot(
                [point.severity] * 2,
                [point.low, point.high],
                color=style.BLUE,
                linewidth=0.7,
                alpha=0.6,
                zorder=2,
            )
        fill = style.BLUE if point.complete else "white"
        axes.plot(
            point.severity,
            point.value,
            marker="o",
            markersize=2.8,
            color=style.BLUE,
            markerfacecolor=fill,
            markeredgewidth=0.7,
            zorder=4,
        )


def _finish_row(line: Sequence[Axes], metric: MetricPanelSpec, rows: Sequence[Summary]) -> None:
    directions = {row.higher_is_better for row in rows}
    arrow = f" {style.ARROWS[directions.pop()]}" if len(directions) == 1 else ""
    line[0].set_ylabel(metric.label + arrow)
    line[0].yaxis.set_major_locator(MaxNLocator(4))
    low, high = line[0].get_ylim()
    air = 0.06 * (high - low)
    line[0].set_ylim(low - air, high + air)
    for axes in line[1:]:
        axes.tick_params(axis="y", length=0, labelleft=False)


def _finish_columns(
    grid: Sequence[Sequence[Axes]], disturbances: Sequence[DisturbanceSpec]
) -> None:
    for place, disturbance in enumerate(disturbances):
        grid[0][place].set_title(disturbance.label, pad=3)
        bottom = grid[-1][place]
        bottom.set_xlabel(disturbance.unit, labelpad=2)
        bottom.xaxis.set_major_locator(MaxNLocator(4, integer=False))
        left, right = bottom.get_xlim()
        bottom.set_xlim(min(left, -0.04 * right), right)


def _draw_legend(figure: Figure) -> None:
    dashes = {"linewidth": 0.8, "linestyle": (0, (4, 2))}
    handles = [
        Line2D(
            [],
            [],
            color=style.BLUE,
            linewidth=1.1,
            marker="o",
            markersize=2.8,
            label="disturbed oracle, 95 % interval",
        ),
        Line2D([], [], color=style.GREEN, label="ceiling", **dashes),
        Line2D([], [], color=style.VERMILION, label="floor", **dashes),
    ]
    figure.legend(
        handles=handles,
        loc="upper right",
        bbox_to_anchor=(1 - RIGHT_IN / style.WIDTH_IN, 1.0),
        ncols=3,
        frameon=False,
        fontsize=6.5,
        handlelength=2.2,
        columnspacing=1.4,
        borderaxespad=0.3,
    )
