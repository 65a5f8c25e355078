"""A provider at a standstill: nobody asks it while its book or its replies are put in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gensight.errors import GensightError
from gensight.runner.book import Book, Stop, book_path
from gensight.runner.turnstile import admitted, lock_path


class AtWorkError(GensightError):
    """A runner of the provider is alive."""


@contextmanager
def at_standstill(ledger: Path, provider: str) -> Iterator[None]:
    """Keep runners of a provider out for a while, without waiting for one that is at work.

    Raises:
        AtWorkError: a runner is at work.
    """

    def _refuse(_told: str) -> None:
        raise AtWorkError(
            f"{lock_path(ledger, provider)}: a runner of {provider} is at work; wait until it has "
            f"ended"
        )

    with admitted(ledger, provider, _refuse):
        yield


def lift_stops(ledger: Path, provider: str) -> list[Stop]:
    """Remove what keeps a provider and its models from being asked; return the stops.

    When requests left is forgotten too: a clock may have gone ahead. A provider without a book has
    no stops, and gets no book.

    Raises:
        AtWorkError: a runner is at work: it would write the stop again.
        RecordError: the book is damaged, of another version, or cannot be written.
    """
    path = book_path(ledger, provider)
    if not path.exists():
        return []
    with at_standstill(ledger, provider), closing(Book(path)) as book:
        stops = book.stops()
        for stop in stops:
            book.lift(stop.scope)
        book.forget_pace()
    return stops
