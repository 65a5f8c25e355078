"""What a ledger holds: replies, money and requests in doubt by model and benchmark, and stops.

Nothing here opens a picture or a raw reply: entries, books and sizes of files are enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gensight.errors import RecordError
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.runner.book import Attempt, Book, Stop, books
from gensight.runner.entries import (
    AdoptedAnswers,
    adopted_keys,
    adopted_paths,
    entry_paths,
    models_of,
    read_entry,
    reading,
)
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

    @property
    def most_usd(self) -> float:
        """Return the most that it may have cost."""
        return _most_usd(self.attempt)


@dataclass
class CellHolding:
    """What is kept of a model and a benchmark; None where nothing says which benchmark it was.

    A reply does not name its benchmark (two may ask the same): books and adopted files do.
    `adopted` of the replies lie in adopted files alone. Dollars in doubt are also among those that
    are spent or reserved; those of `imported_usd` were spent in another ledger.
    """

    model: str
    benchmark: str | None
    replies: int = 0
    adopted: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    in_doubt: int = 0
    in_doubt_usd: float = 0.0
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    imported_usd: float = 0.0

    def count(self, outcome: str) -> None:
        """Count a reply."""
        self.replies += 1
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1


@dataclass
class ModelHolding:
    """The files of a model: its entries, its own blobs, each counted once, and adopted files."""

    model: str
    replies: int = 0
    unreadable: int = 0
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

    cells: list[CellHolding]
    models: list[ModelHolding]
    providers: list[ProviderHolding]
    open_requests: list[OpenRequest]


def take_inventory(ledger: Path) -> Inventory:
    """Count what a ledger holds; an empty inventory where there is none.

    Raises:
        RecordError: a book or an adopted file cannot be read.
    """
    counting = _Counting(ledger)
    for provider, path in books(ledger).items():
        counting.count_book(provider, path)
    models = [counting.count_replies(model) for model in models_of(ledger)]
    cells = sorted(counting.cells.values(), key=lambda cell: (cell.model, cell.benchmark or ""))
    counting.open_requests.sort(key=lambda request: request.attempt.started)
    return Inventory(cells, models, counting.providers, counting.open_requests)


class _Counting:
    """Books first: they say of which benchmark a key is."""

    def __init__(self, ledger: Path) -> None:
        self.cells: dict[tuple[str, str | None], CellHolding] = {}
        self.providers: list[ProviderHolding] = []
        self.open_requests: list[OpenRequest] = []
        self._ledger = ledger
        self._benchmarks: dict[tuple[str, str], str] = {}

    def count_book(self, provider: str, path: Path) -> None:
        with reading(path) as book:
            attempts = book.attempts()
            pending = open_requests(self._ledger, provider, book)
            self.providers.append(
                ProviderHolding(
                    provider=provider,
                    alive=is_running(self._ledger, provider),
                    attempts=len(attempts),
                    open_attempts=sum(attempt.ended is None for attempt in attempts),
                    stops=book.stops(),
                )
            )
        self.open_requests += pending
        for attempt in attempts:
            self._benchmarks[attempt.model, attempt.key] = attempt.benchmark
            _count_money(self._cell(attempt.model, attempt.benchmark), attempt)
        for request in pending:
            if request.state == IN_DOUBT and not request.answered:
                cell = self._cell(request.attempt.model, request.attempt.benchmark)
                cell.in_doubt += 1
                cell.in_doubt_usd += request.most_usd

    def count_replies(self, model: str) -> ModelHolding:
        paths = adopted_paths(self._ledger, model)
        files = [AdoptedAnswers.of(path) for path in paths]
        for file in files:
            for key in file.outcomes if file.benchmark else ():
                self._benchmarks.setdefault((model, key), str(file.benchmark))
        holding = ModelHolding(model, adopted_files=len(paths))
        holding.adopted_bytes = sum(path.stat().st_size for path in paths)
        answered = self._count_entries(holding)
        for file in files:
            for key in file.outcomes.keys() - answered:
                cell = self._cell(model, self._benchmarks.get((model, key)))
                cell.count(file.outcomes[key])
                cell.adopted += 1
            answered |= file.outcomes.keys()
        return holding

    def _count_entries(self, holding: ModelHolding) -> set[str]:
        """Count the entries of a model; return the keys that they answer."""
        model, blobs, answered = holding.model, set[str](), set[str]()
        for path in entry_paths(self._ledger, model):
            try:
                entry = read_entry(path)
            except RecordError:
                holding.unreadable += 1
                continue
            holding.replies += 1
            self._cell(model, self._benchmarks.get((model, entry.key))).count(entry.outcome)
            blobs.update(entry.images, entry.raw)
            if entry.outcome in MODEL_OUTCOMES:
                answered.add(entry.key)
        holding.blob_bytes = _size(Ledger(self._ledger, model), blobs)
        return answered

    def _cell(self, model: str, benchmark: str | None) -> CellHolding:
        """Return a cell, which may have attempts and no reply yet."""
        return self.cells.setdefault((model, benchmark), CellHolding(model, benchmark))


def _count_money(cell: CellHolding, attempt: Attempt) -> None:
    if attempt.run.startswith(IMPORTED):
        cell.imported_usd += _most_usd(attempt)
    elif attempt.ended is None:
        cell.reserved_usd += attempt.reserved_usd
    else:
        cell.spent_usd += _most_usd(attempt)


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


def _size(ledger: Ledger, digests: Iterable[str]) -> int:
    size = 0
    for digest in digests:
        try:
            size += ledger.blob_path(digest).stat().st_size
        except FileNotFoundError:  # pruned
            continue
    return size


def _most_usd(attempt: Attempt) -> float:
    return attempt.reserved_usd if attempt.cost_usd is None else attempt.cost_usd
