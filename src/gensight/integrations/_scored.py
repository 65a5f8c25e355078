"""One answer against its truth, as a harness keeps it: parts under the failure policy.

A harness gathers one item for each sample and then aggregates. An item holds the sufficient
statistics that gensight's metrics read, and `valid`: 1 for an answer in the asked format, else 0. A
failed answer has the parts that the measure's failure policy gives it, so it stays in every number.
Means of items are right for every metric here, also for those that are no means of samples: cIoU
divides summed areas, RMSE is the root of a mean square.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensight import extractors, measures, metrics
from gensight.extractors import Answer, Reading
from gensight.failures import format_valid
from gensight.outcomes import Outcome
from gensight.records import Prediction, Sample
from gensight.specs.words import unknown

Item = dict[str, float]
VALID = "valid"


@dataclass(frozen=True)
class Task:
    """How one kind of answer is read, measured and reported; `parts` are what the metrics read."""

    extractor: str
    measure: str
    metrics: tuple[str, ...]
    parts: tuple[str, ...]


SEGMENTATION = Task("mask", "overlap", ("giou", "ciou"), ("iou", "intersection", "union"))
COUNTING = Task("integer", "count_match", ("mae", "rmse"), ("absolute_error", "squared_error"))
DEPTH = Task("depth", "depth_fit", ("absrel", "delta1", "rmse_m"), ("absrel", "delta1", "rmse_m"))


@dataclass(frozen=True)
class Scored:
    """An answer as it was read, and its item; None without usable truth."""

    reading: Reading
    item: Item | None


def truth(width: int, height: int, **columns: Any) -> Sample:
    """Return the sample that holds a truth alone; the size is that of the input picture."""
    return Sample(
        sample_id="1",
        rank=1,
        cluster_id="1",
        image={"bytes": b"", "path": None},
        width=width,
        height=height,
        **columns,
    )


def scored(
    task: Task,
    answer: Answer,
    sample: Sample,
    settings: Mapping[str, Any] | None = None,
    *,
    variant: str | None = None,
    fit: str | None = None,
) -> Scored:
    """Read an answer by one variant (the extractor's first) and measure it under one fit.

    Raises:
        SpecError: a setting, variant or fit that does not exist.
    """
    extractor, measure = extractors.load(task.extractor), measures.load(task.measure)
    chosen = {} if variant is None else {"variants": [variant]}
    reading = extractor.extract(answer, chosen)[0]
    prediction = Prediction(
        sample_id=sample.sample_id,
        rank=sample.rank,
        cluster_id=sample.cluster_id,
        variant=reading.variant,
        status=reading.status,
        reason=reading.reason,
        outcome=Outcome.OK,
        **reading.fields,
    )
    complete = {**measure.DEFAULTS, **(settings or {})}
    if reading.status == "ok":
        by_fit = measure.measure(prediction, sample, complete)
    else:
        by_fit = measure.failed(sample, complete)
    if by_fit is None:
        return Scored(reading, None)
    if fit not in by_fit:
        raise unknown(f"measure {task.measure}", "fit", fit, by_fit)
    item = {name: by_fit[fit][name] for name in task.parts}
    return Scored(reading, item | {VALID: float(format_valid(prediction))})


def mean_item(items: Sequence[Item]) -> Item:
    """Return the item that stands for several answers to one request: the mean of each part."""
    return {name: math.fsum(i[name] for i in items) / len(items) for name in items[0]}


def aggregate(metric: str, items: Iterable[Mapping[str, float]]) -> float:
    """Return one of gensight's metrics over items, on its own scale (percent: 0 to 100).

    `coverage` is the share of answers in the asked format, in percent. NaN without items.
    """
    rows = list(items)
    if not rows:
        return math.nan
    if metric == "coverage":
        return 100 * math.fsum(row[VALID] for row in rows) / len(rows)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    found = metrics.load(metric).aggregate(columns)
    return math.nan if found is None else found
