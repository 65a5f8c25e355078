"""The turns of a request, played in order against one model, each under its own ledger key."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gensight.digests import digest_of, digest_of_bytes, seed_of
from gensight.models import Part, Reply, Turn
from gensight.outcomes import Outcome
from gensight.records import Generation, Request, Sample
from gensight.runner.ledger import Entry, Ledger
from gensight.runner.questions import Answer, Asker, Question
from gensight.specs.model import is_asked_for

KEY_VERSION = 1


@dataclass(frozen=True)
class Setting:
    """Which of its answers to a request a model gives: the repeat, the disturbance's severity."""

    repeat: int = 0
    severity: float | None = None


@dataclass(frozen=True)
class Ladder:
    """The lengths that a cut reply is asked again with, each under a key of its own.

    `setting` is the name of the limit in the generation block.
    """

    setting: str = ""
    rungs: tuple[int, ...] = ()


@dataclass
class Conversation:
    """A model that answers requests about one benchmark.

    `identity` is all that determines answers besides the turns: protocol, adapter version,
    generation block. `standardise` brings an input picture to the sent size. `asker` is asked where
    the ledger has no reply. A hosted model must answer under the id that was asked for, or under
    one that `answered_as` allows: None where ids mean nothing. `reads_form` is for models whose
    answers also follow from the form of answer; of built-in ones no times are kept, for their speed
    means nothing.
    """

    model: str
    benchmark: str
    prompt: str
    identity: Mapping[str, Any]
    reads_truth: bool
    is_hosted: bool
    ledger: Ledger
    asker: Asker
    standardise: Callable[[bytes], bytes]
    answered_as: Sequence[str] | None = None
    reads_form: bool = False
    keeps_times: bool = True
    ladder: Ladder = Ladder()

    @property
    def cell(self) -> str:
        """Return the name of the cell that is played."""
        return f"{self.model}/{self.benchmark}/{self.prompt}"

    def play(
        self,
        request: Request,
        samples: Sequence[Sample],
        setting: Setting,
        pictures: Mapping[str, bytes] | None = None,
    ) -> Iterator[Generation]:
        """Yield one row per answer; a turn that fails ends the conversation as its final answer.

        `samples` are those of the request, in its order; the first one's picture is shown, brought
        to the sent size. Parts that name one of `pictures` show that one, as it is. The rounds of
        an agent are answers of one turn, each asked under a key of its own. A request that is
        unasked ends at once.
        """
        if request.unasked is not None:
            yield self._unasked(request, setting)
            return
        shown = self._shown(samples[0], pictures)
        replies: list[Answer] = []
        for index, turn in enumerate(request.turns):
            parent = replies[-1][0].key if replies else None
            parts = tuple(self._part(part, shown, replies) for part in turn["parts"])
            for rung in self._rungs(parts, turn["answer_form"], samples, setting, parent):
                for question, reply in self._rounds(rung):
                    entry = reply[0]
                    is_cut = entry.outcome == Outcome.TRUNCATED and not rung.is_last
                    last_turn = index == len(request.turns) - 1 or entry.outcome != Outcome.OK
                    final = last_turn and not is_cut and not entry.goes_on
                    parent_key = question.asked["parent_key"]
                    yield self._row(request, index, final, setting, parent_key, reply)
                if not is_cut:
                    break
            replies.append(reply)
            if final:
                return

    def first_question(
        self,
        request: Request,
        samples: Sequence[Sample],
        setting: Setting,
        pictures: Mapping[str, bytes] | None = None,
    ) -> Question:
        """Return the first turn as it is asked: what `explain-miss` compares."""
        shown = self._shown(samples[0], pictures)
        turn = request.turns[0]
        parts = tuple(self._part(part, shown, []) for part in turn["parts"])
        return next(self._rungs(parts, turn["answer_form"], samples, setting, None))

    def _shown(
        self, sample: Sample, pictures: Mapping[str, bytes] | None
    ) -> Mapping[str | None, bytes]:
        """Return the pictures that parts show by name; the input has none."""
        if pictures is not None:
            return {**pictures}
        return {} if sample.image is None else {None: self.standardise(sample.image["bytes"])}

    def _part(
        self, part: Mapping[str, Any], shown: Mapping[str | None, bytes], replies: Sequence[Answer]
    ) -> Part:
        if part["kind"] == "image":
            return Part("image", image=shown[part.get("image")])
        if part["kind"] == "text":
            return Part("text", text=part["text"])
        entry, images = replies[part["turn"]]
        if images:
            return Part("image", image=images[0])
        return Part("text", text=entry.text or "")

    def _rungs(
        self,
        parts: tuple[Part, ...],
        answer_form: str,
        samples: Sequence[Sample],
        setting: Setting,
        parent: str | None,
    ) -> Iterator[_Rung]:
        """Yield the question of a turn, and the same with each rung of the ladder after it."""
        for place, max_tokens in enumerate([None, *self.ladder.rungs]):
            asked = self._canonical(parts, answer_form, samples, setting, parent, max_tokens)
            turn = Turn(
                parts=parts,
                answer_form=json.loads(answer_form),
                seed=asked["seed"],
                repeat=setting.repeat,
                severity=setting.severity,
                max_tokens=max_tokens,
                truth=samples[0] if self.reads_truth else None,
                companions=tuple(samples[1:]) if self.reads_truth else (),
            )
            question = _Rung(
                digest_of(asked),
                asked,
                turn,
                self.benchmark,
                self.prompt,
                samples[0].sample_id,
                is_last=place == len(self.ladder.rungs),
            )
            yield question
            parent = question.key

    def _rounds(self, question: Question) -> Iterator[tuple[Question, Answer]]:
        """Yield a question with its reply, and every further round that the model asks for."""
        rounds: list[Reply] = []
        while True:
            entry, images = self._answer(question)
            yield question, (entry, images)
            if not entry.goes_on:
                return
            rounds.append(_reply_of(entry, images))
            asked = {**question.asked, "parent_key": question.key, "round": len(rounds)}
            turn = replace(question.turn, rounds=tuple(rounds))
            question = replace(question, key=digest_of(asked), asked=asked, turn=turn)

    def _answer(self, question: Question) -> Answer:
        entry, images = self.ledger.find(question.key) or self.asker.ask(question)
        if self._is_another_model(entry.answered_model):
            entry = replace(entry, outcome=str(Outcome.MODEL_MISMATCH), detail=entry.answered_model)
        elif entry.outcome == Outcome.TEXT_ONLY and question.turn.answer_form["kind"] == "text":
            # A model that paints says that it only wrote: in a turn that asks for words, it should.
            entry = replace(entry, outcome=str(Outcome.OK))
        return entry, images

    def _is_another_model(self, answered: str | None) -> bool:
        """Say whether a reply came from a model that was not asked for; kept, and never scored.

        Looked at whenever a reply is used, so that allowing the id later costs nothing.
        """
        if self.answered_as is None or answered is None:
            return False
        return not is_asked_for(answered, self._requested_model(), self.answered_as)

    def _canonical(
        self,
        parts: tuple[Part, ...],
        answer_form: str,
        samples: Sequence[Sample],
        setting: Setting,
        parent: str | None,
        max_tokens: int | None,
    ) -> dict[str, Any]:
        """Return everything that an answer may depend on, absences included."""
        rung = {} if max_tokens is None else {self.ladder.setting: max_tokens}
        return {
            "key_version": KEY_VERSION,
            **self.identity,
            "generation": {**self.identity["generation"], **rung},
            "parts": [_canonical_part(part) for part in parts],
            "parent_key": parent,
            "seed": self._seed(samples[0], setting),
            "repeat": setting.repeat,
            "severity": setting.severity,
            # Only models that are handed the truth, or that read the form, can depend on them.
            "truth": truths_digest(samples) if self.reads_truth else None,
            "answer_form": answer_form if self.reads_truth or self.reads_form else None,
        }

    def _seed(self, sample: Sample, setting: Setting) -> int | None:
        """Return the seed of an answer; None for a hosted model that is sent none."""
        generation = self.identity["generation"]
        seed = generation.get("seed")
        seed = generation.get("assumed_seed") if seed is None else seed
        if seed is None and self.is_hosted:
            return None
        # By the id that a provider knows: renaming its YAML must not ask a hosted model again.
        model = self._requested_model()
        return seed_of(seed or 0, model, self.benchmark, sample.sample_id, setting.repeat)

    def _unasked(self, request: Request, setting: Setting) -> Generation:
        """Return the row of a question that could not be put: no key, for nothing is asked."""
        return Generation(
            request_key="",
            request_id=request.request_id,
            sample_ids=request.sample_ids,
            rank=request.rank,
            turn=0,
            final=True,
            repeat=setting.repeat,
            severity=setting.severity,
            outcome=str(request.unasked),
            requested_model=self._requested_model(),
        )

    def _row(
        self,
        request: Request,
        turn: int,
        final: bool,
        setting: Setting,
        parent: str | None,
        reply: Answer,
    ) -> Generation:
        entry, images = reply
        # With several pictures the first is the answer and the number is kept (PROTOCOLS API-2).
        image = {"bytes": images[0], "path": None} if images else None
        keeps_times = self.keeps_times and not self.reads_truth
        return Generation(
            request_key=entry.key,
            parent_key=parent,
            request_id=request.request_id,
            sample_ids=request.sample_ids,
            rank=request.rank,
            turn=turn,
            final=final,
            goes_on=entry.goes_on,
            repeat=setting.repeat,
            severity=setting.severity,
            outcome=entry.outcome,
            detail=entry.detail,
            text=entry.text,
            image=image,
            images_returned=len(images) if entry.images_returned is None else entry.images_returned,
            requested_model=self._requested_model(),
            answered_model=entry.answered_model,
            attempts=entry.attempts,
            latency_s=entry.latency_s if keeps_times else None,
            peak_memory_gb=entry.peak_memory_gb if keeps_times else None,
            device=entry.device,
            warm_up=entry.warm_up if keeps_times else None,
            setup=entry.setup,
            place=entry.place,
            cost_usd=entry.cost_usd,
            usage=entry.usage,
        )

    def _requested_model(self) -> str:
        return str(self.identity["generation"]["model"]) if self.is_hosted else self.model


@dataclass(frozen=True)
class _Rung(Question):
    """A question on the ladder of lengths."""

    is_last: bool = True


def _reply_of(entry: Entry, images: Sequence[bytes]) -> Reply:
    return Reply(
        outcome=entry.outcome,
        text=entry.text,
        images=tuple(images),
        detail=entry.detail,
        setup=entry.setup,
        goes_on=entry.goes_on,
    )


def _canonical_part(part: Part) -> dict[str, Any]:
    if part.image is not None:
        return {"image": digest_of_bytes(part.image)}
    return {"text": unicodedata.normalize("NFC", part.text or "")}


def truths_digest(samples: Sequence[Sample]) -> str:
    """Return a digest of everything about a request's samples that a reference model may read."""
    digests = [truth_digest(sample) for sample in samples]
    return digests[0] if len(digests) == 1 else digest_of(digests)


def truth_digest(sample: Sample) -> str:
    """Return a digest of everything about a sample that a reference model may read."""
    fields = {
        name: getattr(sample, name)
        for name in sample.__dataclass_fields__
        if name.startswith(("target_", "valid_mask", "ignore_mask", "min_depth", "max_depth"))
    }
    # A fitted prior leaves out the held-out samples of the asked sample's own cluster.
    fields["cluster_id"] = sample.cluster_id
    # It may also go by what was asked.
    fields["query"] = sample.query
    for name, value in fields.items():
        if isinstance(value, dict) and "bytes" in value:
            fields[name] = {**value, "bytes": digest_of_bytes(value["bytes"])}
    return digest_of(fields)
