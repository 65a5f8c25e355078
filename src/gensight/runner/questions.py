"""What a conversation asks, and who answers: the seam between turns and the way they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gensight.models import Turn
from gensight.outcomes import Outcome
from gensight.runner.ledger import Entry

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
