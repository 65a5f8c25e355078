"""Judges: models that score answers by a rubric, and how often they are asked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gensight.specs.base import Names, Spec


class RescoredSpec(Spec):
    """A share of the samples that is judged a second time, to see how far a score can be trusted.

    Which they are follows from the seed and the sample's id alone: they are the same for every
    model and every prompt, and more samples never change the choice among those there were.
    """

    share: float = Field(gt=0, le=1)
    assumed_seed: int = 0


class JudgeDisplaySpec(Spec):
    """How tables name a judge."""

    label: str


class JudgeSpec(Spec):
    """One judge: all that determines its judgements. How they become scores, a measure's settings.

    Every one of `models` (a panel, if there are several) is asked every question of every rubric
    `repeats` times. A reply that cannot be read is asked for again, under a key of its own, up to
    `reasks` times. `reading` says whether one fence around a JSON reply is taken off (`lenient`) or
    makes it unreadable (`strict`); either way it is recorded.
    """

    rubrics: Names = Field(min_length=1)
    models: Names = Field(min_length=1)
    repeats: int = Field(default=1, ge=1, le=100)
    reasks: int = Field(default=2, ge=0, le=10)
    rescored: RescoredSpec | None = None
    reading: Literal["lenient", "strict"] = "lenient"
    display: JudgeDisplaySpec
