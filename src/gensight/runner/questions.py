"""What a conversation asks, and who answers: the seam between turns and the way they are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gensight.models import Adapter, Turn
from gensight.outcomes import Outcome
from gensight.runner.clock import Clock, SystemClock
from gensight.runner.ledger import Entry, Ledger

#: The first answers of an opened model take longer, and their times are left out (assumed: ProbeGen
#: Appendix B warms up and does not say how long).
ASSUMED_WARM_UP_ANSWERS = 3

Answer = tuple[Entry, list[bytes]]


@dataclass(frozen=True)
class Question:
    """One turn that a model is asked.

    `asked` is all that the answer may depend on, `key` its digest.
    """

    key: str
    asked: Mapping[str, Any]
    turn: Turn
    benchmark: str
    prompt: str
    sample_id: str


class Asker(Protocol):
    """Who sends a question that the ledger has no reply to."""

    def ask(self, question: Question) -> Answer:
        """Return the reply with its pictures; an outcome that is not final is not in the ledger."""
        ...


class HereAsker:
    """Asks a model that runs in this process, opened at the first question.

    Weights load when there is something to ask, and not before.
    """

    def __init__(
        self, ledger: Ledger, open_adapter: Callable[[], Adapter], clock: Clock | None = None
    ) -> None:
        self._ledger, self._open_adapter = ledger, open_adapter
        self._clock = clock or SystemClock()
        self._adapter: Adapter | None = None
        self.asked = 0

    def ask(self, question: Question) -> Answer:
        """Ask, unless another process has asked meanwhile."""
        with self._ledger.claim(question.key):
            return self._ledger.find(question.key) or self._send(question)

    def _send(self, question: Question) -> Answer:
        # Opened before the clock starts: loading weights is no part of an answer's time.
        if self._adapter is None:
            self._adapter = self._open_adapter()
        started = self._clock.monotonic()
        reply = self._adapter.answer(question.turn)
        latency_s = self._clock.monotonic() - started
        warm_up = self.asked < ASSUMED_WARM_UP_ANSWERS
        self.asked += 1
        entry = self._ledger.record(question.key, reply, question.asked, latency_s, warm_up=warm_up)
        return entry, list(reply.images)


class NobodyAsks:
    """Leaves every question open, and counts them: for what is asked later, or not at all.

    `known` are the ends, by key, of questions that were asked and have no final answer.
    """

    def __init__(self, known: Mapping[str, Entry] | None = None) -> None:
        # An empty mapping may know the end of every question: that of a model which is gone.
        self._known = {} if known is None else known
        self.asked = 0

    def ask(self, question: Question) -> Answer:
        """Return how the question ended for now; `not_run` where it was not asked."""
        self.asked += 1
        found = self._known.get(question.key)
        return found or Entry(question.key, str(Outcome.NOT_RUN)), []
