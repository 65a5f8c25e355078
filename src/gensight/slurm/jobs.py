"""What the jobs of models, encoders and judges take of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gensight.specs.project import Project


class JobNeeds(NamedTuple):
    """What a job takes at its first attempt; errors call it by `name`."""

    name: str
    gpus: int
    memory_mb: int
    runtime_minutes: int


def needs_of_model(project: Project, model: str) -> JobNeeds:
    """Return what a job takes in which a model answers."""
    limits = project.models[model].limits
    return JobNeeds(model, project.gpus(model), limits.memory_mb, limits.runtime_minutes)


def needs_of_encoder(project: Project, encoder: str) -> JobNeeds:
    """Return what a job takes in which an encoder embeds."""
    limits = project.encoders[encoder].limits
    return JobNeeds(encoder, limits.gpu, limits.memory_mb, limits.runtime_minutes)


def needs_of_judge(project: Project, judge: str) -> JobNeeds:
    """Return what a job takes in which a judge's models are asked: the most of each.

    They are asked one after another, and a panel may need longer than any of them: then the next
    attempt goes on where the time ran out, and has more.
    """
    needs: Sequence[JobNeeds] = [
        needs_of_model(project, name) for name in project.judges[judge].models
    ]
    return JobNeeds(
        judge,
        gpus=max(one.gpus for one in needs),
        memory_mb=max(one.memory_mb for one in needs),
        runtime_minutes=max(one.runtime_minutes for one in needs),
    )
