"""Figure specs: one YAML is one figure, written as .pdf and .png; `kind` says which sort."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, model_validator

from gensight.specs.base import NAME_PATTERN, Spec, parse, read_yaml
from gensight.specs.prompt import Task

Kind = Literal[
    "disturbance_curves",
    "size_curves",
    "correlation",
    "pixel_grids",
    "gallery",
    "comparison",
    "failures",
    "decoder_steps",
    "panels",
]
_QUANTILE = re.compile(r"quantile_(\d{1,3})")


def quantile_of(rule: str) -> int | None:
    """Return K of a rule `quantile_K`, from 0 (the poorest) to 100; None for any other rule."""
    found = _QUANTILE.fullmatch(rule)
    return int(found[1]) if found and int(found[1]) <= 100 else None


def _is_rule(rule: str) -> str:
    if rule in ("median", "best", "worst", "failed") or quantile_of(rule) is not None:
        return rule
    raise ValueError(
        "Input should be 'median', 'best', 'worst' or 'failed', or 'quantile_K' with K from 0 to "
        "100"
    )


Rule = Annotated[str, AfterValidator(_is_rule)]


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

    @property
    def named_models(self) -> dict[str, list[str]]:
        """Return the models the figure names, by the key that names them."""
        return {"models": self.model_names}

    @property
    def galleries(self) -> list[GallerySpec]:
        """Return the galleries that the figure sets; empty where it shows no answers."""
        return []


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
    and every model is shown on the same. `stratum` chooses among the samples of one stratum, or of
    the first ranks (`first_100`). `variant: null` takes the scorer's only variant.

    Samples whose licence forbids showing are passed over; `show_restricted` draws them all the
    same, for the user's own eyes.
    """

    kind: Literal["gallery"]
    task: Task
    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    variant: str | None = None
    fit: str | None = None
    stratum: str | None = None
    metric: str = Field(pattern=NAME_PATTERN)
    metric_label: str
    scale: float = Field(default=1.0, gt=0)
    decimals: int = Field(default=1, ge=0, le=6)
    models: list[GalleryModelSpec] = Field(min_length=1)
    rules: list[Rule] = Field(default_factory=lambda: ["median"], min_length=1)
    chosen_on: str | None = Field(default=None, pattern=NAME_PATTERN)
    show_restricted: bool = False

    @property
    def shows_output(self) -> bool:
        """Say whether answers are shown as they were returned, beside what was read of them."""
        return True

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

    @property
    def galleries(self) -> list[GallerySpec]:
        """Return the gallery itself."""
        return [self]


class ComparisonSpec(GallerySpec):
    """A gallery with one row per sample and one column per model, beside input and truth.

    The samples are chosen on `chosen_on`, or on the first of the models that the run has. `show`
    takes what was extracted, or the output as returned. `samples_per_row` sets that many samples
    side by side.
    """

    kind: Literal["comparison"]
    show: Literal["extracted", "output"] = "extracted"
    samples_per_row: int = Field(default=1, ge=1, le=4)


class FailuresSpec(GallerySpec):
    """A gallery of failures: input and output as returned, side by side, and the failure's class.

    A model without a failed answer is named in a line below.
    """

    kind: Literal["failures"]
    rules: list[Rule] = Field(default_factory=lambda: ["failed"], min_length=1)
    answers_per_row: int = Field(default=3, ge=1, le=4)


class DecoderStepsSpec(GallerySpec):
    """A gallery of the steps by which the three-stage decoder of dots comes to its count."""

    kind: Literal["decoder_steps"]
    task: Literal["counting"] = "counting"
    variant: Literal["diff_red_blob"] = "diff_red_blob"


Panel = Annotated[
    GallerySpec | ComparisonSpec | FailuresSpec | DecoderStepsSpec, Field(discriminator="kind")
]


class PanelsSpec(FigureSpec):
    """Several galleries in one figure, lettered in their order; each has its own title."""

    kind: Literal["panels"]
    panels: list[Panel] = Field(min_length=1, max_length=26)

    @property
    def numbers(self) -> dict[str, GallerySpec]:
        """Return the panels by the start of their keys."""
        return {f"panels.{i}.": panel for i, panel in enumerate(self.panels)}

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks that the panels show, each once."""
        return list(dict.fromkeys(panel.benchmark for panel in self.panels))

    @property
    def model_names(self) -> list[str]:
        """Return the models of all panels, each once."""
        return list(dict.fromkeys(name for panel in self.panels for name in panel.model_names))

    @property
    def galleries(self) -> list[GallerySpec]:
        """Return the panels."""
        return list(self.panels)


KINDS: dict[str, type[FigureSpec]] = {
    "disturbance_curves": DisturbanceCurvesSpec,
    "gallery": GallerySpec,
    "comparison": ComparisonSpec,
    "failures": FailuresSpec,
    "decoder_steps": DecoderStepsSpec,
    "panels": PanelsSpec,
}


def _model_of(content: dict[str, Any]) -> type[FigureSpec]:
    # Their classes build on those above.
    from gensight.specs.correlation_figure import CorrelationFigureSpec
    from gensight.specs.pixel_figures import PIXEL_KINDS

    kind = content.get("kind")
    kinds = {**KINDS, **PIXEL_KINDS, "correlation": CorrelationFigureSpec}
    return kinds.get(kind, FigureSpec) if isinstance(kind, str) else FigureSpec


def parse_figure(file: str | Path, content: dict[str, Any]) -> FigureSpec:
    """Validate the content of a figure file; an unknown key is named with the keys of its kind.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    return parse(file, _model_of(content), content)


def load_figure(path: Path) -> FigureSpec:
    """Read and validate one figure YAML."""
    return parse_figure(path, read_yaml(path))
