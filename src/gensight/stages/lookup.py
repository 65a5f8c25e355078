"""Looking up what a run has answers to, by the keys that it would ask under; nothing is asked.

Conversations are played against the ledger with an asker that only writes down what it is asked.
Models that answer the same requests are played side by side, so that a picture is brought to the
sent size once for all of them.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gensight import images
from gensight.digests import digest_of, digest_of_bytes
from gensight.errors import NotHereYetError
from gensight.outcomes import Outcome
from gensight.plan import PlannedFile
from gensight.providers.prices import TurnFacts
from gensight.records import Request, RowFile, Sample, SampleStore
from gensight.runner.accounts import End
from gensight.runner.conversation import Conversation, Setting
from gensight.runner.ledger import Entry, Ledger, has_replies
from gensight.runner.needs import Lookup, Need, expected_facts
from gensight.runner.questions import Answer, Question
from gensight.specs.protocols import PROTOCOLS
from gensight.stages.generate import Shard, conversation_of, played


def look_up(
    files: Sequence[PlannedFile],
    ledger: Path,
    ends: Mapping[str, Mapping[str, End]],
    answered: Mapping[str, Mapping[str, str]],
    answered_as: Mapping[str, Sequence[str]],
) -> dict[str, Lookup]:
    """Return what the ledger has of generations files whose samples and requests are there.

    `ends` says by a hosted model's id and by key what is not asked although the ledger has no
    answer to it, `answered` likewise the blob that such an answer can be read out of again;
    `answered_as` under which other ids a hosted model may answer.
    """
    together: dict[tuple[str, ...], list[PlannedFile]] = defaultdict(list)
    for planned in files:
        together[planned.inputs].append(planned)
    asked: dict[str, set[str]] = defaultdict(set)
    found: dict[str, Lookup] = {}
    for (samples_path, requests_path), some in together.items():
        tree = some[0].determinants["requests"]
        samples = SampleStore(RowFile(samples_path, Sample, tree["samples"]))
        requests = RowFile(requests_path, Request, tree)
        walks = []
        for planned in some:
            model = planned.determinants["model"]
            shard = Shard(requests, samples, planned.determinants)
            allowed = answered_as.get(model)
            api_model = str(planned.determinants["generation"].get("model"))
            past = Past(ledger, ends.get(api_model, {}), answered.get(api_model, {}))
            walks.append(_walk(shard, ledger, asked[model], past, allowed))
        _share_pictures(walks)
        steps = (_steps(place, walk) for place, walk in enumerate(walks))
        for step in heapq.merge(*steps):
            about = [samples[sample_id] for sample_id in step.request.sample_ids]
            walks[step.place].take(step.request, about, step.setting)
        found |= {p.path: walk.found() for p, walk in zip(some, walks, strict=True)}
    return found


class Past(NamedTuple):
    """What became of requests to a hosted model, by key: see `Accounts`."""

    ledger: Path
    ends: Mapping[str, End]
    answered: Mapping[str, str]

    def end(self, key: str) -> End | None:
        """Return how a key without an answer ended, if it is not asked again."""
        if key in self.answered:
            blob = Ledger(self.ledger, "").blob_path(self.answered[key])
            if blob.exists():
                return "kept"
        return self.ends.get(key)


def _sent_size(sample: Sample, long_side: int | None) -> tuple[int, int]:
    """Return the size at which a sample's picture is sent; one that has none is never shown."""
    if sample.width is None or sample.height is None:
        return (0, 0)
    if long_side is None:
        return sample.width, sample.height
    return images.fit_long_side(sample.width, sample.height, long_side)


class _Step(NamedTuple):
    """One question of one walk; of two steps, rank and place always tell which is first."""

    rank: int
    place: int
    request: Request
    setting: Setting


def _steps(place: int, walk: _Walk) -> Iterator[_Step]:
    for request, setting in walk.shard.questions():
        yield _Step(request.rank, place, request, setting)


class _Walk:
    """A shard's questions, gone through: what is answered, what is left to ask.

    `asked` holds what was met before of the same model, in this file or another: it is asked once.
    """

    def __init__(self, shard: Shard, asked: set[str]) -> None:
        self.shard, self._asked = shard, asked
        self._answered = self._in_doubt = 0
        self._needs: Counter[Need] = Counter()
        self._strangers: Counter[str] = Counter()

    def found(self) -> Lookup:
        """Return what was found."""
        return Lookup(
            answered=self._answered,
            in_doubt=self._in_doubt,
            needs=self._needs,
            strangers=self._strangers,
        )

    def take(self, request: Request, about: Sequence[Sample], setting: Setting) -> None:
        """Count the turns of one question about some samples."""
        raise NotImplementedError

    def _is_new(self, key: str) -> bool:
        new = key not in self._asked
        self._asked.add(key)
        return new

    def _need_turns(
        self, request: Request, first: int, about: Sequence[Sample], before: str
    ) -> None:
        """Count turns that nobody can put into words yet, for they follow from replies.

        `before` stands for all that precedes them: what begins alike is asked once up to there.
        """
        plan = self.shard.plan
        sides = _sent_size(about[0], plan.get("input_long_side_px", images.LONG_SIDE))
        for index in range(first, len(request.turns)):
            parts = request.turns[index]["parts"]
            before = digest_of([before, [(p["kind"], p["text"], p["turn"]) for p in parts]])
            if not self._is_new(before):
                continue
            facts = expected_facts(request.turns, index, sides, plan["adapter"], plan["generation"])
            self._needs[Need(facts)] += 1


class _FirstWalk(_Walk):
    """A model that has no reply at all: everything is to be asked, and no key is needed.

    Only what is asked twice must be told: with a seed of its own every sample is another question.
    """

    def __init__(self, shard: Shard, asked: set[str]) -> None:
        super().__init__(shard, asked)
        seed = shard.plan["generation"].get("seed")
        hosted = PROTOCOLS[shard.plan["adapter"]].kind == "hosted"
        self._told_apart = seed is not None or not hosted

    def take(self, request: Request, about: Sequence[Sample], setting: Setting) -> None:
        """Count the turns of a question that were not met before."""
        picture = about[0].image
        who = [request.sample_ids]
        if not self._told_apart:
            who = [None if picture is None else digest_of_bytes(picture["bytes"])]
        benchmark = self.shard.plan["requests"]["samples"]["benchmark"] if self._told_apart else ""
        before = digest_of([benchmark, *who, setting.repeat, setting.severity])
        self._need_turns(request, 0, about, before)


class _LedgerWalk(_Walk):
    """A model that has replies: every question is looked up under its key."""

    def __init__(
        self,
        shard: Shard,
        asked: set[str],
        conversation: Conversation,
        past: Past,
        answered_as: Sequence[str] | None,
    ) -> None:
        super().__init__(shard, asked)
        self._asker = WritesDown()
        self.conversation = replace(conversation, asker=self._asker, answered_as=answered_as)
        self._past = past

    def take(self, request: Request, about: Sequence[Sample], setting: Setting) -> None:
        """Count the turns of a question, as far as they are answered and from there on."""
        if request.unasked is not None:
            return
        for row in played(self.conversation, request, about, setting):
            is_new = self._is_new(row.request_key)
            end = self._past.end(row.request_key) if row.outcome == Outcome.NOT_RUN else None
            if row.outcome == Outcome.MODEL_MISMATCH:
                self._strangers[str(row.answered_model)] += 1
            if row.outcome != Outcome.NOT_RUN:
                self._answered += is_new
            elif end == "in_doubt":
                self._in_doubt += is_new
            else:
                if end == "kept":
                    self._answered += is_new
                elif is_new:
                    self._need(self._asker.last)
                self._need_turns(request, row.turn + 1, about, row.request_key)

    def _need(self, question: Question) -> None:
        plan, turn = self.shard.plan, question.turn
        facts = TurnFacts.of(turn, plan["adapter"], plan["generation"])
        self._needs[Need(facts, turn.max_tokens)] += 1


class WritesDown:
    """Asks nobody, and remembers the last question."""

    last: Question

    def ask(self, question: Question) -> Answer:
        """Return that nobody was asked."""
        self.last = question
        return Entry(question.key, str(Outcome.NOT_RUN)), []


def _walk(
    shard: Shard,
    ledger: Path,
    asked: set[str],
    past: Past,
    answered_as: Sequence[str] | None,
) -> _Walk:
    if not past.ends and not past.answered and not has_replies(ledger, shard.plan["model"]):
        return _FirstWalk(shard, asked)
    try:
        return _LedgerWalk(shard, asked, conversation_of(shard, ledger), past, answered_as)
    except NotHereYetError:  # a model that this version cannot ask has asked for nothing
        return _FirstWalk(shard, asked)


def _share_pictures(walks: Sequence[_Walk]) -> None:
    """Let all walks bring pictures to the sent size by the same function, which remembers some."""
    shared: Callable[[bytes], bytes] | None = None
    for walk in walks:
        if isinstance(walk, _LedgerWalk):
            shared = shared or walk.conversation.standardise
            walk.conversation.standardise = shared
