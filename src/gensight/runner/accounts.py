"""The accounts of a run, read from the books of all providers: spent, in doubt, parked, left."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers.exchange import FaultKind
from gensight.runner.book import Attempt, Book, Stop, books
from gensight.runner.forecast import Forecast
from gensight.runner.ledger import Ledger
from gensight.specs.protocols import OWN_SERVER
from gensight.specs.run import BudgetSpec

#: What became of a request: its reply was kept and can be read, or nobody knows whether it was
#: billed.
End = Literal["kept", "in_doubt"]


@dataclass(frozen=True)
class Accounts:
    """What the books say about a run: dollars spent by model, attempts in doubt, parked providers.

    `ends` says by the id of a hosted model and by key, for all runs, what became of requests
    without an answer, and `answered` what was sent back first to those that have one, by its
    digest: under whatever name they were made, they are not made again.
    """

    spent_usd: Mapping[str, float] = field(default_factory=dict)
    in_doubt: Sequence[Attempt] = ()
    stops: Mapping[str, Sequence[Stop]] = field(default_factory=dict)
    ends: Mapping[str, Mapping[str, End]] = field(default_factory=dict)
    answered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, ledger: Path, run: str) -> Accounts:
        """Read the books of all providers; none are written.

        Raises:
            RecordError: a book is damaged or of another version.
        """
        spent: dict[str, float] = {}
        doubts: list[Attempt] = []
        stops: dict[str, list[Stop]] = {}
        ends: dict[str, dict[str, End]] = {}
        answered: dict[str, dict[str, str]] = {}
        for provider, path in books(ledger).items():
            book = Book(path, read_only=True)
            try:
                for model, usd in book.spent_usd(run).items():
                    spent[model] = spent.get(model, 0.0) + usd
                for attempt in _doubtful(book, ledger):
                    kept = attempt.ended is None and _has_reply(book, attempt)
                    end: End = "kept" if kept else "in_doubt"
                    # What may have been done by a server of one's own costs nothing to ask again.
                    if kept or provider != OWN_SERVER:
                        ends.setdefault(attempt.api_model, {})[attempt.key] = end
                    if attempt.run == run and not kept:
                        doubts.append(attempt)
                for api_model, key, blob in book.answered_keys():
                    answered.setdefault(api_model, {})[key] = blob
                now = time.time()
                stops[provider] = [s for s in book.stops() if s.until is None or s.until > now]
            finally:
                book.close()
        return cls(spent, doubts, {k: v for k, v in stops.items() if v}, ends, answered)

    @property
    def gone(self) -> Mapping[tuple[str, str], date]:
        """Return since when a provider says that it has a model no more, by provider and id."""
        return {
            (provider, stop.scope.removeprefix("model:")): _day(stop.since)
            for provider, stops in self.stops.items()
            for stop in stops
            if stop.kind == FaultKind.GONE
        }

    def asked_no_more(self, *, resends: bool) -> Mapping[str, Mapping[str, End]]:
        """Return the ends that a run respects: it may be told to ask again what is in doubt."""
        if not resends:
            return self.ends
        return {
            model: {key: end for key, end in ends.items() if end == "kept"}
            for model, ends in self.ends.items()
        }


def _day(moment_s: float) -> date:
    return datetime.fromtimestamp(moment_s, UTC).date()


def _doubtful(book: Book, ledger: Path) -> list[Attempt]:
    """Return the attempts of which nobody knows, if their key has no answer: the last of a key."""
    query = "key IN (SELECT key FROM attempts WHERE ended IS NULL OR end = 'in_doubt')"
    last: dict[str, Attempt] = {}
    answered: set[str] = set()
    for attempt in book.attempts(query):
        if attempt.end in (None, FaultKind.IN_DOUBT):
            last[attempt.key] = attempt
        elif attempt.end in MODEL_OUTCOMES:
            answered.add(attempt.key)
    return [
        attempt
        for key, attempt in last.items()
        if key not in answered and not Ledger(ledger, attempt.model).entry_path(key).exists()
    ]


def _has_reply(book: Book, attempt: Attempt) -> bool:
    return any(blob is not None for _, blob in book.exchanges(attempt.id))


@dataclass(frozen=True)
class Balance:
    """What a run may still spend, and what it would take; None where there is no budget."""

    needed_usd: float
    spent_usd: float
    left_usd: float | None
    #: Models whose own limit is too low, with the dollars that it should be.
    short: Mapping[str, int]

    @classmethod
    def of(cls, forecast: Forecast, accounts: Accounts, budget: BudgetSpec | None) -> Balance:
        """Compare a forecast with a budget."""
        spent = math.fsum(accounts.spent_usd.values())
        by_model: dict[str, float] = {}
        for row in forecast.rows:
            by_model[row.cell.model] = by_model.get(row.cell.model, 0.0) + (row.usd or 0.0)
        caps = budget.models if budget else {}
        ends = {name: by_model.get(name, 0.0) + accounts.spent_usd.get(name, 0.0) for name in caps}
        return cls(
            needed_usd=math.fsum(by_model.values()),
            spent_usd=spent,
            left_usd=max(budget.usd - spent, 0.0) if budget else None,
            short={name: math.ceil(ends[name]) for name in caps if ends[name] > caps[name]},
        )

    @property
    def is_enough(self) -> bool | None:
        """Whether the budget is enough for all that is to be asked; None without a budget."""
        if self.left_usd is None:
            return None
        return self.needed_usd <= self.left_usd and not self.short

    @property
    def whole_usd(self) -> int:
        """Return the budget that a run needs, spent money included, in whole dollars."""
        return math.ceil(self.spent_usd + self.needed_usd)
