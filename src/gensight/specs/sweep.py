"""Sweep specs: parameters chosen on one fold of the samples, reported on the other."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gensight.specs.base import NAME_PATTERN, Settings, Spec


class FoldsSpec(Spec):
    """How samples are dealt into two folds: all answers about one picture into the same one.

    Clusters are ordered by sha256("{seed}/{cluster}"), and the first `train_share` of them train
    (ProbeGen A.2 names a seed but no generator: assumed).
    """

    assumed_seed: int = 0
    train_share: Annotated[float, Field(gt=0, lt=1)] = 0.5


class SweepSpec(Spec):
    """One sweep: the scores of a `grid` extractor over some models, and the points to tell apart.

    `previous` and `adopted` are points of the grid: the parameters before the sweep, and those kept
    after looking at it. The argmin is found on the training fold.
    """

    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    metric: str = Field(pattern=NAME_PATTERN)
    subjects: str = Field(pattern=NAME_PATTERN)
    folds: FoldsSpec = FoldsSpec()
    previous: Settings
    adopted: Settings
