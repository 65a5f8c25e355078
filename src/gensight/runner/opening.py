"""Opening a hosted model: the provider's lock, its key, the book, the SDK, and the desk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from gensight import models
from gensight.providers import Connection, secrets, transport
from gensight.providers.keys import find_key
from gensight.runner.book import Book, book_path
from gensight.runner.clock import Clock, SystemClock
from gensight.runner.desk import Desk
from gensight.runner.ledger import Ledger
from gensight.runner.parking import parked
from gensight.runner.progress import Progress
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
        stack.enter_context(admitted(ledger.root, terms.provider, progress.say))
        book = Book(book_path(ledger.root, terms.provider))
        stack.callback(book.close)
        _refuse_parked(book, terms, clock.time())
        client = transport.open_client(terms.hosted.read_timeout_s)
        stack.callback(client.close)
        connection = Connection(key, terms.base_url, client)
        adapter = models.load(terms.spec.adapter).connect(terms.generation, connection)
        yield Desk(ledger, terms, book, adapter, progress, clock)


def _refuse_parked(book: Book, terms: Terms, now: float) -> None:
    """Refuse to send while a stop holds; lift one whose time is over."""
    for stop in book.stops():
        if stop.scope not in ("provider", f"model:{terms.api_model}"):
            continue
        if stop.until is not None and now >= stop.until:
            book.lift(stop.scope)
        else:
            raise parked(terms, stop)
