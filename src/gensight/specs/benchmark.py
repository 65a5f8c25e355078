"""Benchmark specs: a sampled data set, the prompts that ask about it, the scorers that judge it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from gensight.specs.base import Name, Names, Settings, Spec, each_once
from gensight.specs.conventions import LONG_SIDE_PX
from gensight.specs.model import Role
from gensight.specs.prompt import Task

Rank = Annotated[int, Field(ge=1)]
Number = Annotated[int, Field(ge=1)] | Literal["all"]


class DatasetSpec(Spec):
    """The data set module and its parameters (checked against the module's own DEFAULTS).

    `manifest` is a file that freezes which items are sampled, in which order.
    """

    module: str
    parameters: Settings = Field(default_factory=dict)
    manifest: str | None = None


class HeldOutSpec(Spec):
    """Ranks that are never evaluated: reference models and failure constants are fitted there."""

    first_rank: int = Field(default=500, ge=0)
    n: int = Field(ge=1)


class ScorerSpec(Spec):
    """An extractor, the measure that compares its reading with the truth, and the metrics.

    `settings` go to the measure; `failure` among them names how a failed answer is scored.
    `reading` names the file of predictions, where one extractor reads twice with other parameters.
    The measure may also be given what an `encoder` makes of the grids that were read, beside the
    benchmark's `candidates` and the same model's grids `across` other prompts, or what a `judge`
    says of them.

    A scorer reads every answer of its benchmark unless it says less: `prompts` (by default all
    that ask for a picture), `roles` of models, `subjects` (the models that the run lists under this
    name), or the first `ranks` samples. What is only swept over need not be `summarised`.
    """

    extractor: str
    reading: Name | None = None
    encoder: Name | None = None
    across: Names | None = None
    judge: Name | None = None
    prompts: Names | None = None
    roles: list[Role] | None = None
    subjects: Name | None = None
    ranks: int | None = Field(default=None, ge=1)
    parameters: Settings = Field(default_factory=dict)
    measure: str
    settings: Settings = Field(default_factory=dict)
    metrics: Names = Field(min_length=1)
    summarised: bool = True

    @property
    def file(self) -> str:
        """Return the name of the predictions that the scorer reads."""
        return self.reading or self.extractor


class SourceSpec(Spec):
    """Where the grids come from that a benchmark asks about: a model's answers to another one.

    Both benchmarks have the same samples, and `prompt` names a prompt file with sizes: a question
    of one size shows the grid of that size. `reading` is the file of predictions, of which the
    `variant` is taken.
    """

    model: Name
    benchmark: Name
    prompt: Name
    reading: Name = "grid"
    variant: str = "lenient"


class CandidatesSpec(Spec):
    """What a grid is compared with: texts about labels, or the samples' own pictures.

    With a `template`, candidates are texts: the labels of the benchmark, and beside them those of a
    `vocabulary`. Without one they are the input pictures of the evaluated samples.
    """

    template: str | None = None
    vocabulary: Literal["pixelbench"] | None = None

    @model_validator(mode="after")
    def _template_has_a_label(self) -> CandidatesSpec:
        if self.template is not None and self.template.count("{label}") != 1:
            raise ValueError("template: write {label} once, where the label goes")
        if self.vocabulary is not None and self.template is None:
            raise ValueError("vocabulary: belongs to candidates with a template")
        return self


class BenchmarkDisplaySpec(Spec):
    """How tables and figures name a benchmark; nothing else reads it."""

    label: str


class BenchmarkSpec(Spec):
    """One benchmark = one task on one sampled data set.

    `n: all` takes every sample. Each of `subsets` is a number of first ranks that is summarised by
    itself as well, under the stratum `first_{number}`. `exif` says whether the input's orientation
    tag is applied (`ignore` where annotations refer to the stored raster), `input_long_side_px` at
    what size it is sent (ProbeGen 4.1; null: as it is).

    Where a prompt asks for a list of icons, `samples_per_request` samples are asked about at once.
    Prompts about grids have a `source`; `candidates` are what an encoder compares grids with.
    """

    task: Task
    dataset: DatasetSpec
    n: Number
    held_out: HeldOutSpec | None = None
    subsets: Annotated[list[Rank], AfterValidator(each_once)] = Field(default_factory=list)
    exif: Literal["apply", "ignore"] = "apply"
    input_long_side_px: Annotated[int, Field(ge=1)] | None = LONG_SIDE_PX
    samples_per_request: int = Field(default=1, ge=1, le=32)
    source: SourceSpec | None = None
    candidates: CandidatesSpec | None = None
    prompts: Names = Field(min_length=1)
    scorers: dict[Name, ScorerSpec] = Field(min_length=1)
    display: BenchmarkDisplaySpec
