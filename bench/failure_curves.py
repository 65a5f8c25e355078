"""Psychometric curves: the share of each verdict against the severity of an operator."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import failure_operators

COLUMNS = 5
PANEL_INCHES = (2.6, 1.9)
COLOURS = {"segmentation": "tab:blue", "depth": "tab:orange", "counting": "tab:green"}


def curves(rows: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the share of each verdict at each severity; for masks the mean IoU as well."""
    groups: dict[tuple[str, str, str, float], list[Any]] = defaultdict(list)
    for row in rows:
        groups[(row.split, row.task, row.operator, row.severity)].append(row)
    for (split, task, operator, severity), group in sorted(groups.items()):
        ious = [row.iou for row in group if row.iou is not None]
        head = {
            "split": split,
            "task": task,
            "operator": operator,
            "class": group[0].true_class,
            "severity": severity,
            "unit": failure_operators.OPERATORS[operator].unit,
            "n": len(group),
            "right": sum(row.is_hit for row in group) / len(group),
            "mean_iou": round(math.fsum(ious) / len(ious), 4) if ious else "",
        }
        for verdict, n in sorted(Counter(row.verdict for row in group).items()):
            yield head | {"verdict": verdict, "share": n / len(group)}


def fall_point(rows: Sequence[Any], fall: float) -> dict[str, float | None]:
    """Return the least severity at which each drift of masks costs this much mean IoU."""
    found: dict[str, float | None] = {}
    for operator in sorted({row.operator for row in rows if row.true_class == "drift"}):
        by_severity: dict[float, list[float]] = defaultdict(list)
        for row in rows:
            if row.operator == operator and row.iou is not None:
                by_severity[row.severity].append(row.iou)
        means = {key: math.fsum(ious) / len(ious) for key, ious in by_severity.items()}
        below = [severity for severity, mean in means.items() if mean <= 1 - fall]
        found[operator] = min(below) if below else None
    return found


def draw(listed: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the share of the true class by severity, one panel an operator, one line a task."""
    from matplotlib import pyplot

    lines: dict[str, dict[str, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in listed:
        lines[row["operator"]][row["task"]][row["severity"]] = row["right"]
    shown = {name: tasks for name, tasks in lines.items() if max(map(len, tasks.values())) > 2}
    n_rows = max(1, -(-len(shown) // COLUMNS))
    size = COLUMNS * PANEL_INCHES[0], n_rows * PANEL_INCHES[1]
    figure, axes = pyplot.subplots(
        n_rows, COLUMNS, figsize=size, squeeze=False, sharey=True, layout="constrained"
    )
    for axis in axes.flat[len(shown) :]:
        axis.set_axis_off()
    for axis, (name, tasks) in zip(axes.flat, sorted(shown.items()), strict=False):
        operator = failure_operators.OPERATORS[name]
        for task, points in sorted(tasks.items()):
            severities = sorted(points)
            shares = [points[severity] for severity in severities]
            axis.plot(severities, shares, "o-", markersize=3, color=COLOURS[task], label=task)
        axis.set_title(f"{operator.split}: {name}\n{operator.true_class}", fontsize=7)
        axis.set_xlabel(operator.unit, fontsize=6)
        axis.set_ylim(-0.05, 1.05)
        axis.tick_params(labelsize=6)
    handles = [pyplot.Line2D([], [], color=colour, label=task) for task, colour in COLOURS.items()]
    figure.legend(handles=handles, fontsize=7, loc="outside lower center", ncols=len(handles))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
