"""Pairs of a prediction and its truth, scored by the pipeline's own measures and metrics.

A pair is what the stages `extract` and `score` make of one sample; the numbers over all pairs are
those of the stage `summarize`. An answer that cannot be read is scored by the measure's failure
policy and lowers the coverage; a pair without usable truth is in no number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from gensight import measures, metrics
from gensight.extractors import Reading
from gensight.failures import format_valid
from gensight.outcomes import Outcome
from gensight.records import Prediction, Sample

Parts = Mapping[str, float]


@dataclass(frozen=True)
class Pair:
    """One prediction and its truth; `named` holds what the user called them."""

    named: dict[str, str | None]
    prediction: Prediction
    sample: Sample
    detail: str | None = None


@dataclass(frozen=True)
class _Scored:
    """The parts of one pair by fit, under the policy and raw, and its row of the answer."""

    policy: measures.PartsByFit
    raw: measures.PartsByFit
    format_valid: bool
    row: dict[str, Any]


def prediction_of(sample: Sample, reading: Reading) -> Prediction:
    """Return a reading as the stage `extract` writes it."""
    return Prediction(
        sample_id=sample.sample_id,
        rank=sample.rank,
        cluster_id=sample.cluster_id,
        variant=reading.variant,
        status=reading.status,
        reason=reading.reason,
        outcome=Outcome.OK,
        **reading.fields,
    )


def score_pairs(
    pairs: Iterable[Pair], measure: str, names: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the named metrics of a measure over the pairs, and for each of them, ready for JSON.

    Numbers stand under the metric's name or, for a measure with fits, under `fits` and the fit's.
    One pair is in memory at a time.
    """
    module = measures.load(measure)
    found = {name: metrics.load(name) for name in names}
    complete = {**module.DEFAULTS, **settings}
    scored = [_score(pair, module, found, complete) for pair in pairs]
    with_truth = [pair for pair in scored if pair.policy]
    valid = [pair for pair in scored if pair.raw and pair.format_valid]
    n = len(with_truth)
    fits = list(dict.fromkeys(fit for pair in with_truth for fit in pair.policy))
    fits = fits or list(getattr(module, "FITS", (None,)))
    return {
        **_over(found, [pair.policy for pair in with_truth], fits),
        "valid_only": _over(found, [pair.raw for pair in valid], fits),
        "n": n,
        "n_valid": len(valid),
        "coverage": len(valid) / n if n else None,
        "no_ground_truth": len(scored) - n,
        "measure": measure,
        "settings": complete,
        "units": {name: metric.UNIT for name, metric in found.items()},
        "versions": {measure: module.VERSION, **{k: m.VERSION for k, m in found.items()}},
        "pairs": [pair.row for pair in scored],
    }


def _score(
    pair: Pair, module: ModuleType, found: Mapping[str, ModuleType], settings: Mapping[str, Any]
) -> _Scored:
    # Asked first for every pair: it alone says whether the truth is usable.
    policy, raw = module.failed(pair.sample, settings), {}
    if policy and pair.prediction.status == "ok":
        raw = policy = module.measure(pair.prediction, pair.sample, settings)
    status = pair.prediction.status if policy else "no_ground_truth"
    facts = ("variant", "degenerate_output", "aspect_changed", "count", "facts")
    row = {
        **pair.named,
        **{name: getattr(pair.prediction, name) for name in facts},
        **_by_fit({fit: _of_one(found, parts) for fit, parts in (policy or {}).items()}),
        "status": status,
        "reason": pair.prediction.reason,
        "detail": pair.detail,
    }
    return _Scored(policy or {}, raw, format_valid(pair.prediction), row)


def _of_one(found: Mapping[str, ModuleType], parts: Parts) -> dict[str, Any]:
    """Return the metrics of one pair and the parts that they follow from."""
    numbers = {name: metric.value(parts) for name, metric in found.items()}
    return {**numbers, "parts": dict(parts)}


def _over(
    found: Mapping[str, ModuleType], pairs: list[measures.PartsByFit], fits: list[str | None]
) -> dict[str, Any]:
    """Return the metrics over pairs, by fit."""
    return _by_fit(
        {
            fit: {name: _aggregate(metric, pairs, fit) for name, metric in found.items()}
            for fit in fits
        }
    )


def _aggregate(
    metric: ModuleType, pairs: list[measures.PartsByFit], fit: str | None
) -> float | None:
    rows = [pair.get(fit, {}) for pair in pairs]
    names = {name: None for row in rows for name in row}
    if not names:
        return None
    columns = {name: np.array([row.get(name, math.nan) for row in rows]) for name in names}
    return metric.aggregate(columns)


def _by_fit(numbers: Mapping[str | None, dict[str, Any]]) -> dict[str, Any]:
    """Return numbers as they are, or under `fits` where the measure has fits."""
    return numbers[None] if None in numbers else {"fits": dict(numbers)}
