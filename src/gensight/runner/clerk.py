"""The clerk: reads round trips that were kept, keeps the answer, and settles what it cost.

Whatever was paid for is looked for here before it is bought: a reply that was kept and never read,
one whose entry or picture was lost since, and one that was bought under another model's name.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gensight import providers
from gensight.digests import canonical_json
from gensight.errors import RecordError
from gensight.models import HostedAdapter, Reply
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.providers import Exchange, Fault, FaultKind, secrets
from gensight.providers.usage import Usage
from gensight.runner import retries
from gensight.runner.book import Attempt, Book
from gensight.runner.clock import Clock
from gensight.runner.gpu_memory import Held
from gensight.runner.here import ASSUMED_WARM_UP_ANSWERS
from gensight.runner.ledger import Entry, Ledger
from gensight.runner.place import place_of_this_job
from gensight.runner.questions import Answer, Question
from gensight.runner.server import Server
from gensight.runner.terms import Terms
from gensight.runner.wire import FollowLaterError, Wire


class Clerk:
    """Settles the attempts of one hosted model; safe for the threads of one process."""

    def __init__(
        self,
        ledger: Ledger,
        terms: Terms,
        book: Book,
        adapter: HostedAdapter,
        clock: Clock,
        server: Server | None = None,
    ) -> None:
        self.wire = Wire(ledger, book, adapter, clock)
        self.fault_of = providers.load(terms.provider).fault_of
        self._ledger, self._terms, self._book = ledger, terms, book
        self._adapter, self._clock, self._server = adapter, clock, server
        self._guard, self._served = threading.Lock(), 0

    def keep(
        self,
        question: Question,
        attempt: int,
        exchanges: Sequence[Exchange],
        fault: Fault | None,
        latency_s: float | None,
        ordinal: int,
    ) -> tuple[Answer, Usage | None]:
        """Read the answer out of kept round trips, keep it, and close its attempt.

        `fault` is one that is an answer, if there is one. The usage is None where the reply tells
        none: then the most that it may have cost is booked.
        """
        reply = self._served_reply(self._read(exchanges, fault))
        usage = Usage.from_json(reply.usage)
        facts = {
            "cost_usd": self._cost_usd(fault, usage, self._terms.most(question.turn)),
            "price_date": self._terms.price_date,
        }
        entry = self._record(
            question, attempt, reply, latency_s, ordinal, {**facts, **self._here()}
        )
        now = self._clock.time()
        self._book.close_attempt(
            attempt, entry.outcome, now, detail=entry.detail, usage=reply.usage, **facts
        )
        return (entry, list(reply.images)), usage

    def close(self, attempt: int, fault: Fault) -> None:
        """Close an attempt that got no answer: free of charge, unless nobody knows."""
        cost_usd = None if fault.kind == FaultKind.IN_DOUBT else 0.0
        detail = secrets.scrub(fault.detail)
        now = self._clock.time()
        self._book.close_attempt(attempt, str(fault.kind), now, detail=detail, cost_usd=cost_usd)

    def settle_left_behind(self) -> None:
        """Close what an earlier runner of this model left open and has an answer, or no reply."""
        for attempt in self._book.open_attempts():
            if (attempt.model, attempt.api_model) != (self._terms.model, self._terms.api_model):
                continue
            found = self._ledger.find(attempt.key)
            if found is not None:
                self._close_as(attempt, found[0])
            elif not self.wire.kept(attempt.id):
                self.close(
                    attempt.id, Fault(FaultKind.IN_DOUBT, "its runner ended before a reply came")
                )

    def find(self, question: Question) -> Answer | None:
        """Return an answer that was paid for before, or None; nothing that costs is sent.

        A task that is still to be fetched is an answer for now: `pending`, and kept nowhere.
        """
        for attempt in self._book.attempts_of(question.key):
            if attempt.ended is None or attempt.end in MODEL_OUTCOMES:
                try:
                    answer = self._of_another_name(attempt) or self._read_kept(question, attempt)
                except FollowLaterError as error:
                    return open_end(question, Outcome.PENDING, str(error))
                if answer is not None:
                    return answer
        return None

    def _read_kept(self, question: Question, attempt: Attempt) -> Answer | None:
        """Return the answer that an attempt's kept round trips hold, if they hold one.

        One that was closed keeps its books: only its entry or its picture was lost.

        Raises:
            FollowLaterError: what was bought could not be fetched now.
        """
        exchanges = self.wire.kept(attempt.id)
        if not exchanges:
            return None
        exchanges = self.wire.finish(attempt.id, exchanges, self.fault_of)
        fault = self.fault_of(exchanges[-1])
        is_answer = fault is None or fault.kind in retries.ANSWERS
        if attempt.ended is not None:
            return self._record_again(question, attempt, exchanges, fault) if is_answer else None
        if is_answer:
            return self.keep(question, attempt.id, exchanges, fault, None, attempt.ordinal)[0]
        self.close(attempt.id, fault)
        return None

    def _record_again(
        self,
        question: Question,
        attempt: Attempt,
        exchanges: Sequence[Exchange],
        fault: Fault | None,
    ) -> Answer:
        reply = self._read(exchanges, fault)
        paid = {"cost_usd": attempt.cost_usd, "price_date": attempt.price_date}
        entry = self._record(question, attempt.id, reply, None, attempt.ordinal, paid)
        return entry, list(reply.images)

    def _of_another_name(self, attempt: Attempt) -> Answer | None:
        """Return an answer that was bought under another name: a model's YAML was renamed."""
        if attempt.model == self._terms.model or attempt.ended is None:
            return None
        try:
            found = Ledger(self._ledger.root, attempt.model).find(attempt.key)
        except RecordError:  # `gensight ledger verify` names it; what was sent back may be whole
            return None
        if found is not None:
            self._ledger.take_over(*found)
        return found

    def _served_reply(self, reply: Reply) -> Reply:
        """Return a reply with what served it and what that took, where a server of the job did."""
        server, generation = self._terms.server, self._terms.generation
        if server is None:
            return reply
        told = {name: generation.get(name) for name in ("weights_revision", "server_version")}
        setup = {"weights": self._terms.api_model, **told, "server": list(server.command)}
        held = Held() if self._server is None else self._server.held()
        return replace(
            reply,
            setup=canonical_json(setup),
            peak_memory_gb=held.memory_gb,
            device=held.device,
        )

    def _here(self) -> dict[str, Any]:
        """Return where a server of this job runs, and whether it had warmed up."""
        if self._terms.server is None:
            return {}
        with self._guard:
            self._served += 1
            warm_up = self._served <= ASSUMED_WARM_UP_ANSWERS
        return {"place": place_of_this_job(), "warm_up": warm_up}

    def _read(self, exchanges: Sequence[Exchange], fault: Fault | None) -> Reply:
        if fault is None:
            return self._adapter.read(exchanges)
        return Reply(outcome=str(retries.ANSWERS[fault.kind]), detail=fault.detail)

    def _record(
        self,
        question: Question,
        attempt: int,
        reply: Reply,
        latency_s: float | None,
        ordinal: int,
        paid: dict[str, Any],
    ) -> Entry:
        return self._ledger.record(
            question.key,
            replace(reply, detail=secrets.scrub(reply.detail) if reply.detail else None),
            question.asked,
            latency_s,
            attempts=ordinal + 1,
            raw=[blob for _, blob in self._book.exchanges(attempt) if blob],
            **paid,
        )

    def _cost_usd(self, fault: Fault | None, usage: Usage | None, most: Usage) -> float:
        """Return what an answer cost: by what it says it used, else the most that it may have.

        A request that moderation refused before anything was made is free.
        """
        if fault is not None and fault.kind == FaultKind.REFUSED_INPUT:
            return 0.0
        return self._terms.price.cost_usd(most if usage is None else usage)

    def _close_as(self, attempt: Attempt, entry: Entry) -> None:
        self._book.close_attempt(
            attempt.id,
            entry.outcome,
            self._clock.time(),
            detail=entry.detail,
            cost_usd=entry.cost_usd,
            price_date=entry.price_date,
            usage=entry.usage,
        )


def open_end(question: Question, outcome: Outcome, detail: str | None) -> Answer:
    """Return how a question ended for now, which is kept nowhere."""
    return Entry(question.key, str(outcome), detail=detail), []
