"""How each mask differs from its target, one column per class: what the errors are made of.

Protocol: the truth-aware classes at the end of PROTOCOLS 3.3 (`gensight.failures.truth`), as 1 for
the mask's own class and 0 for every other. The mask goes to the target's grid by a plain resize;
pixels of `ignore_mask` take no part; `twin_mask` is the other annotated instance. These classes and
the blind ones (`failure_class`) answer different questions and never share a table.

An answer that could not be read is `no_answer`: nothing was compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gensight import failures, images
from gensight.measures import PartsByFit, complete, required
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("no_answer",)
DEFAULTS: dict[str, Any] = {"failure": "no_answer"}
FITS = (
    "ok",
    "inverted",
    "drift",
    "wrong_object",
    "imprecise",
    "missed",
    "spurious",
    "no_answer",
)


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return `hit`, 1 or 0, for every class; under `ok` the same as `right`; None without truth."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    mask = required(prediction.mask, sample.sample_id, "mask", "mask")
    truth = _truth_of(sample)
    if truth is None:
        return None
    height, width = truth.target.shape
    predicted = images.resize_mask(images.decode_mask(mask), width, height)
    verdict = failures.truth(predicted, truth.target, truth.others, ignored=truth.ignored)
    return _hits(verdict.failure_class)


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Count an answer that could not be read as `no_answer`; None without truth."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return None if _truth_of(sample) is None else _hits("no_answer")


class _Truth(NamedTuple):
    """The masks of a sample on the target's grid."""

    target: np.ndarray
    others: list[np.ndarray]
    ignored: np.ndarray | None


def _truth_of(sample: Sample) -> _Truth | None:
    """Return a sample's masks, None where it has no target or all of it is ignored."""
    if sample.target_mask is None:
        return None
    target = images.decode_mask(sample.target_mask)
    size = target.shape[::-1]
    twin, ignored = (
        None if rle is None else images.resize_mask(images.decode_mask(rle), *size)
        for rle in (sample.twin_mask, sample.ignore_mask)
    )
    if ignored is not None and ignored.all():
        return None
    return _Truth(target, [] if twin is None else [twin], ignored)


def _hits(name: str) -> PartsByFit:
    parts: PartsByFit = {fit: {"hit": float(fit == name)} for fit in FITS}
    parts["ok"]["right"] = parts["ok"]["hit"]
    return parts
