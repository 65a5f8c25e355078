"""What judges gave one answer: points by dimension, their sum, and what unread replies leave open.

Protocol. PixelBench Appendix G.2 scores six dimensions once and adds them; GENIUS 2.3 and 3.1 score
in three runs and, where it compares, for each reference. Unlike other measures, this one takes all
judgements of one answer at once. The unit stays the answer (PROTOCOLS 2.6): of one judge and one
reference, the runs become one number by `aggregation` (`mean`, `median`, or `single`, the first
run), and the answer's number is the mean over judges and references. Of the repeats of a run only
the one that could be read counts, and of runs only those that have one.

Three ends are kept apart. An answer that is none, or an invalid one, was the judged model's to
give: it gets 0 points everywhere (`failure: zero`), or is left out as in the paper of GENIUS
(`left_out`). A judge that cannot be read says nothing of the model: there is no number, and the
parts `least_` and `most_` bound what it may have been. Where a judge's reply never arrived there is
nothing at all.

`rubrics` holds the least and the most points of each dimension by rubric; scoring fills it in from
the rubrics of the judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gensight.errors import SpecError
from gensight.measures import Parts, PartsByFit, complete
from gensight.records import Judgement, Sample

VERSION = 1
FAILURE_POLICIES = ("zero", "left_out")
DEFAULTS: dict[str, Any] = {"failure": "zero", "aggregation": "mean", "rubrics": {}}
CHOICES = {"aggregation": ["mean", "median", "single"]}


def measure(
    judgements: Sequence[Judgement], sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return the points of an answer that was judged.

    Parts, for every dimension d: points_d (left out where no reply was read), least_d and most_d,
    which equal it where every reply was; total, total_least and total_most, their sums. Counts:
    runs, unread_runs, reasks. Of an answer that was judged twice, rescored_change: how far the
    second total lies from the first, in points.
    """
    checked = _checked(settings)
    asked = _questions(judgements)
    if any(question.is_open for question in asked):
        return {None: {}}
    parts = _points(asked, checked)
    parts["runs"] = float(sum(len(question.runs) for question in asked))
    parts["unread_runs"] = float(
        sum(points is None for question in asked for points in question.runs)
    )
    parts["reasks"] = float(sum(row.reask > 0 and not row.rescored for row in judgements))
    changes = [found for question in asked if (found := question.change) is not None]
    if changes:
        parts["rescored_change"] = _mean(changes)
    return {None: parts}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Give an answer that could not be judged no points in any dimension, or leave it out."""
    checked = _checked(settings)
    if checked["failure"] == "left_out":
        return {None: {}}
    names = [name for ranges in checked["rubrics"].values() for name in ranges]
    parts = {f"{bound}_{name}": 0.0 for name in names for bound in ("points", "least", "most")}
    return {None: {**parts, "total": 0.0, "total_least": 0.0, "total_most": 0.0}}


Points = Mapping[str, float]


@dataclass(frozen=True)
class _Question:
    """What one judge said of one question: points by run, None where no reply could be read."""

    rubric: str
    runs: list[Points | None]
    again: Points | None
    is_open: bool

    @property
    def change(self) -> float | None:
        """Return how far the second look's total lies from the first run's; None without both."""
        first = self.runs[0] if self.runs else None
        if first is None or self.again is None:
            return None
        return abs(math.fsum(self.again.values()) - math.fsum(first.values()))

    def number(self, name: str, aggregation: str) -> float | None:
        """Return the points of a dimension over the runs; None where no run counts."""
        runs = self.runs[:1] if aggregation == "single" else self.runs
        found = [points[name] for points in runs if points is not None]
        if not found:
            return None
        return float(median(found)) if aggregation == "median" else _mean(found)


def _questions(judgements: Sequence[Judgement]) -> list[_Question]:
    """Return what was asked of each judge, in a fixed order, however the rows lie."""
    by_question: dict[tuple[str, str, str], list[Judgement]] = {}
    for row in judgements:
        by_question.setdefault((row.rubric, row.unit or "", row.judge_model), []).append(row)
    return [_question(key[0], by_question[key]) for key in sorted(by_question)]


def _question(rubric: str, rows: Sequence[Judgement]) -> _Question:
    runs: dict[tuple[bool, int], Judgement] = {}
    for row in sorted(rows, key=lambda row: row.reask):
        runs[(row.rescored, row.run)] = row  # the last one is the reply that was read, if any was
    firsts = [runs[key] for key in sorted(runs) if not key[0]]
    again = next((row for key, row in runs.items() if key[0]), None)
    return _Question(
        rubric=rubric,
        runs=[_read(row) for row in firsts],
        again=None if again is None else _read(again),
        is_open=any(row.status == "no_answer" for row in firsts),
    )


def _read(row: Judgement) -> Points | None:
    return row.points if row.status == "ok" else None


def _points(asked: Sequence[_Question], settings: Mapping[str, Any]) -> Parts:
    """Return points and bounds of every dimension that was asked for, and their sums."""
    parts: Parts = {}
    names = []
    for rubric, ranges in settings["rubrics"].items():
        questions = [question for question in asked if question.rubric == rubric]
        for name, (least, most) in ranges.items():
            names.append(name)
            if not questions:  # a rubric that compares, and a sample without references
                continue
            found = [question.number(name, settings["aggregation"]) for question in questions]
            known = [value for value in found if value is not None]
            if known:
                parts[f"points_{name}"] = _mean(known)
            parts[f"least_{name}"] = _mean([least if v is None else v for v in found])
            parts[f"most_{name}"] = _mean([most if v is None else v for v in found])
    for total, each in (("total", "points"), ("total_least", "least"), ("total_most", "most")):
        summed = [parts.get(f"{each}_{name}") for name in names]
        if names and None not in summed:
            parts[total] = math.fsum(value for value in summed if value is not None)
    return parts


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    if checked["aggregation"] not in CHOICES["aggregation"]:
        raise SpecError(
            f"settings.aggregation: '{checked['aggregation']}' is not known; "
            f"allowed: {', '.join(CHOICES['aggregation'])}"
        )
    return checked
