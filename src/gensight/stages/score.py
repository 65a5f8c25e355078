"""Scoring: each reading against its truth, raw and under the benchmark's failure policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from gensight import measures, metrics
from gensight.failures import format_valid
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import Prediction, RowFile, Sample, SampleStore, Score, write_rows


def score(samples: str, predictions: str, output: str, determinants: Mapping[str, Any]) -> int:
    """Write a cell's scores; return their number.

    One prediction gives, for each fit, a row for each part (sufficient statistic) and for each
    metric. A failed answer has no raw values; its policy values come from the measure alone.
    """
    upstream = determinants["predictions"]
    planned = upstream["generations"]["requests"]["samples"]
    store = SampleStore(RowFile(samples, Sample, planned))
    scorer = _Scorer(determinants, store)
    rows = RowFile(predictions, Prediction, upstream)
    scores = (row for prediction in rows for row in scorer.rows(prediction))
    return write_rows(output, Score, scores, determinants, [samples, predictions])


class _Scorer:
    """The measure and metrics of one scorer, with settings fitted on held-out samples."""

    def __init__(self, plan: Mapping[str, Any], store: SampleStore) -> None:
        self.store = store
        self.measure = measures.load(plan["measure"])
        self.metrics: dict[str, ModuleType] = {n: metrics.load(n) for n in plan["metrics"]}
        self.settings = {**plan["settings"], **self._fitted(plan["settings"])}

    def _fitted(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings that the measure takes from held-out samples, where it has any."""
        fit = getattr(self.measure, "settings_from", None)
        if fit is None:
            return {}
        rows = self.store.samples
        return fit(settings, (row for row in rows if row.role == "held_out"))

    def rows(self, prediction: Prediction) -> Iterator[Score]:
        """Yield every number of one prediction."""
        sample = self.store[prediction.sample_id]
        try:
            yield from self._rows(prediction, sample)
        except Exception as error:
            error.add_note(f"while scoring sample {prediction.sample_id}")
            raise

    def _rows(self, prediction: Prediction, sample: Sample) -> Iterator[Score]:
        ok = prediction.status == "ok"
        if ok:
            policy = self.measure.measure(prediction, sample, self.settings)
        else:
            policy = self.measure.failed(sample, self.settings)
        if policy is None:
            yield from self._without_truth(prediction)
            return
        for fit, parts in policy.items():
            # An answer that never arrived is nobody's failure: there is no number for it.
            scored = {} if prediction.outcome in INFRASTRUCTURE_OUTCOMES else parts
            yield from self._numbers(prediction, fit, parts if ok else {}, scored)

    def _without_truth(self, prediction: Prediction) -> Iterator[Score]:
        for name in self.metrics:
            yield _row(prediction, None, "metric", name, None, None, "no_ground_truth")

    def _numbers(
        self,
        prediction: Prediction,
        fit: str | None,
        raw: Mapping[str, float],
        policy: Mapping[str, float],
    ) -> Iterator[Score]:
        for name in sorted({*raw, *policy}):
            yield _row(prediction, fit, "part", name, raw.get(name), policy.get(name))
        for name, metric in self.metrics.items():
            values = (metric.value(parts) if parts else None for parts in (raw, policy))
            yield _row(prediction, fit, "metric", name, *values)


def _row(
    prediction: Prediction,
    fit: str | None,
    kind: str,
    name: str,
    raw: float | None,
    value: float | None,
    status: str | None = None,
) -> Score:
    return Score(
        sample_id=prediction.sample_id,
        rank=prediction.rank,
        cluster_id=prediction.cluster_id,
        stratum=prediction.stratum,
        repeat=prediction.repeat,
        severity=prediction.severity,
        variant=prediction.variant,
        fit=fit,
        status=status or prediction.status,
        reason=prediction.reason,
        outcome=prediction.outcome,
        format_valid=format_valid(prediction),
        degenerate_output=prediction.degenerate_output,
        aspect_changed=prediction.aspect_changed,
        kind=kind,
        name=name,
        raw=None if raw is None else float(raw),
        value=None if value is None else float(value),
    )
