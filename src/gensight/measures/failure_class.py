"""The class of each answer by its looks, one column per class: the table of failures.

Protocol: PROTOCOLS 3.3 and 3.4; what the extractor `failure_class` read, as 1 for the answer's own
class and 0 for every other, so that a mean over samples is a share. Each class is a fit of this
measure, and so is each `class:detail`; a table's column names one as its `fit`. An answer without a
picture is `no_output`.

No ground truth enters but one: a counting answer without marks is right where there is nothing to
mark (PROTOCOLS 1.4), so an `unmarked_copy` of a sample whose true count is 0 is `ok`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.failures.classes import NO_OUTPUT, class_of
from gensight.failures.validity import class_under_truth
from gensight.measures import PartsByFit, complete, required
from gensight.records import Prediction, Sample

VERSION = 1
# Printed under every table that shows numbers of this measure.
NOTE = "classes by the blind classifier: synthetic validation only (docs/failures.md)"
FAILURE_POLICIES = ("no_output",)
DEFAULTS: dict[str, Any] = {"failure": "no_output"}
FITS = (
    "ok",
    "inverted",
    "drift",
    "drift:global",
    "drift:local",
    "drift:possible",
    "copy",
    "unmarked_copy",
    "filter",
    "wrong_format",
    "wrong_format:overlay",
    "wrong_format:cutout",
    "wrong_format:colour_mask",
    "wrong_format:outline",
    "wrong_format:grey",
    "wrong_format:colormap",
    "wrong_format:mask",
    "wrong_format:flat_regions",
    "wrong_format:other",
    "stylised",
    "rerender",
    "rerender:warped",
    "unrelated",
    "degenerate",
    "unreadable",
    "ambiguous",
    "no_output",
)


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return `hit`, 1 or 0, for every class; and under `ok` the same as `right`."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    name = required(prediction.failure_blind, sample.sample_id, "failure_blind", "failure_class")
    return _hits(class_under_truth(name, sample) or name)


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Count an answer without a picture as `no_output`."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return _hits(NO_OUTPUT)


def _hits(name: str) -> PartsByFit:
    own = (name, class_of(name))
    parts: PartsByFit = {fit: {"hit": float(fit in own)} for fit in FITS}
    parts["ok"]["right"] = parts["ok"]["hit"]
    return parts
