"""A look at two models' scores: are they told apart, or has the difference become narrow?

PROTOCOLS 5.4. One difference per cluster, in the order in which clusters were asked, feeds the
confidence sequence of `gensight.statistics.sequential`. A cluster's difference is the mean over its
samples of the wave in which it first appears, so that nothing already looked at ever changes; its
samples of later waves count in tables, not here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from gensight.errors import GensightError
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import RowFile, Score
from gensight.specs.run import StopSpec
from gensight.statistics.sequential import confidence_sequence, stopping_point
from gensight.variants import only_variant


class Side(NamedTuple):
    """One model's scores: the file, what determines it, and the fit that the rule looks at."""

    label: str
    path: str
    determinants: dict[str, Any]
    fit: str | None


class Look(NamedTuple):
    """The bounds of the mean difference after some clusters, as shares of the rule's scale.

    `after` counts the clusters up to the decision, or all that there are if it is open.
    """

    after: int
    low: float
    high: float
    decided: Literal["told_apart", "narrow"] | None


class _Answered(NamedTuple):
    rank: int
    cluster: str
    #: As a share of the scale; None where the metric is not defined.
    score: float | None


def look(first: Side, second: Side, rule: StopSpec) -> Look:
    """Return what the scores of two models say about `first` minus `second`.

    Failed answers have the value of the benchmark's policy, repeats of a sample are averaged, and
    samples without a truth are left out.

    Raises:
        RecordError: a file is missing, or not the plan's.
        GensightError: answers never arrived, models answered different samples, or a score is
            outside the scale.
    """
    return decide(differences(_answers(first, rule), _answers(second, rule), rule), rule.width)


def decide(found: Sequence[float], width: float | None) -> Look:
    """Return the first step at which the bounds exclude 0 or are narrow; none without clusters.

    >>> decide([0.5] * 40, None).decided
    'told_apart'
    """
    if not found:
        return Look(0, -1.0, 1.0, None)
    low, high = confidence_sequence(found)
    stopped = stopping_point(found, width)
    step = (stopped or len(found)) - 1
    decided: Literal["told_apart", "narrow"] | None = None
    if stopped is not None:
        decided = "told_apart" if low[step] > 0 or high[step] < 0 else "narrow"
    return Look(step + 1, float(low[step]), float(high[step]), decided)


def differences(
    first: dict[str, _Answered], second: dict[str, _Answered], rule: StopSpec
) -> list[float]:
    """Return one difference per cluster, in the order of the clusters' first ranks.

    Raises:
        GensightError: the two answered different samples, or only one has a number of a sample.
    """
    if first.keys() != second.keys():
        odd = min(first.keys() ^ second.keys())
        raise GensightError(
            f"stop_when: {rule.models[0]} and {rule.models[1]} have scores of different samples "
            f"(one lacks {odd}); make both again"
        )
    waves: dict[str, int] = {}
    found: dict[str, list[float]] = {}
    for name, one in sorted(first.items(), key=lambda item: item[1].rank):
        pair = one.score, second[name].score
        if pair[0] is None and pair[1] is None:
            continue
        if pair[0] is None or pair[1] is None:
            lacking = rule.models[0 if pair[0] is None else 1]
            raise GensightError(
                f"stop_when: {rule.metric} is not defined for the answer of {lacking} to {name}; "
                f"choose a metric that failed answers have too"
            )
        wave = _wave(one.rank, rule)
        if waves.setdefault(one.cluster, wave) == wave:
            found.setdefault(one.cluster, []).append(pair[0] - pair[1])
    return [math.fsum(some) / len(some) for some in found.values()]


def _wave(rank: int, rule: StopSpec) -> int:
    """Return the number of the wave in which a rank is asked, from 0."""
    return 0 if rank < rule.first else 1 + (rank - rule.first) // rule.step


def _answers(side: Side, rule: StopSpec) -> dict[str, _Answered]:
    """Return a model's answers under the rule's metric, variant and fit, by sample."""
    rows = [
        row
        for row in RowFile(side.path, Score, side.determinants)
        if row.kind == "metric" and row.name == rule.metric and row.severity is None
    ]
    if not rows:
        raise GensightError(
            f"stop_when: {side.path} has no {rule.metric} without a severity; a rule compares "
            f"models whose answers are not spoiled on purpose"
        )
    _check_arrived(side, rows)
    read = rule.variant or only_variant("stop_when", rule.scorer, {row.variant for row in rows})
    kept: dict[str, list[Score]] = {}
    for row in rows:
        # What has no truth has no fit either.
        if row.variant == read and (row.fit == side.fit or row.status == "no_ground_truth"):
            kept.setdefault(row.sample_id, []).append(row)
    return {
        name: _Answered(some[0].rank, some[0].cluster_id, _score(side, name, some, rule))
        for name, some in kept.items()
    }


def _check_arrived(side: Side, rows: Iterable[Score]) -> None:
    late = {row.sample_id: row.outcome for row in rows if row.outcome in INFRASTRUCTURE_OUTCOMES}
    if late:
        raise GensightError(
            f"stop_when: {len(late)} answers of {side.label} never arrived (the first: "
            f"{min(late)}, {late[min(late)]}), so nothing can be decided; ask for them again first"
        )


def _score(side: Side, name: str, rows: Sequence[Score], rule: StopSpec) -> float | None:
    """Return the mean of the answers to one sample, as a share of the scale."""
    values = [row.value for row in rows if row.value is not None]
    if len(values) < len(rows):
        return None
    for value in values:
        if not 0 <= value <= rule.scale:
            raise GensightError(
                f"stop_when: {rule.metric} of {side.label} is {value:g} for {name}, outside 0 to "
                f"{rule.scale:g}; set scale to the largest that {rule.metric} can be"
            )
    return math.fsum(values) / len(values) / rule.scale
