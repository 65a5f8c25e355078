"""How each mask differs from its target, one column per class: what the errors are made of.

Protocol: the truth-aware classes at the end of PROTOCOLS 3.3 (`gensight.failures.truth`), as 1 for
the mask's own class and 0 for every other. The mask goes to the target's grid by a plain resize;
pixels of `ignore_mask` take no part. These classes and the blind ones (`failure_class`) answer
different questions and never share a table.

The other annotated instances are `other_masks`, else `twin_mask` alone. Of a sample that has
neither it is not known whether another thing was marked: it has no part under `wrong_object`, such
masks are among its `missed` ones, and the share of `wrong_object` is over the other samples.

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
# Modules whose versions count as its own: it computes with their rules.
USES = {"measures": ["overlap"]}
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
    """Return `hit`, 1 or 0, for every class; under `ok` the same as `right`; None without truth.

    Where no other instance is known (see above) the fit `wrong_object` is left out.
    """
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    mask = required(prediction.mask, sample.sample_id, "mask", "mask")
    truth = _truth_of(sample)
    if truth is None:
        return None
    height, width = truth.target.shape
    predicted = images.resize_mask(images.decode_mask(mask), width, height)
    others = (_on_grid(rle, truth.target) for rle in _others_of(sample) or ())
    verdict = failures.truth(predicted, truth.target, others, ignored=truth.ignored)
    return _hits(verdict.failure_class, sample)


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Count an answer that could not be read as `no_answer`; None without truth."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return None if _truth_of(sample) is None else _hits("no_answer", sample)


class _Truth(NamedTuple):
    """The target of a sample, and the ignored pixels on its grid."""

    target: np.ndarray
    ignored: np.ndarray | None


def _truth_of(sample: Sample) -> _Truth | None:
    """Return what a sample asks for, None where it has no target or all of it is ignored."""
    if sample.target_mask is None:
        return None
    target = images.decode_mask(sample.target_mask)
    if sample.ignore_mask is None:
        return _Truth(target, None)
    ignored = _on_grid(sample.ignore_mask, target)
    return None if ignored.all() else _Truth(target, ignored)


def _others_of(sample: Sample) -> list[dict[str, Any]] | None:
    """Return the codes of the other instances, empty if there are none; None: not known."""
    if sample.other_masks is None and sample.twin_mask is not None:
        return [sample.twin_mask]
    return sample.other_masks


def _on_grid(rle: Mapping[str, Any], target: np.ndarray) -> np.ndarray:
    height, width = target.shape
    return images.resize_mask(images.decode_mask(rle), width, height)


def _hits(name: str, sample: Sample) -> PartsByFit:
    unknown = {"wrong_object"} if _others_of(sample) is None else set()
    parts: PartsByFit = {fit: {"hit": float(fit == name)} for fit in FITS if fit not in unknown}
    parts["ok"]["right"] = parts["ok"]["hit"]
    return parts
