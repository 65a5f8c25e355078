"""Benchmark specs: a sampled data set, the prompts that ask about it, the scorers that judge it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gensight.specs.base import Name, Names, Settings, Spec
from gensight.specs.prompt import Task

Number = Annotated[int, Field(ge=1)] | Literal["all"]


class DatasetSpec(Spec):
    """The data set module and its parameters (checked against the module's own DEFAULTS)."""

    module: str
    parameters: Settings = Field(default_factory=dict)


class HeldOutSpec(Spec):
    """Ranks that are never evaluated: reference models and failure constants are fitted there."""

    first_rank: int = Field(default=500, ge=0)
    n: int = Field(ge=1)


class ScorerSpec(Spec):
    """An extractor, the measure that compares its reading with the truth, and the metrics.

    `failure` names how a failed answer is scored; `settings` go to the measure.
    """

    extractor: str
    parameters: Settings = Field(default_factory=dict)
    measure: str
    settings: Settings = Field(default_factory=dict)
    metrics: Names = Field(min_length=1)


class BenchmarkDisplaySpec(Spec):
    """How tables and figures name a benchmark; nothing else reads it."""

    label: str
    note: str | None = None


class BenchmarkSpec(Spec):
    """One benchmark = one task on one sampled data set.

    `n: all` takes every sample. `exif` says whether the input's orientation tag is applied
    (`ignore` where annotations refer to the stored raster).
    """

    task: Task
    dataset: DatasetSpec
    n: Number
    held_out: HeldOutSpec | None = None
    exif: Literal["apply", "ignore"] = "apply"
    prompts: Names = Field(min_length=1)
    scorers: dict[Name, ScorerSpec] = Field(min_length=1)
    display: BenchmarkDisplaySpec
