"""The words that stand for a score: the number, or why there is none, and the class of failure."""

from __future__ import annotations

import math

from gensight.figures.examples import ChosenExample
from gensight.figures.rules import NOT_FAILED
from gensight.rounding import rounded
from gensight.specs.figures import GallerySpec


def score_text(spec: GallerySpec, example: ChosenExample) -> str:
    """Return the number under its name, why there is none, and the class of failure."""
    failure = failure_text(example)
    lines = [spec.metric_label, _number(spec, example, "–"), *([failure] if failure else [])]
    if example.raw is None:
        status = f"{example.status}: {example.reason}" if example.reason else example.status
        policy = "" if example.value is None else ", scored by policy"
        lines.insert(2, f"({status.replace('_', ' ')}{policy})")
    return "\n".join(lines)


def number_text(spec: GallerySpec, example: ChosenExample) -> str:
    """Return the number alone; one that the policy gives to a failed answer says so."""
    by_policy = example.raw is None and example.value is not None
    return _number(spec, example, "not scored") + (" by policy" if by_policy else "")


def failure_text(example: ChosenExample) -> str | None:
    """Return the class of failure in words, None for an answer that is no failure."""
    if example.failure_class in NOT_FAILED:
        return None
    return example.failure_class.replace(":", ": ").replace("_", " ")


def _number(spec: GallerySpec, example: ChosenExample, missing: str) -> str:
    number = example.value if example.raw is None else example.raw
    known = number is not None and math.isfinite(number)
    return rounded(number, spec.decimals, spec.scale) if known else missing
