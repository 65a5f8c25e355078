"""The wire: one attempt's round trips, each kept on disk before anything reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gensight.models import HostedAdapter, Turn
from gensight.providers import Exchange, Fault, secrets, transport
from gensight.runner.book import Book
from gensight.runner.clock import Clock
from gensight.runner.ledger import Ledger

FaultOf = Callable[[Exchange], Fault | None]


class FollowLaterError(Exception):
    """A task is under way at the provider, and what it made could not be fetched now."""


class Wire:
    """Sends turns through an adapter, and keeps what comes back."""

    def __init__(self, ledger: Ledger, book: Book, adapter: HostedAdapter, clock: Clock) -> None:
        self._ledger, self._book, self._adapter, self._clock = ledger, book, adapter, clock

    def send(self, turn: Turn, attempt: int, fault_of: FaultOf) -> list[Exchange]:
        """Send a turn once, and follow what its reply promises; return the kept round trips.

        Raises:
            FollowLaterError: the request was accepted, and its result could not be fetched.
        """
        exchanges: list[Exchange] = []
        with transport.recording(self._keeper(attempt, exchanges)):
            self._adapter.send(turn)
            if not exchanges:
                raise AssertionError("the adapter sent nothing through the recording client")
            if fault_of(exchanges[-1]) is None:
                self._follow(exchanges)
        return exchanges

    def finish(self, attempt: int, exchanges: list[Exchange], fault_of: FaultOf) -> list[Exchange]:
        """Follow what the kept round trips of an earlier attempt promise; errors as `send`."""
        with transport.recording(self._keeper(attempt, exchanges)):
            if fault_of(exchanges[-1]) is None:
                self._follow(exchanges)
        return exchanges

    def kept(self, attempt: int) -> list[Exchange]:
        """Return the kept round trips of an attempt with their bodies; none if one is lost."""
        found = []
        for exchange, blob in self._book.exchanges(attempt):
            path = None if blob is None else self._ledger.blob_path(blob)
            if path is not None and not path.exists():
                return []
            found.append(replace(exchange, body=None if path is None else path.read_bytes()))
        return found

    def _follow(self, exchanges: Sequence[Exchange]) -> None:
        import httpx2

        try:
            self._adapter.follow(exchanges)
        except httpx2.RequestError as error:
            raise FollowLaterError(type(error).__name__) from None

    def _keeper(self, attempt: int, exchanges: list[Exchange]) -> Callable[[Exchange], None]:
        def _keep(exchange: Exchange) -> None:
            # A result that could not be fetched is fetched later: only what was sent first is kept
            # without a reply.
            if self._adapter.keeps(exchange) and (exchange.body is not None or not exchanges):
                body = None if exchange.body is None else secrets.scrub_bytes(exchange.body)
                blob = None if body is None else self._ledger.keep(body)
                now = self._clock.time()
                self._book.keep_exchange(attempt, len(exchanges), exchange, blob, now)
                exchanges.append(exchange)

        return _keep
