"""Scorers for inspect_ai: masks and depth from pictures, counts from text.

A sample's target is its truth: the path of a mask, the path of a depth map, or a whole number. A
picture is the first image in the model's message (a data URI, as providers return it) or, where a
solver makes it, the file that the solver names in the store under `IMAGE`. A path in the model's
own text is never opened: the truth has one, too.

Failed answers are scored by gensight's policies and stay in every metric. Left unscored, and
counted by inspect_ai, is only what is nobody's failure: a sample without usable truth, and a
picture that was made and is not there. A score's value holds parts (see `_scored`), so the mean
over epochs is right for every metric.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from gensight.cli import truths
from gensight.extractors import Answer
from gensight.integrations import _scored
from gensight.integrations._pictures import LostPictureError, from_data_uri, from_file
from gensight.integrations._scored import COUNTING, DEPTH, SEGMENTATION, Scored, Task
from gensight.records import Sample

#: The key of the store under which a solver names the picture that it made.
IMAGE = "gensight_image"


def segmentation(variant: str = "otsu") -> Any:
    """Score masks by gIoU and cIoU; the target is the path of a mask of two levels."""
    return _factory("segmentation", SEGMENTATION, _segmentation)(variant=variant)


def counting(failure_constant: float | None = None) -> Any:
    """Score whole numbers, read strictly from text, by MAE and RMSE.

    A failed answer fares as badly as silence or as `failure_constant`, whichever is worse: give the
    median count of other samples of the data set (default 5).
    """
    return _factory("counting", COUNTING, _counting)(failure_constant=failure_constant)


def depth(
    fit: str = "depth",
    scale: float = 1000.0,
    min_depth_m: float | None = None,
    max_depth_m: float | None = None,
    near: str = "bright",
) -> Any:
    """Score grey depth maps by AbsRel, delta1 and RMSE in metres, under one fit of `depth_fit`.

    The target is the path of a grey PNG of 16 bits, of which `scale` steps are a metre, or of a
    .npy array in metres. `near` is the end of the grey scale that the prompt promised.
    """
    caps = {"min_depth_m": min_depth_m, "max_depth_m": max_depth_m}
    return _factory("depth", DEPTH, _depth)(fit=fit, near=near, scale=scale, **caps)


def _segmentation(state: Any, target: str, *, variant: str) -> Scored:
    sample = truths.mask_sample(1, target)
    return _scored.scored(SEGMENTATION, _picture(state, sample), sample, variant=variant)


def _counting(state: Any, target: str, *, failure_constant: float | None) -> Scored:
    answer = Answer(text=state.output.completion, source_width=1, source_height=1)
    settings = {"failure_constant": failure_constant}
    return _scored.scored(COUNTING, answer, truths.count_sample(1, target), settings)


def _depth(state: Any, target: str, *, fit: str, near: str, **units: Any) -> Scored:
    truths.check_depth_options(**units)
    sample = truths.depth_sample(1, target, **units)
    settings = {"answer_form": {"kind": "depth", "near": near}}
    return _scored.scored(DEPTH, _picture(state, sample), sample, settings, fit=fit)


def _picture(state: Any, sample: Sample) -> Answer:
    """Return the answer with the picture that a solver or model made, or with none."""
    named = state.store.get(IMAGE)
    content = state.output.message.content if state.output.choices else ""
    found = [part.image for part in content if getattr(part, "type", None) == "image"]
    data = from_file(named) if named else from_data_uri(found[0]) if found else None
    return Answer(image=data, source_width=sample.width, source_height=sample.height)


@cache
def _factory(name: str, task: Task, read: Callable[..., Scored]) -> Callable[..., Any]:
    """Return the maker of a scorer, registered with inspect_ai under this name."""
    from inspect_ai.scorer import Score, scorer

    @scorer(metrics=[_metric(metric)() for metric in (*task.metrics, "coverage")], name=name)
    def make(**settings: Any) -> Any:
        async def score(state: Any, target: Any) -> Any:
            try:
                found = read(state, target.text, **settings)
            except LostPictureError as error:
                return Score.unscored(explanation=str(error))
            if found.item is None:
                return Score.unscored(explanation="the sample has no usable truth")
            facts = {"status": found.reading.status, "reason": found.reading.reason}
            return Score(value=found.item, explanation=found.reading.detail, metadata=facts)

        return score

    return make


@cache
def _metric(name: str) -> Callable[[], Any]:
    """Return the maker of a metric, registered with inspect_ai under this name."""
    from inspect_ai.scorer import SampleScore, metric

    @metric(name=name)
    def make() -> Any:
        def over(scores: Any) -> float:
            return _scored.aggregate(name, [one.score.value for one in scores])

        # inspect_ai tells by this type what to hand over; a type in quotes it could not look up.
        over.__annotations__["scores"] = list[SampleScore]
        return over

    return make
