"""Judging: models give points to what was read of a cell's answers, by rubrics, through the ledger.

What a judge is asked is rendered here, from rubric, sample and reading (DESIGN 3). Equal readings
of one answer are judged once, whatever variants they are of; equal questions are asked once, for
their key is the same.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from gensight.judges import replies
from gensight.judges.attempts import Attempt, first_attempts, next_attempt
from gensight.judges.pictures import Shown
from gensight.judges.questions import JudgeQuestion, questions
from gensight.models import Turn
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES, Outcome
from gensight.pixels.grid_text import stored_grid
from gensight.records import (
    Generation,
    Judgement,
    Notes,
    Prediction,
    RowFile,
    Sample,
    SampleStore,
    write_rows,
)
from gensight.runner.adopted_judgements import told_cut
from gensight.runner.conversation import Conversation, Setting
from gensight.specs.judge import JudgeSpec
from gensight.specs.rubric import RubricSpec
from gensight.stages.gaps import without_gaps
from gensight.stages.generate import Counts, bought, closed, conversation_of, keeps_gaps, played


class Judged(NamedTuple):
    """One reading of one answer, and the variants that read the same."""

    prediction: Prediction
    variants: tuple[str, ...]


class Asked(NamedTuple):
    """A question to a judge about one reading, and the attempt that begins a run of it."""

    judged: Judged
    question: JudgeQuestion
    attempt: Attempt


class Reply(NamedTuple):
    """What came of one attempt of a model: the row that the runner keeps, and its verdict.

    `cut` are the rows of replies before it that were too short, on the ladder of lengths.
    """

    model: str
    asked: Asked
    row: Generation
    verdict: replies.Verdict
    cut: Sequence[Generation] = ()


@dataclass(frozen=True)
class JudgeShard:
    """The questions of one judging model about one cell; `plan` is what the runner asks it by."""

    predictions: RowFile[Prediction]
    samples: SampleStore
    determinants: Mapping[str, Any]
    plan: Mapping[str, Any]
    judge: JudgeSpec
    rubrics: Mapping[str, RubricSpec]
    guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, samples: str, predictions: str, plan: Mapping[str, Any], model: str) -> JudgeShard:
        """Open the files of a cell for one of its judges; errors as `RowFile`."""
        upstream = plan["predictions"]
        planned = upstream["generations"]["requests"]
        display = {"display": {"label": plan["judge"]}}
        return cls(
            predictions=RowFile(predictions, Prediction, upstream),
            samples=SampleStore(RowFile(samples, Sample, planned["samples"])),
            determinants=plan,
            plan={**plan["models"][model], "requests": planned, "exif": plan["exif"]},
            judge=JudgeSpec.model_validate({**plan["spec"], **display}),
            rubrics={
                name: RubricSpec.model_validate(plan["rubrics"][name])
                for name in plan["spec"]["rubrics"]
            },
        )

    def conversation(
        self, ledger: str | Path, config: Mapping[str, Any] | None = None
    ) -> Conversation:
        """Return the conversation with the judge, named after the model whose answers are judged.

        A hosted one asks nobody yet.
        """
        conversation = conversation_of(self, ledger, config)
        judged = self.determinants["predictions"]["generations"]["model"]
        return replace(conversation, prompt=f"{conversation.prompt} of {judged}")

    def questions(self) -> Iterator[Asked]:
        """Yield what begins every run of every question about every valid reading, by rank."""
        for judged in _readings(self.predictions):
            sample = self._sample(judged.prediction.sample_id)
            for name, rubric in self.rubrics.items():
                shown = Shown.of_grid(stored_grid(judged.prediction.text or ""), rubric.pictures)
                for question in questions(name, rubric, sample, shown):
                    for attempt in first_attempts(self.judge, sample.sample_id):
                        yield Asked(judged, question, attempt)

    def rows(self, conversation: Conversation, asked: Asked) -> Iterator[Generation]:
        """Yield the rows of one run: of its first attempt, and of every re-ask."""
        for reply in self.replies(conversation, asked):
            yield from (*reply.cut, reply.row)

    def replies(self, conversation: Conversation, asked: Asked) -> Iterator[Reply]:
        """Yield the replies of one run, in the order in which they were asked for."""
        question, attempt = asked.question, asked.attempt
        about = [self._sample(asked.judged.prediction.sample_id)]
        rubric = self.rubrics[question.rubric]
        following: Attempt | None = attempt
        while following is not None:
            setting = Setting(repeat=following.repeat)
            found = played(conversation, question.request, about, setting, question.pictures)
            *cut, row = found
            verdict = replies.judge(row.outcome, row.text, rubric, self.judge.reading)
            put = Asked(asked.judged, question, following)
            yield Reply(self.plan["model"], put, row, verdict, cut)
            following = next_attempt(following, verdict, self.judge)

    def first_turn(self, conversation: Conversation, asked: Asked) -> Turn:
        """Return the turn of a question as it is asked."""
        setting = Setting(repeat=asked.attempt.repeat)
        about = [self._sample(asked.judged.prediction.sample_id)]
        question = asked.question
        return conversation.first_question(question.request, about, setting, question.pictures).turn

    def turns(self, asked: Asked) -> int:
        """Return 1: a judge is asked in one turn."""
        return 1

    def _sample(self, sample_id: str) -> Sample:
        with self.guard:  # a reader of Parquet files serves one thread at a time
            return self.samples[sample_id]


def judge(
    samples: str,
    predictions: str,
    output: str,
    ledger: str,
    determinants: Mapping[str, Any],
    config: Mapping[str, Any] | None = None,
) -> Counts:
    """Write what all models of a judge say of a cell's readings; return how many replies that took.

    Rerunning is harmless: replies that the ledger holds are replayed. A reading that is not valid
    is not judged.

    Raises:
        BudgetError, ParkedError: a hosted judge cannot be asked.
        UnresolvedError: questions got no reply, and the config does not keep such gaps.
    """
    shards = [
        JudgeShard.of(samples, predictions, determinants, model)
        for model in determinants["spec"]["models"]
    ]
    talks = [(shard, shard.conversation(ledger, config or {})) for shard in shards]
    asked = sum(bought(shard, conversation, config or {}) for shard, conversation in talks)
    cell = "/".join([determinants["judge"], *output.split("/")[2:5]])
    found = (reply for shard, talk in talks for reply in _all_replies(shard, talk))
    kept = without_gaps(found, cell, keeps=keeps_gaps(config or {}), row_of=lambda reply: reply.row)
    counts: Counter[str] = Counter()
    rows = (row for reply in _counted(kept, counts) for row in _judgements(reply))
    inputs = [samples, predictions]
    try:
        write_rows(output, Judgement, rows, determinants, inputs, note=_note)
    finally:
        asked += sum(closed(conversation) for _, conversation in talks)
    return Counts(counts.total(), asked)


def _counted(given: Iterable[Reply], counts: Counter[str]) -> Iterator[Reply]:
    """Yield replies, and count how many each model gave."""
    for reply in given:
        counts[reply.model] += 1
        yield reply


def _all_replies(shard: JudgeShard, conversation: Conversation) -> Iterator[Reply]:
    """Yield all that one model says, and let go of it: the next of a panel needs the memory."""
    try:
        for asked in shard.questions():
            yield from shard.replies(conversation, asked)
    finally:
        closed(conversation)


def _readings(rows: RowFile[Prediction]) -> Iterator[Judged]:
    """Yield the valid readings; variants of one answer that read the same are one."""
    before: list[Prediction] = []
    for row in rows:
        if before and _answer(before[0]) != _answer(row):
            yield from _alike(before)
            before = []
        before.append(row)
    yield from _alike(before)


def _answer(row: Prediction) -> tuple[Any, ...]:
    return row.sample_id, row.repeat, row.severity


def _alike(rows: Sequence[Prediction]) -> Iterator[Judged]:
    by_text: dict[str, list[Prediction]] = {}
    for row in rows:
        if row.status == "ok" and row.text is not None:
            by_text.setdefault(row.text, []).append(row)
    for same in by_text.values():
        yield Judged(same[0], tuple(row.variant for row in same))


def _judgements(reply: Reply) -> Iterator[Judgement]:
    """Yield a reply as rows, one for each variant that read what was judged."""
    model, (judged, question, attempt), row, verdict, cut = reply
    for variant in judged.variants:
        yield Judgement(
            sample_id=judged.prediction.sample_id,
            repeat=judged.prediction.repeat,
            severity=judged.prediction.severity,
            variant=variant,
            unit=question.unit,
            rubric=question.rubric,
            judge_model=model,
            run=attempt.run,
            reask=attempt.reask,
            rescored=attempt.rescored,
            request_key=row.request_key,
            judge_outcome=row.outcome,
            status=verdict.status,
            reason=verdict.reason,
            points={k: float(v) for k, v in verdict.points.items()} or None,
            notes=dict(verdict.notes) or None,
            fence_stripped=verdict.fence_stripped,
            text=row.text,
            answered_model=row.answered_model,
            latency_s=row.latency_s,
            cost_usd=row.cost_usd,
            usage=row.usage,
            cut_replies=told_cut(cut),
        )


def _note(row: Judgement, notes: Notes) -> None:
    """Write down what a file of judgements says of one of its rows."""
    if row.judge_outcome in INFRASTRUCTURE_OUTCOMES:
        notes.gaps[row.judge_outcome] += 1
    elif row.answered_model is not None and row.judge_outcome != Outcome.NOT_RUN:
        notes.answered.add(row.answered_model)
