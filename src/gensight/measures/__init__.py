"""Measures: from one prediction and its truth to the sufficient statistics of every metric.

A measure is one module of this folder. It declares

- `VERSION`, `DEFAULTS` (its settings) and `FAILURE_POLICIES` (the allowed `failure` settings),
- `measure(prediction, sample, settings)`: parts by fit (the key is None where there are no fits),
- `failed(sample, settings)`: the parts of an answer that could not be read, under the benchmark's
  failure policy. This is the one place where a failure becomes a number.

A measure of a scorer with a judge is handed the judgements of an answer in place of its prediction.
Both return None when the sample has no usable truth (`no_ground_truth`). A part that is not defined
for a sample is left out of its dictionary, never set to a code. Parts are plain numbers; metrics
turn them into scores (see `gensight.metrics`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from gensight import modules
from gensight.errors import RecordError, SpecError
from gensight.specs import declared

Parts = dict[str, float]
PartsByFit = dict[str | None, Parts]


def names() -> tuple[str, ...]:
    """Return the names of the measures of this folder."""
    return declared.names("measures")


def load(name: str) -> ModuleType:
    """Import a measure by name; an unknown name is a SpecError that lists the known ones."""
    return modules.load("measures", name)


def complete(
    settings: Mapping[str, Any], defaults: Mapping[str, Any], policies: tuple[str, ...]
) -> dict[str, Any]:
    """Lay settings over a measure's defaults and check the failure policy."""
    merged = {**defaults, **settings}
    if merged["failure"] not in policies:
        raise SpecError(
            f"settings.failure: '{merged['failure']}' is not known; allowed: {', '.join(policies)}"
        )
    return merged


def required(value: Any, sample_id: str, column: str, extractor: str) -> Any:
    """Return a column of a prediction, or name the extractor that would have filled it."""
    if value is None:
        raise RecordError(
            f"sample {sample_id}: the prediction is ok but holds no {column};"
            f" name the extractor '{extractor}' in the benchmark's scorer"
        )
    return value
