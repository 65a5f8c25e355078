"""Specs of figures about grids: the grids themselves in panels, and curves over their sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, model_validator

from gensight.specs.base import NAME_PATTERN, Names, Spec, each_once
from gensight.specs.figures import (
    FigureSpec,
    GalleryModelSpec,
    GallerySpec,
    MetricPanelSpec,
    Rule,
)
from gensight.specs.prompt import Task


class SizePanelSpec(MetricPanelSpec):
    """One panel of curves over sizes: a metric of the prompts `{prompt}_{size}`."""

    prompt: str = Field(default="grid", pattern=NAME_PATTERN)

    def at(self, size: int) -> MetricPanelSpec:
        """Return the metric of one size."""
        return MetricPanelSpec(**self.model_dump() | {"prompt": f"{self.prompt}_{size}"})


Sizes = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1), AfterValidator(each_once)]


class SizeCurvesSpec(FigureSpec):
    """How each metric changes with the number of cells of a side: a line per model.

    A size that the run does not ask for has no point.
    """

    kind: Literal["size_curves"]
    panels: list[SizePanelSpec] = Field(min_length=1)
    sizes: Sizes
    models: Annotated[Names, Field(min_length=1)]
    panels_per_row: int = Field(default=4, ge=1, le=4)

    @property
    def numbers(self) -> dict[str, MetricPanelSpec]:
        """Return the metric of each panel at each size, by the start of its keys."""
        return _by_size(
            {f"panels.{i}": panel.at for i, panel in enumerate(self.panels)}, self.sizes
        )

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks whose summaries the figure needs, each once."""
        return list(dict.fromkeys(panel.benchmark for panel in self.panels))

    @property
    def model_names(self) -> list[str]:
        """Return the models that have lines."""
        return list(self.models)


class PixelCellsSpec(GallerySpec):
    """The answers of a panel of grids at one size: what planning and reading need to know."""

    @property
    def shows_output(self) -> bool:
        """Say no: a grid is drawn as it was read."""
        return False


class PixelSamplesSpec(Spec):
    """Which samples a panel of grids shows; those that may not be shown are passed over.

    The `first` by rank, after `skip` of them; or those with these `labels`; or by `rules` among the
    answers of `chosen_on` (or the first model of the run) at `chosen_at` (or the first) size.
    """

    first: int | None = Field(default=None, ge=1)
    skip: int = Field(default=0, ge=0)
    labels: Annotated[list[str], AfterValidator(each_once)] | None = Field(
        default=None, min_length=1
    )
    rules: Annotated[list[Rule], AfterValidator(each_once)] | None = Field(
        default=None, min_length=1
    )
    chosen_on: str | None = Field(default=None, pattern=NAME_PATTERN)
    chosen_at: int | None = None

    @model_validator(mode="after")
    def _one_way(self) -> PixelSamplesSpec:
        ways = [key for key in ("first", "labels", "rules") if getattr(self, key) is not None]
        if len(ways) != 1:
            raise ValueError("give exactly one of 'first', 'labels' and 'rules'")
        if self.skip and self.first is None:
            raise ValueError("'skip' needs 'first'")
        if self.rules is None and not (self.chosen_on is None and self.chosen_at is None):
            raise ValueError("'chosen_on' and 'chosen_at' need 'rules'")
        return self


Axis = Literal["samples", "models", "sizes"]
Axes = Annotated[list[Axis], AfterValidator(each_once)]


class PixelPanelSpec(Spec):
    """Grids of answers, enlarged: which samples, models and sizes are its rows and columns.

    The outer axis comes first. Samples that are neither rows nor columns are blocks, one for each;
    `samples_per_row` of them lie side by side. Without models the sources stand alone. `source`
    shows the picture that was given, or the drawing of what was asked for, `source_tiles` wide
    beside a block; `palette` the colours below each grid. `metric` is what rules sort by.
    """

    title: str = ""
    task: Task
    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="grid", pattern=NAME_PATTERN)
    sizes: Sizes
    scorer: str = Field(default="grid", pattern=NAME_PATTERN)
    variant: str = Field(default="lenient", pattern=NAME_PATTERN)
    metric: str = Field(default="valid_grid_share", pattern=NAME_PATTERN)
    models: list[GalleryModelSpec]
    samples: PixelSamplesSpec
    rows: Axes
    columns: Axes
    samples_per_row: int | None = Field(default=None, ge=1)
    source: bool = True
    source_tiles: int = Field(default=1, ge=1, le=6)
    palette: bool = False
    show_restricted: bool = False

    @model_validator(mode="after")
    def _places(self) -> PixelPanelSpec:
        placed = [*self.rows, *self.columns]
        twice = sorted(axis for axis in set(placed) if placed.count(axis) > 1)
        if twice:
            raise ValueError(f"'{twice[0]}' are rows and columns")
        for axis in ("models", "sizes"):
            if len(getattr(self, axis)) > 1 and axis not in placed:
                raise ValueError(f"there are several {axis}: make them rows or columns")
        if self.samples.chosen_at not in (None, *self.sizes):
            raise ValueError(f"samples.chosen_at: {self.samples.chosen_at} is none of the sizes")
        if not self.models and (not self.source or self.samples.rules):
            raise ValueError("without models only sources can be shown, by 'first' or 'labels'")
        return self

    def cells(self, size: int) -> PixelCellsSpec:
        """Return the answers of one size as a gallery names them."""
        return PixelCellsSpec.model_construct(
            kind="gallery",
            title=self.title,
            caption="",
            task=self.task,
            benchmark=self.benchmark,
            prompt=f"{self.prompt}_{size}",
            scorer=self.scorer,
            variant=self.variant,
            metric=self.metric,
            metric_label=self.metric,
            models=self.models,
            rules=self.samples.rules or [],
            chosen_on=self.samples.chosen_on,
            show_restricted=self.show_restricted,
        )


class PixelGridsSpec(FigureSpec):
    """Grids of answers in panels, all cells at one scale; `panels_per_row` lie side by side."""

    kind: Literal["pixel_grids"]
    panels: list[PixelPanelSpec] = Field(min_length=1, max_length=26)
    panels_per_row: int = Field(default=1, ge=1, le=3)

    @property
    def numbers(self) -> dict[str, GallerySpec]:
        """Return the cells of each panel at each size, by the start of their keys."""
        found: dict[str, GallerySpec] = {}
        for i, panel in enumerate(self.panels):
            found |= _by_size({f"panels.{i}": panel.cells}, panel.sizes)
        return found

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks that the panels show, each once."""
        return list(dict.fromkeys(panel.benchmark for panel in self.panels))

    @property
    def model_names(self) -> list[str]:
        """Return the models of all panels, each once."""
        return list(dict.fromkeys(n for cells in self.galleries for n in cells.model_names))

    @property
    def galleries(self) -> list[GallerySpec]:
        """Return the cells of each panel at each size."""
        return [panel.cells(size) for panel in self.panels for size in panel.sizes]


SpecAt = TypeVar("SpecAt")


def _by_size(
    made: Mapping[str, Callable[[int], SpecAt]], sizes: Sequence[int]
) -> dict[str, SpecAt]:
    """Return what is made at each size, the first under the key itself."""
    return {
        f"{key}.sizes.{place}." if place else f"{key}.": make(size)
        for key, make in made.items()
        for place, size in enumerate(sizes)
    }


PIXEL_KINDS: dict[str, type[FigureSpec]] = {
    "size_curves": SizeCurvesSpec,
    "pixel_grids": PixelGridsSpec,
}
