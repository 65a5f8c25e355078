"""What a measure is given of a judge: all judgements of one reading of one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import Judgement, Prediction, RowFile
from gensight.stages.features import Key, key_of

#: The least and the most points of every dimension.
Ranges = dict[str, tuple[int, int]]


class CellJudgements:
    """The judgements of one cell by one judge; `rubrics` has the ranges of each rubric's points."""

    def __init__(self, path: str, plan: Mapping[str, Any]) -> None:
        """Read the file; RecordError if it is not as planned."""
        self._of: dict[Key, list[Judgement]] = {}
        for row in RowFile(path, Judgement, plan):
            self._of.setdefault(key_of(row), []).append(row)
        self.rubrics: dict[str, Ranges] = {
            name: {one["name"]: (one["least"], one["most"]) for one in rubric["dimensions"]}
            for name, rubric in plan["rubrics"].items()
        }

    def of(self, prediction: Prediction) -> list[Judgement]:
        """Return the judgements of a reading; none of one that could not be judged."""
        return self._of.get(key_of(prediction), [])

    def judged_by(self, prediction: Prediction) -> str | None:
        """Return who judged a reading, each with the id under which it answered; None: nobody."""
        names = {
            row.judge_model
            if row.answered_model is None
            else f"{row.judge_model} (answered as {row.answered_model})"
            for row in self.of(prediction)
            if row.judge_outcome not in INFRASTRUCTURE_OUTCOMES
        }
        return ", ".join(sorted(names)) or None

    def with_outcome(self, prediction: Prediction) -> Prediction:
        """Return a reading; one that a judge was asked about in vain with the judge's outcome.

        Nobody knows its number yet, as if the answer itself had never arrived.
        """
        open_ends = [
            row.judge_outcome
            for row in self.of(prediction)
            if not row.rescored and row.judge_outcome in INFRASTRUCTURE_OUTCOMES
        ]
        return replace(prediction, outcome=open_ends[0]) if open_ends else prediction
