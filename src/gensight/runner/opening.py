"""Opening a hosted model: the provider's lock, its key, the book, the SDK, and desk or clerk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gensight import models
from gensight.errors import SpecError
from gensight.outcomes import Outcome
from gensight.providers import Connection, secrets, transport
from gensight.providers.keys import find_key
from gensight.runner.book import Book, book_path
from gensight.runner.clerk import Clerk, open_end
from gensight.runner.clock import Clock, SystemClock
from gensight.runner.desk import Desk
from gensight.runner.ledger import Ledger
from gensight.runner.parking import parked
from gensight.runner.progress import Progress
from gensight.runner.questions import Answer, Question
from gensight.runner.served import server_of
from gensight.runner.terms import Terms
from gensight.runner.turnstile import admitted


@contextmanager
def opened(
    ledger: Ledger, terms: Terms, progress: Progress, clock: Clock | None = None
) -> Iterator[Desk]:
    """Open the desk of a model; waits, and says so, while another runner asks the same provider.

    Raises:
        ParkedError: the provider or the model takes no requests for now.
        GensightError: there is no key, or the adapter's SDK is not installed.
    """
    key = find_key(terms.provider, terms.keys_file, terms.root)
    secrets.register(key)
    clock = clock or SystemClock()
    with ExitStack() as stack:
        books, base_url, server = ledger.root, terms.base_url, None
        if terms.server is not None:
            # Nothing outlives a server that ends with its job, and no other job's is waited for.
            books = Path(stack.enter_context(TemporaryDirectory(prefix="gensight-")))
            starting = server_of(terms.server, terms.site, terms.model, terms.api_model)
            server = stack.enter_context(starting)
            base_url = server.base_url
        stack.enter_context(admitted(books, terms.provider, progress.say))
        book = Book(book_path(books, terms.provider))
        stack.callback(book.close)
        _refuse_parked(book, terms, clock.time())
        client = transport.open_client(terms.hosted.read_timeout_s)
        stack.callback(client.close)
        connection = Connection(key, base_url, client)
        adapter = models.load(terms.spec.adapter).connect(terms.generation, connection)
        yield Desk(ledger, terms, book, adapter, progress, clock, server)


class ReadsKept:
    """Answers questions out of what was paid for before; sends nothing that costs.

    Opened at the first question that may have an answer: nothing else needs the provider's lock and
    SDK. Money is not looked at, nor whether the provider takes requests; without a key, what is
    still to be fetched stays where it is.
    """

    def __init__(self, ledger: Ledger, terms: Terms, say: Callable[[str], None]) -> None:
        self._ledger, self._terms, self._say = ledger, terms, say
        self._stack = ExitStack()
        self._clerk: Clerk | None = None
        path = book_path(ledger.root, terms.provider)
        self._book = self._closing(Book(path, read_only=True)) if path.exists() else None
        self.found = 0

    def __enter__(self) -> ReadsKept:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._stack.close()

    def ask(self, question: Question) -> Answer:
        """Return the answer that was paid for, or `not_run`."""
        if self._book is not None and self._book.may_have_answer(question.key):
            self._clerk = self._clerk or self._opened()
            answer = self._clerk.find(question)
            if answer is not None:
                self.found += 1
                return answer
        return open_end(question, Outcome.NOT_RUN, None)

    def _opened(self) -> Clerk:
        terms, ledger = self._terms, self._ledger
        self._stack.enter_context(admitted(ledger.root, terms.provider, self._say))
        book = self._closing(Book(book_path(ledger.root, terms.provider)))
        try:
            key = find_key(terms.provider, terms.keys_file, terms.root)
            client = transport.open_client(terms.hosted.read_timeout_s)
        except SpecError:  # what is told of it is told where a key is needed
            key, client = "none", transport.cut_off_client()
        self._stack.callback(client.close)
        connection = Connection(key, terms.base_url, client)
        adapter = models.load(terms.spec.adapter).connect(terms.generation, connection)
        return Clerk(ledger, terms, book, adapter, SystemClock())

    def _closing(self, book: Book) -> Book:
        self._stack.callback(book.close)
        return book


def _refuse_parked(book: Book, terms: Terms, now: float) -> None:
    """Refuse to send while a stop holds; lift one whose time is over."""
    for stop in book.stops():
        if stop.scope not in ("provider", f"model:{terms.api_model}"):
            continue
        if stop.until is not None and now >= stop.until:
            book.lift(stop.scope)
        else:
            raise parked(terms, stop)
