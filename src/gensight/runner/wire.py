"""The wire: one attempt's round trips, each kept on disk before anything reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gensight.errors import GensightError, RecordError
from gensight.models import HostedAdapter, Turn
from gensight.providers import Exchange, Fault, secrets, transport
from gensight.runner.book import Book
from gensight.runner.clock import Clock
from gensight.runner.ledger import Ledger

FaultOf = Callable[[Exchange], Fault | None]


class FollowLaterError(Exception):
    """A task is under way at the provider, and what it made could not be fetched now."""


class NothingSentError(Exception):
    """The adapter failed before anything left the machine; its error is the cause."""


class NotKeptError(GensightError):
    """A reply came and could not be kept: its request stays in doubt."""


class Wire:
    """Sends turns through an adapter, and keeps what comes back."""

    def __init__(self, ledger: Ledger, book: Book, adapter: HostedAdapter, clock: Clock) -> None:
        self._ledger, self._book, self._adapter, self._clock = ledger, book, adapter, clock

    def send(self, turn: Turn, attempt: int, fault_of: FaultOf) -> list[Exchange]:
        """Send a turn once, and follow what its reply promises; return the kept round trips.

        Raises:
            NothingSentError: the adapter failed before it sent anything.
            FollowLaterError: the request was accepted, and its result could not be fetched.
            NotKeptError: what came back could not be kept.
        """
        trip = _Trip(self._ledger, self._book, self._adapter, self._clock, attempt, [])
        with trip.recorded():
            try:
                self._adapter.send(turn)
                if not trip.is_begun:
                    raise AssertionError("the adapter sent nothing through the recording client")
            except Exception as error:
                if not trip.is_begun:
                    raise NothingSentError from error
                raise
            # An adapter drops what its SDK makes of a reply, and with it what went wrong in here.
            trip.check()
            if fault_of(trip.exchanges[-1]) is None:
                self._follow(trip.exchanges)
        return trip.exchanges

    def finish(self, attempt: int, exchanges: list[Exchange], fault_of: FaultOf) -> list[Exchange]:
        """Follow what the kept round trips of an earlier attempt promise; errors as `send`."""
        trip = _Trip(self._ledger, self._book, self._adapter, self._clock, attempt, exchanges)
        with trip.recorded():
            if fault_of(exchanges[-1]) is None:
                self._follow(exchanges)
        return exchanges

    def kept(self, attempt: int) -> list[Exchange]:
        """Return the kept round trips of an attempt with their bodies, up to one that is lost.

        What came of a task is fetched again by what its purchase was answered with.
        """
        found: list[Exchange] = []
        for exchange, blob in self._book.exchanges(attempt):
            path = None if blob is None else self._ledger.blob_path(blob)
            if path is not None and not path.exists():
                return found
            found.append(replace(exchange, body=None if path is None else path.read_bytes()))
        return found

    def _follow(self, exchanges: Sequence[Exchange]) -> None:
        import httpx2

        try:
            self._adapter.follow(exchanges)
        except httpx2.RequestError as error:
            raise FollowLaterError(type(error).__name__) from None


class _Trip:
    """The round trips of one attempt, while they are made."""

    def __init__(
        self,
        ledger: Ledger,
        book: Book,
        adapter: HostedAdapter,
        clock: Clock,
        attempt: int,
        exchanges: list[Exchange],
    ) -> None:
        self.exchanges, self.is_begun = exchanges, False
        self._ledger, self._book, self._adapter, self._clock = ledger, book, adapter, clock
        self._attempt = attempt
        self._error: Exception | None = None

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Keep the round trips of a block; what could not be kept is raised at its end."""
        try:
            with transport.recording(self._record):
                yield
        finally:
            self.check()

    def check(self) -> None:
        """Raise what went wrong while keeping, whatever else went wrong because of it."""
        if isinstance(self._error, (OSError, RecordError)):
            raise NotKeptError(
                f"a reply could not be kept ({self._error}); its request may have been billed and "
                f"is in doubt; make room on the disk of the ledger and run the same again"
            ) from self._error
        if self._error is not None:
            raise self._error

    def _record(self, exchange: Exchange) -> None:
        self.is_begun = True
        try:
            self._keep(exchange)
        except Exception as error:
            self._error = self._error or error
            raise

    def _keep(self, exchange: Exchange) -> None:
        # A result that could not be fetched is fetched later: only what was sent first is kept
        # without a reply.
        if not self._adapter.keeps(exchange) or (exchange.body is None and self.exchanges):
            return
        # What is read now is what is kept, as it is after a crash.
        seen = _without_keys(exchange)
        blob = None if seen.body is None else self._ledger.keep(seen.body)
        now = self._clock.time()
        self._book.keep_exchange(self._attempt, len(self.exchanges), seen, blob, now)
        self.exchanges.append(seen)


def _without_keys(exchange: Exchange) -> Exchange:
    headers = {name: secrets.scrub(value) for name, value in exchange.headers.items()}
    body = None if exchange.body is None else secrets.scrub_bytes(exchange.body)
    return replace(exchange, url=secrets.scrub(exchange.url), headers=headers, body=body)
