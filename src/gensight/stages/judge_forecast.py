"""What judges are still to be asked: rows of a plan, one for each judging model and judged cell.

Where the answers have been read, the questions are played against the ledger under the keys that
the run would ask under, with an asker that only writes down. Before that there is nothing to look
at, and every answer counts as one that can be judged. Replies that cannot be read are asked for
again: such re-asks are counted as soon as there is one, and never guessed.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from gensight.errors import NotHereYetError
from gensight.images import LONG_SIDE
from gensight.judges.attempts import is_rescored
from gensight.judges.pictures import Shown, enlargement
from gensight.judges.questions import questions
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.plan import PlannedFile
from gensight.providers.prices import TurnFacts, returns_picture
from gensight.records import Judgement, RowFile, Sample
from gensight.runner.accounts import End
from gensight.runner.adopted_judgements import cut_keys
from gensight.runner.forecast import MADE_FROM_IT, Row, Teller, cell_of
from gensight.runner.needs import ASSUMED_FILLED_BYTES, Lookup, Need
from gensight.specs.judge import JudgeSpec
from gensight.specs.rubric import RubricSpec
from gensight.stages.judge import JudgeShard
from gensight.stages.lookup import Past, WritesDown

#: A sample before there are any: what is filled in is of the assumed length.
UNKNOWN = Sample(
    sample_id="",
    rank=0,
    role="evaluated",
    cluster_id="",
    query="x" * ASSUMED_FILLED_BYTES,
    target_text="x" * ASSUMED_FILLED_BYTES,
    image={"bytes": b"", "path": None},
)


@dataclass(frozen=True)
class JudgeForecaster:
    """Makes the rows of judges.

    `listed` are the judgements that are asked about, `needed` and `current` as for `Forecaster`;
    `ends`, `answered` and `answered_as` as for `look_up`.
    """

    teller: Teller
    listed: Sequence[PlannedFile]
    needed: Collection[str]
    current: Collection[str]
    ledger: Path
    ends: Mapping[str, Mapping[str, End]]
    answered: Mapping[str, Mapping[str, str]]
    answered_as: Mapping[str, Sequence[str]]
    #: The keys that were met, by judging model: equal questions are asked once.
    met: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set), repr=False)

    def rows(self) -> Iterator[Row]:
        """Yield a row for every judging model of every file, the models of a judge in its order.

        Reference models are left out: they take nothing.

        Raises:
            SpecError: a model that is to be asked has no price, or a rubric needs what its samples
                do not have.
        """
        for planned in self.listed:
            tree = planned.determinants
            for model in tree["spec"]["models"]:
                judged = cell_of(planned)
                cell = judged._replace(model=model)
                if self.teller.model(cell).kind == "reference":
                    continue
                known = self._looked(planned, model)
                yield self.teller.row(
                    cell,
                    tree["models"][model]["generation"],
                    [known],
                    arithmetic=None,
                    nothing_left=self._why_none(planned),
                    judge=tree["judge"],
                    judged=judged.model,
                )

    def _why_none(self, planned: PlannedFile) -> str | None:
        is_there = planned.path in self.needed or planned.path in self.current
        return None if is_there else MADE_FROM_IT

    def _looked(self, planned: PlannedFile, model: str) -> Lookup | None:
        """Return what is known of a model's judgements; None where `n: all` is not known."""
        if planned.path in self.current:
            return self._made(planned, model)
        if planned.path not in self.needed:
            expected = self._expected(planned, model)
            return Lookup(answered=0 if expected is None else expected.total())
        if all(path in self.current for path in planned.inputs):
            try:
                return self._played(planned, model)
            except NotHereYetError:  # a model that this version cannot ask has said nothing
                pass
        expected = self._expected(planned, model)
        return None if expected is None else Lookup(needs=expected, assumed=True)

    def _made(self, planned: PlannedFile, model: str) -> Lookup:
        """Return what a file of judgements holds of a model."""
        file = RowFile(planned.path, Judgement)
        names = ("judge_model", "request_key", "judge_outcome", "cut_replies")
        found: dict[str, str] = {}
        for who, key, end, cut in zip(*map(file.column, names), strict=True):
            if who == model:
                found |= {key: end, **dict.fromkeys(cut_keys(cut), str(Outcome.TRUNCATED))}
        new = [end for key, end in found.items() if self._is_new(model, key)]
        answered = sum(end in MODEL_OUTCOMES for end in new)
        return Lookup(answered=answered, unanswered=len(new) - answered)

    def _played(self, planned: PlannedFile, model: str) -> Lookup:
        """Return what the ledger has of a file whose samples and readings are there."""
        shard = JudgeShard.of(*planned.inputs, planned.determinants, model)
        asker, api_model = WritesDown(), str(shard.plan["generation"].get("model"))
        past = Past(self.ledger, self.ends.get(api_model, {}), self.answered.get(api_model, {}))
        talk = shard.conversation(self.ledger)
        talk = replace(talk, asker=asker, answered_as=self.answered_as.get(model))
        counts: Counter[str] = Counter()
        needs: Counter[Need] = Counter()
        strangers: Counter[str] = Counter()
        for row in chain.from_iterable(shard.rows(talk, asked) for asked in shard.questions()):
            is_new = self._is_new(model, row.request_key)
            end = past.end(row.request_key) if row.outcome == Outcome.NOT_RUN else "answered"
            if row.outcome == Outcome.MODEL_MISMATCH:
                strangers[str(row.answered_model)] += 1
            if not is_new:
                continue
            if end is None:
                turn = asker.last.turn
                facts = TurnFacts.of(turn, shard.plan["adapter"], shard.plan["generation"])
                needs[Need(facts, turn.max_tokens)] += 1
            else:
                counts["in_doubt" if end == "in_doubt" else "answered"] += 1
        return Lookup(**counts, needs=needs, strangers=strangers)

    def _is_new(self, model: str, key: str) -> bool:
        is_new = key not in self.met[model]
        self.met[model].add(key)
        return is_new

    def _expected(self, planned: PlannedFile, model: str) -> Counter[Need] | None:
        """Return what is asked if every answer can be judged; None where `n: all` is not known."""
        tree = planned.determinants
        judge = JudgeSpec.model_validate({**tree["spec"], "display": {"label": tree["judge"]}})
        samples, found = self._samples(planned), Counter[Need]()
        if samples is None:
            return None
        generations, asked = tree["predictions"]["generations"], tree["models"][model]
        severities = generations["generation"].get("severities") or [None]
        answers, size = generations["repeats"] * len(severities), _size(generations)
        for sample, number, rescored in _with_second_looks(samples, judge):
            for name, spec in tree["rubrics"].items():
                rubric = RubricSpec.model_validate(spec)
                for facts in _facts(name, rubric, sample, size, asked):
                    found[Need(facts)] += answers * (number * judge.repeats + rescored)
        return found

    def _samples(self, planned: PlannedFile) -> list[Sample] | int | None:
        """Return the samples whose answers are judged; their number, before they are made."""
        cell, limit = cell_of(planned), planned.determinants["predictions"]["ranks"]
        ranks = self.teller.plan.project.ranks(cell.benchmark, cell.prompt)
        path = planned.inputs[0]
        if path in self.current:
            limits = [n for n in (ranks, limit) if isinstance(n, int)]
            return [
                sample
                for sample in RowFile(path, Sample)
                if sample.role == "evaluated" and all(sample.rank < n for n in limits)
            ]
        if not isinstance(ranks, int):
            return None
        return ranks if limit is None else min(ranks, limit)


def _with_second_looks(
    samples: list[Sample] | int, judge: JudgeSpec
) -> Iterator[tuple[Sample, int, int]]:
    """Yield samples, how many there are of each, and how many of those are judged twice."""
    again = judge.rescored
    if isinstance(samples, int):
        yield UNKNOWN, samples, 0 if again is None else math.ceil(again.share * samples)
        return
    for sample in samples:
        is_again = again and is_rescored(sample.sample_id, again.share, again.assumed_seed)
        yield sample, 1, int(bool(is_again))


def _size(generations: Mapping[str, Any]) -> int | None:
    """Return how many cells of a side the judged answers are to have."""
    return generations["requests"]["turns"][-1]["answer_form"].get("size")


def _facts(
    name: str, rubric: RubricSpec, sample: Sample, size: int | None, asked: Mapping[str, Any]
) -> Iterator[TurnFacts]:
    """Yield what the price of the questions about one answer depends on, before it is there."""
    # A picture of a question is one of its parts; nobody looks into it.
    sides = LONG_SIDE
    if size is not None:
        sides = size * enlargement(size, rubric.pictures.assumed_enlarged_to_px)
    adapter, generation = asked["adapter"], asked["generation"]
    for question in questions(name, rubric, sample, Shown(b"", size)):
        parts = question.request.turns[0]["parts"]
        yield TurnFacts(
            text_bytes=sum(len((part["text"] or "").encode()) for part in parts),
            shown=tuple(
                (sides, sides) if shown == "answer" else (LONG_SIDE, LONG_SIDE)
                for shown in rubric.shown
            ),
            returns_picture=returns_picture(adapter, generation, "text"),
        )
