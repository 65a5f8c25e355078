"""How far the runs of a judge agree with each other, and the judges of a panel among themselves.

The unit is the answer to one question of one rubric; runs are never n (PROTOCOLS 2.6). Repeats of
an answer, sizes and severities are answers of their own, and share their sample's cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gensight.records import Judgement
from gensight.statistics.agreement import (
    Coefficient,
    icc_average,
    icc_single,
    more_runs_pay,
    ordinal_alpha,
    quadratic_kappa,
)


class RunAgreement(NamedTuple):
    """What one run of a judge is worth, what their mean, and whether more runs would pay."""

    icc_single: Coefficient
    icc_average: Coefficient
    more_runs_pay: bool


class PanelAgreement(NamedTuple):
    """How far judges agree: quadratic-weighted kappa of every two, ordinal alpha of all."""

    kappas: Mapping[tuple[str, str], Coefficient]
    alpha: Coefficient


def agreement_of_runs(
    judgements: Sequence[Judgement],
    judge_model: str,
    clusters: Mapping[str, str],
    *,
    dimension: str | None = None,
    benchmark: str = "",
) -> RunAgreement:
    """Return how far the runs of one judge agree, in a dimension or in the total.

    `clusters` names the cluster of every sample. Second looks do not count as runs.
    """
    runs = sorted({row.run for row in judgements if row.judge_model == judge_model})
    ratings, names = _ratings(judgements, [(judge_model, run) for run in runs], clusters, dimension)
    return RunAgreement(
        icc_single(ratings, names, benchmark),
        icc_average(ratings, names, benchmark),
        more_runs_pay(ratings),
    )


def agreement_of_panel(
    judgements: Sequence[Judgement],
    clusters: Mapping[str, str],
    *,
    dimension: str | None = None,
    benchmark: str = "",
) -> PanelAgreement:
    """Return how far the first runs of all judges agree, in a dimension or in the total."""
    judges = sorted({row.judge_model for row in judgements})
    ratings, names = _ratings(judgements, [(judge, 0) for judge in judges], clusters, dimension)
    kappas = {
        (first, second): quadratic_kappa(
            ratings[:, judges.index(first)], ratings[:, judges.index(second)], names, benchmark
        )
        for first, second in combinations(judges, 2)
    }
    return PanelAgreement(kappas, ordinal_alpha(ratings, names, benchmark))


def _ratings(
    judgements: Sequence[Judgement],
    raters: Sequence[tuple[str, int]],
    clusters: Mapping[str, str],
    dimension: str | None,
) -> tuple[np.ndarray, list[str]]:
    """Return points (questions, raters), NaN where there are none, and each question's cluster."""
    places = {rater: place for place, rater in enumerate(raters)}
    by_question: dict[str, np.ndarray] = {}
    samples: dict[str, str] = {}
    for row in judgements:
        place = places.get((row.judge_model, row.run))
        if place is None or row.rescored:
            continue
        question = repr(
            (row.sample_id, row.repeat, row.severity, row.variant, row.rubric, row.unit)
        )
        samples[question] = row.sample_id
        ratings = by_question.setdefault(question, np.full(len(raters), np.nan))
        if row.status == "ok" and row.points:
            points = row.points
            ratings[place] = sum(points.values()) if dimension is None else points[dimension]
    questions = sorted(by_question)
    found = np.array([by_question[q] for q in questions]).reshape(len(questions), len(raters))
    return found, [clusters[samples[question]] for question in questions]
