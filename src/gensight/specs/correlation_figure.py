"""The spec of a figure of correlations: how two numbers go together over models."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gensight.specs.base import NAME_PATTERN, Spec
from gensight.specs.figures import FigureSpec, MetricPanelSpec


class AxisSpec(Spec):
    """One axis: a row of an aggregate, `scale` times its value, under a label."""

    aggregate: str = Field(pattern=NAME_PATTERN)
    row: str = Field(pattern=NAME_PATTERN)
    label: str
    scale: float = Field(default=1.0, gt=0)

    def number(self) -> MetricPanelSpec:
        """Return the number of the axis, as panels of curves name theirs."""
        return MetricPanelSpec(
            benchmark=self.aggregate,
            prompt="all",
            scorer="aggregate",
            metric=self.row,
            label=self.label,
        )


class CorrelationPanelSpec(Spec):
    """One panel: the models of a correlation of the figure's aggregate, along its two sides."""

    correlation: str = Field(pattern=NAME_PATTERN)
    title: str
    x: AxisSpec
    y: AxisSpec


class CorrelationFigureSpec(FigureSpec):
    """Models as points with ellipses of their uncertainty; every coefficient has its p and n.

    `aggregate` holds the correlations; the sides of each are what its panel has on its axes.
    """

    kind: Literal["correlation"]
    aggregate: str = Field(pattern=NAME_PATTERN)
    panels: list[CorrelationPanelSpec] = Field(min_length=1, max_length=3)

    @property
    def numbers(self) -> dict[str, MetricPanelSpec]:
        """Return the axes of all panels, by the start of their keys."""
        return {
            f"panels.{place}.{name}.": getattr(panel, name).number()
            for place, panel in enumerate(self.panels)
            for name in ("x", "y")
        }

    @property
    def benchmarks(self) -> list[str]:
        """Return the aggregates that the figure is drawn from, each once."""
        sides = [axis.aggregate for panel in self.panels for axis in (panel.x, panel.y)]
        return list(dict.fromkeys([self.aggregate, *sides]))

    @property
    def model_names(self) -> list[str]:
        """Return no names: the models are those of the correlation."""
        return []
