"""Scoring: each reading against its truth, raw and under the benchmark's failure policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

from gensight import measures, metrics
from gensight.failures import class_under_truth, format_valid
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES, Outcome
from gensight.records import Prediction, RowFile, Sample, SampleStore, Score, write_rows
from gensight.specs.conventions import CLASSIFIER
from gensight.stages.features import CellFeatures
from gensight.stages.judgements import CellJudgements


def score(
    samples: str,
    predictions: Sequence[str],
    output: str,
    determinants: Mapping[str, Any],
    features: Sequence[str] = (),
    judgements: str | None = None,
) -> int:
    """Write a cell's scores; return their number.

    One prediction gives, for each fit, a row for each part (sufficient statistic) and for each
    metric. A failed answer has no raw values; its policy values come from the measure alone.
    `predictions` are the scorer's own and, where the benchmark classifies failures, the classes;
    `features` the cell's and the candidates' of the scorer's encoder, and those of cells that it
    looks across at; `judgements` its judge's.
    """
    upstream = determinants["predictions"]
    planned = upstream["generations"]["requests"]["samples"]
    store = SampleStore(RowFile(samples, Sample, planned))
    rows = RowFile(predictions[0], Prediction, upstream)
    scorer = _Scorer(determinants, store, _classes(predictions, determinants, rows))
    if features:
        own, candidates, *_ = features
        scorer.settings["features"] = CellFeatures(own, candidates, determinants)
    if judgements is not None:
        scorer.judged = CellJudgements(judgements, determinants["judgements"])
        scorer.settings["rubrics"] = scorer.judged.rubrics
    scores = (row for prediction in rows for row in scorer.rows(prediction))
    inputs = [samples, *predictions, *features, *([judgements] if judgements else [])]
    return write_rows(output, Score, scores, determinants, inputs)


def score_files(files: Sequence[str], output: str, determinants: Mapping[str, Any]) -> int:
    """Write a cell's scores from planned files, told apart by the stage that made them."""
    by_stage: dict[str, list[str]] = {}
    for path in files:
        by_stage.setdefault(path.split("/")[1], []).append(path)
    (samples,) = by_stage["samples"]
    own, *across = by_stage.get("features", [""])
    return score(
        samples,
        by_stage["predictions"],
        output,
        determinants,
        features=[own, *by_stage["galleries"], *across] if own else (),
        judgements=next(iter(by_stage.get("judgements", ())), None),
    )


#: The classes of failure of the answers to a request, by repeat, for each sample and severity.
Classes = dict[tuple[str, float | None], dict[int, str | None]]


def _classes(
    predictions: Sequence[str], plan: Mapping[str, Any], own: RowFile[Prediction]
) -> Classes:
    """Read what the blind classifier says of the answers; nothing where it was not asked."""
    rows = own if plan["classes"] is None else RowFile(predictions[1], Prediction, plan["classes"])
    if plan["classes"] is None and plan["predictions"]["extractor"] != CLASSIFIER:
        return {}
    found: Classes = {}
    for row in rows:
        found.setdefault((row.sample_id, row.severity), {})[row.repeat] = row.failure_blind
    return found


def _class_of(prediction: Prediction, classes: Classes) -> str | None:
    """Return the class of the answer that was read; of a consensus, that of most of its answers."""
    found = classes.get((prediction.sample_id, prediction.severity), {})
    if not prediction.variant.endswith("_consensus"):
        return found.get(prediction.repeat, prediction.failure_blind)
    votes = Counter(found[repeat] for repeat in sorted(found))
    return votes.most_common(1)[0][0] if votes else prediction.failure_blind


class _Scorer:
    """The measure and metrics of one scorer, with settings fitted on held-out samples."""

    def __init__(self, plan: Mapping[str, Any], store: SampleStore, classes: Classes) -> None:
        self.store = store
        self.classes = classes
        self.measure = measures.load(plan["measure"])
        self.metrics: dict[str, ModuleType] = {n: metrics.load(n) for n in plan["metrics"]}
        self.settings = {**plan["settings"], **self._fitted(plan["settings"])}
        self.judged: CellJudgements | None = None

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
        if self.judged is not None:
            prediction = self.judged.with_outcome(prediction)
        found = class_under_truth(_class_of(prediction, self.classes), sample)
        head = _head(replace(prediction, failure_blind=found), sample)
        if self.judged is not None:
            head["judged_by"] = self.judged.judged_by(prediction)
        try:
            yield from self._rows(prediction, sample, head)
        except Exception as error:
            error.add_note(f"while scoring sample {prediction.sample_id}")
            raise

    def _rows(
        self, prediction: Prediction, sample: Sample, head: Mapping[str, Any]
    ) -> Iterator[Score]:
        ok = prediction.status == "ok"
        policy = self._policy(prediction, sample)
        if policy is None:
            untold = {**head, "status": "no_ground_truth"}
            for name in self.metrics:
                yield _row(untold, None, "metric", name, None, None)
            return
        for fit, parts in policy.items():
            # An answer that never arrived is nobody's failure: there is no number for it.
            arrived = prediction.outcome not in INFRASTRUCTURE_OUTCOMES
            told = head
            if self.judged is not None and ok and arrived and "total" not in parts:
                told = {**head, "status": "unjudged"}
            yield from self._numbers(told, fit, parts if ok else {}, parts if arrived else {})

    def _policy(self, prediction: Prediction, sample: Sample) -> measures.PartsByFit | None:
        """Return the parts under the failure policy; None where there is nothing to score."""
        if prediction.outcome == Outcome.NO_SOURCE:
            return None
        if prediction.status != "ok":
            return self.measure.failed(sample, self.settings)
        measured = prediction if self.judged is None else self.judged.of(prediction)
        return self.measure.measure(measured, sample, self.settings)

    def _numbers(
        self,
        head: Mapping[str, Any],
        fit: str | None,
        raw: Mapping[str, float],
        policy: Mapping[str, float],
    ) -> Iterator[Score]:
        for name in sorted({*raw, *policy}):
            yield _row(head, fit, "part", name, raw.get(name), policy.get(name))
        for name, metric in self.metrics.items():
            values = (metric.value(parts) if parts else None for parts in (raw, policy))
            yield _row(head, fit, "metric", name, *values)


def _head(prediction: Prediction, sample: Sample) -> dict[str, Any]:
    """Return the columns that every score of one prediction shares."""
    return {
        "sample_id": prediction.sample_id,
        "rank": prediction.rank,
        "cluster_id": prediction.cluster_id,
        "stratum": prediction.stratum,
        "population_n": sample.population_n,
        "label_flag": sample.label_flag,
        "repeat": prediction.repeat,
        "severity": prediction.severity,
        "variant": prediction.variant,
        "status": prediction.status,
        "reason": prediction.reason,
        "outcome": prediction.outcome,
        "failure_blind": prediction.failure_blind,
        "format_valid": format_valid(prediction),
        "degenerate_output": prediction.degenerate_output,
        "aspect_changed": prediction.aspect_changed,
    }


def _row(
    head: Mapping[str, Any],
    fit: str | None,
    kind: str,
    name: str,
    raw: float | None,
    value: float | None,
) -> Score:
    return Score(
        **head,
        fit=fit,
        kind=kind,
        name=name,
        raw=None if raw is None else float(raw),
        value=None if value is None else float(value),
    )
