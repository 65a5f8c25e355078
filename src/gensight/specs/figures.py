"""Figure specs: one YAML is one figure, written as .pdf and .png; `kind` says which sort."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ModelWrapValidatorHandler, model_validator

from gensight.specs.base import NAME_PATTERN, Spec, parse, read_yaml
from gensight.specs.prompt import Task

Kind = Literal["disturbance_curves", "gallery"]
Rule = Literal["median", "best", "worst", "failed"]


class FigureSpec(Spec):
    """One figure; validating a mapping gives the spec of the kind that the mapping names."""

    kind: Kind
    title: str
    caption: str

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_kind(cls, content: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        if cls is not FigureSpec or not isinstance(content, dict):
            return handler(content)
        model = _model_of(content)
        if model is not FigureSpec:
            return model.model_validate(content)
        # Without a known kind no other key can be judged: report the kind alone.
        kind = {"kind": content["kind"]} if "kind" in content else {}
        return handler({"title": "", "caption": "", **kind})

    @property
    def numbers(self) -> Mapping[str, MetricPanelSpec | GallerySpec]:
        """Return what names a number of a benchmark, by the start of its keys."""
        raise NotImplementedError

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks the figure needs, each once."""
        raise NotImplementedError

    @property
    def model_names(self) -> list[str]:
        """Return the models the figure names, each once."""
        raise NotImplementedError


class MetricPanelSpec(Spec):
    """One row of panels: a metric of one cell; `scale` times its value is drawn.

    `variant: null` takes the scorer's only variant.
    """

    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    variant: str | None = None
    fit: str | None = None
    metric: str = Field(pattern=NAME_PATTERN)
    label: str
    scale: float = Field(default=1.0, gt=0)


class DisturbanceSpec(Spec):
    """One column of panels: a disturbed model, and the unit of its severities."""

    model: str = Field(pattern=NAME_PATTERN)
    label: str
    unit: str


class DisturbanceCurvesSpec(FigureSpec):
    """How each metric changes with each disturbance: rows are metrics, columns disturbances.

    `undisturbed` names the model that stands for severity 0.
    """

    kind: Literal["disturbance_curves"]
    panels: list[MetricPanelSpec] = Field(min_length=1)
    disturbances: list[DisturbanceSpec] = Field(min_length=1)
    undisturbed: str | None = Field(default=None, pattern=NAME_PATTERN)

    @property
    def numbers(self) -> dict[str, MetricPanelSpec]:
        """Return the panels by the start of their keys."""
        return {f"panels.{i}.": panel for i, panel in enumerate(self.panels)}

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks whose summaries the figure needs, each once."""
        return list(dict.fromkeys(panel.benchmark for panel in self.panels))

    @property
    def model_names(self) -> list[str]:
        """Return the disturbed models and the undisturbed one, each once."""
        names = [disturbance.model for disturbance in self.disturbances]
        return list(dict.fromkeys([*names, *([self.undisturbed] if self.undisturbed else [])]))


class GalleryModelSpec(Spec):
    """A model of a gallery; a disturbed model is shown at one severity."""

    model: str = Field(pattern=NAME_PATTERN)
    severity: float | None = None


class GallerySpec(FigureSpec):
    """Answers of a few models to a few samples: input, raw output, extracted, truth, score.

    `rules` choose the samples, by the raw `metric`, among each model's own samples; with
    `chosen_on` they are chosen among that model's samples (at the severity that `models` gives it)
    and every model is shown on the same.
    `variant: null` takes the scorer's only variant.
    """

    kind: Literal["gallery"]
    task: Task
    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    variant: str | None = None
    fit: str | None = None
    metric: str = Field(pattern=NAME_PATTERN)
    metric_label: str
    scale: float = Field(default=1.0, gt=0)
    decimals: int = Field(default=1, ge=0, le=6)
    models: list[GalleryModelSpec] = Field(min_length=1)
    rules: list[Rule] = Field(default_factory=lambda: ["median"], min_length=1)
    chosen_on: str | None = Field(default=None, pattern=NAME_PATTERN)

    @property
    def numbers(self) -> dict[str, GallerySpec]:
        """Return the gallery itself: its keys stand at the top of the file."""
        return {"": self}

    @property
    def benchmarks(self) -> list[str]:
        """Return the one benchmark of the gallery as a list, as every figure spec does."""
        return [self.benchmark]

    @property
    def model_names(self) -> list[str]:
        """Return the models shown and the one the samples are chosen on, each once."""
        chosen = [] if self.chosen_on is None else [self.chosen_on]
        return list(dict.fromkeys([*(entry.model for entry in self.models), *chosen]))


KINDS: dict[str, type[FigureSpec]] = {
    "disturbance_curves": DisturbanceCurvesSpec,
    "gallery": GallerySpec,
}


def _model_of(content: dict[str, Any]) -> type[FigureSpec]:
    kind = content.get("kind")
    return KINDS.get(kind, FigureSpec) if isinstance(kind, str) else FigureSpec


def parse_figure(file: str | Path, content: dict[str, Any]) -> FigureSpec:
    """Validate the content of a figure file; an unknown key is named with the keys of its kind.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    return parse(file, _model_of(content), content)


def load_figure(path: Path) -> FigureSpec:
    """Read and validate one figure YAML."""
    return parse_figure(path, read_yaml(path))
