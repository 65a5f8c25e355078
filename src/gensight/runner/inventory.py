"""What a ledger holds: replies, money and requests in doubt by model, stops by provider.

Nothing here opens a picture or a raw reply: entries, books and sizes of files are enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from gensight.errors import RecordError
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.runner.book import Attempt, Book, Stop, books
from gensight.runner.entries import adopted_keys, adopted_paths, entry_paths, models_of, read_entry
from gensight.runner.ledger import Ledger
from gensight.runner.turnstile import is_running

#: Before the run of an attempt that came from another ledger: its money was spent elsewhere.
IMPORTED = "imported:"
#: An attempt whose runner is alive; one whose reply is kept, and is read by the next run; one that
#: may have been done and billed, and whose reply was lost.
UNDER_WAY, UNREAD, IN_DOUBT = "under_way", "unread", "in_doubt"


@dataclass(frozen=True)
class OpenRequest:
    """A request that was sent, and whose reply was not read: see `UNDER_WAY` and its neighbours.

    `answered` says that the ledger has an answer to the same key: it was sent again since.
    """

    provider: str
    attempt: Attempt
    state: str
    answered: bool


@dataclass
class ModelHolding:
    """What is kept of a model. Bytes are of its own blobs, each counted once."""

    model: str
    replies: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    unreadable: int = 0
    in_doubt: int = 0
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    imported_usd: float = 0.0
    blob_bytes: int = 0
    adopted_files: int = 0
    adopted_bytes: int = 0


@dataclass(frozen=True)
class ProviderHolding:
    """The state of a provider's book; `alive` says whether a runner is at work now."""

    provider: str
    alive: bool
    attempts: int
    open_attempts: int
    stops: list[Stop]


@dataclass(frozen=True)
class Inventory:
    """All that a ledger holds; `open_requests` are in the order in which they were sent."""

    models: list[ModelHolding]
    providers: list[ProviderHolding]
    open_requests: list[OpenRequest]


def take_inventory(ledger: Path) -> Inventory:
    """Count what a ledger holds; an empty inventory where there is none.

    Raises:
        RecordError: a book or an adopted file cannot be read.
    """
    holdings = {model: _holding(ledger, model) for model in models_of(ledger)}
    providers, requests = [], []
    for provider, path in books(ledger).items():
        with closing(Book(path, read_only=True)) as book:
            attempts = book.attempts()
            pending = open_requests(ledger, provider, book)
            providers.append(
                ProviderHolding(
                    provider=provider,
                    alive=is_running(ledger, provider),
                    attempts=len(attempts),
                    open_attempts=sum(attempt.ended is None for attempt in attempts),
                    stops=book.stops(),
                )
            )
        for attempt in attempts:
            _count_money(_of(holdings, attempt.model), attempt)
        for request in pending:
            doubted = request.state == IN_DOUBT and not request.answered
            _of(holdings, request.attempt.model).in_doubt += doubted
        requests += pending
    requests.sort(key=lambda request: request.attempt.started)
    return Inventory([holdings[model] for model in sorted(holdings)], providers, requests)


def _of(holdings: dict[str, ModelHolding], model: str) -> ModelHolding:
    """Return the holding of a model, which may have attempts and no reply yet."""
    return holdings.setdefault(model, ModelHolding(model))


def open_requests(ledger: Path, provider: str, book: Book) -> list[OpenRequest]:
    """Return the requests of a provider that were sent, and whose replies were not read."""
    # Looked at first: an attempt that its runner closes meanwhile is not there any more.
    alive = is_running(ledger, provider)
    found = book.attempts("ended IS NULL OR end = ?", (str(Outcome.IN_DOUBT),))
    answers = _Answers(ledger)
    return [
        OpenRequest(provider, attempt, _state(book, attempt, alive), answers.has(attempt))
        for attempt in found
    ]


def _state(book: Book, attempt: Attempt, alive: bool) -> str:
    if attempt.ended is not None:
        return IN_DOUBT
    if alive:
        return UNDER_WAY
    kept = any(exchange.status and blob for exchange, blob in book.exchanges(attempt.id))
    return UNREAD if kept else IN_DOUBT


class _Answers:
    """Whether a ledger has an answer to the key of an attempt."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._adopted: dict[str, set[str]] = {}

    def has(self, attempt: Attempt) -> bool:
        path = Ledger(self._ledger, attempt.model).entry_path(attempt.key)
        try:
            if path.exists() and read_entry(path).outcome in MODEL_OUTCOMES:
                return True
        except RecordError:  # `verify` names it
            pass
        if attempt.model not in self._adopted:
            paths = adopted_paths(self._ledger, attempt.model)
            self._adopted[attempt.model] = adopted_keys(paths)
        return attempt.key in self._adopted[attempt.model]


def _holding(ledger: Path, model: str) -> ModelHolding:
    outcomes: Counter[str] = Counter()
    blobs: set[str] = set()
    holding = ModelHolding(model)
    for path in entry_paths(ledger, model):
        try:
            entry = read_entry(path)
        except RecordError:
            holding.unreadable += 1
            continue
        outcomes[entry.outcome] += 1
        blobs.update(entry.images, entry.raw)
    adopted = adopted_paths(ledger, model)
    holding.replies, holding.outcomes = sum(outcomes.values()), dict(sorted(outcomes.items()))
    holding.blob_bytes = sum(_sizes(Ledger(ledger, model), blobs))
    holding.adopted_files = len(adopted)
    holding.adopted_bytes = sum(path.stat().st_size for path in adopted)
    return holding


def _sizes(ledger: Ledger, digests: set[str]) -> Iterator[int]:
    for digest in digests:
        try:
            yield ledger.blob_path(digest).stat().st_size
        except FileNotFoundError:  # pruned
            continue


def _count_money(holding: ModelHolding, attempt: Attempt) -> None:
    if attempt.ended is None:
        holding.reserved_usd += attempt.reserved_usd
    elif attempt.run.startswith(IMPORTED):
        holding.imported_usd += attempt.cost_usd or 0.0
    else:
        holding.spent_usd += attempt.cost_usd or 0.0
