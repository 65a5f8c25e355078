"""Buying: what a hosted model has not answered yet is asked, many questions at a time.

First the ledger is gone through, and only what it has no answer to is asked; so an unchanged cell
opens no connection, needs no key and no money. The rows of the cell are written afterwards, from
the ledger alone and in order, so that its file does not depend on which answer came first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from gensight import doorway
from gensight.errors import BudgetError, GensightError, ModelGoneError, UnresolvedError
from gensight.outcomes import Outcome
from gensight.records import Generation
from gensight.runner.book import book_path
from gensight.runner.conversation import Conversation
from gensight.runner.crowd import work_through
from gensight.runner.ledger import Entry
from gensight.runner.progress import Progress
from gensight.runner.questions import NobodyAsks
from gensight.runner.terms import Terms, terms_of

if TYPE_CHECKING:
    from gensight.models import Turn
    from gensight.runner.desk import Desk


class Questions(Protocol):
    """What a model is to be asked; what a question is, its maker alone knows.

    `plan` holds the model's name and its `generation` block.
    """

    plan: Mapping[str, Any]

    def questions(self) -> Iterator[Any]:
        """Yield every question, answered or not."""
        ...

    def rows(self, conversation: Conversation, question: Any) -> Iterator[Generation]:
        """Yield the rows of one question; safe to be called by many threads."""
        ...

    def first_turn(self, conversation: Conversation, question: Any) -> Turn:
        """Return the first turn of a question as it is asked."""
        ...

    def turns(self, question: Any) -> int:
        """Return how many requests a question takes, if nothing goes wrong."""
        ...


def buy(shard: Questions, conversation: Conversation, config: Mapping[str, Any]) -> int:
    """Ask a hosted model what the ledger has no answer to; return how many requests were sent.

    Afterwards the conversation asks nobody: it plays from the ledger, and what got no answer ends
    as it did.

    Raises:
        BudgetError: something paid is missing, and there is no money for it.
        ParkedError: the provider takes no requests for now.
        UnresolvedError: another model answered than the one that was asked.
    """
    plan = shard.plan
    terms = terms_of(config, Path.cwd(), plan["model"], plan["generation"])
    conversation.answered_as = terms.spec.answered_as
    missing, strangers = _look_up(shard, conversation)
    if missing and _read_kept(shard, conversation, terms, missing):
        missing, strangers = _look_up(shard, conversation)
    _refuse_strangers(terms, strangers)
    if not missing:
        return 0
    if terms.is_retired(datetime.now(UTC).date()):
        known, asked = _Gone(f"retired on {terms.spec.retired.date}"), 0
    else:
        _refuse_without_money(terms, conversation, shard, missing)
        try:
            known, asked = _ask(shard, conversation, terms, missing)
        except ModelGoneError as error:
            known, asked = _Gone(str(error)), 0
    conversation.asker = NobodyAsks(known)
    return asked


def _look_up(shard: Questions, conversation: Conversation) -> tuple[list[Any], Counter[str]]:
    """Return the questions that are not answered, and the strange models that answered others."""
    missing, strangers = [], Counter[str]()
    for question in shard.questions():
        for row in shard.rows(conversation, question):
            if row.outcome == Outcome.NOT_RUN:
                missing.append(question)
            elif row.outcome == Outcome.MODEL_MISMATCH:
                strangers[str(row.answered_model)] += 1
    return missing, strangers


def _read_kept(
    shard: Questions, conversation: Conversation, terms: Terms, missing: Sequence[Any]
) -> int:
    """Read what was paid for and never became an answer; return how many answers that gave.

    Before anything that keeps a model from being asked is looked at: this asks nobody.
    """
    book = book_path(conversation.ledger.root, terms.provider)
    if not book.exists():
        return 0
    with _opening(terms).ReadsKept(conversation.ledger, terms, doorway.say) as kept:
        reading = replace(conversation, asker=kept)
        for question in missing:
            list(shard.rows(reading, question))
        return kept.found


def _refuse_strangers(terms: Terms, strangers: Mapping[str, int]) -> None:
    if strangers:
        told = ", ".join(f"{name} ({number})" for name, number in sorted(strangers.items()))
        raise UnresolvedError(
            f"{terms.model}: {terms.api_model} was asked and another model answered: {told}; if "
            f"that is what you want to measure, add its id to answered_as in "
            f"config/models/{terms.model}.yaml (the answers are kept and will be used)"
        )


def _refuse_without_money(
    terms: Terms, conversation: Conversation, shard: Questions, missing: Sequence[Any]
) -> None:
    """Refuse to ask anything paid without a budget, and say what it would cost at most."""
    if terms.budget is not None or terms.price.free:
        return
    most_usd = 0.0
    for question in missing:
        turn = shard.first_turn(conversation, question)
        most_usd += terms.price.cost_usd(terms.most(turn)) * shard.turns(question)
    raise BudgetError(
        f"{conversation.cell} needs {len(missing)} paid requests, at most {most_usd:.2f} USD at "
        f"the prices of {terms.price_date}; nothing was sent: see the whole run with gensight "
        f"plan, then add budget: {{usd: ...}} to the config"
    )


def _ask(
    shard: Questions, conversation: Conversation, terms: Terms, missing: Sequence[Any]
) -> tuple[dict[str, Entry], int]:
    turns = sum(shard.turns(question) for question in missing)
    progress = Progress(conversation.cell, turns, doorway.say)
    with _opening(terms).opened(conversation.ledger, terms, progress) as desk:
        asking = replace(conversation, asker=desk)

        def _play(question: Any) -> None:
            for row in shard.rows(asking, question):
                _stop_at_stranger(row, terms, desk)

        try:
            work_through(missing, _play, terms.spec.limits.in_flight, desk.close)
        finally:
            progress.say(progress.line())
        return desk.unresolved, desk.asked


def _opening(terms: Terms) -> ModuleType:
    """Import what opens a model: only asking needs what the SDKs bring, replaying does not."""
    try:
        from gensight.runner import opening
    except ModuleNotFoundError as error:
        raise GensightError(
            f"{terms.model}: {error.name} is not installed, and without it nothing can be asked: "
            f"pip install 'gensight[hosted]'"
        ) from None
    return opening


def _stop_at_stranger(row: Generation, terms: Terms, desk: Desk) -> None:
    """Fail closed: nothing more is paid for answers of a model that was not asked for."""
    if row.outcome == Outcome.MODEL_MISMATCH:
        try:
            _refuse_strangers(terms, {str(row.answered_model): 1})
        except UnresolvedError as error:
            desk.close(error)
            raise


class _Gone(dict[str, Entry]):
    """The end of every question to a model that its provider has taken down."""

    def __init__(self, detail: str) -> None:
        super().__init__()
        self._detail = detail

    def get(self, key: str, default: Any = None) -> Entry:
        return Entry(key, str(Outcome.MODEL_GONE), detail=self._detail)
