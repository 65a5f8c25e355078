"""Providers that take no requests for now: what a workflow says at its end, and its exit code."""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from gensight.errors import ParkedError
from gensight.providers.exchange import FaultKind
from gensight.runner.book import Book, Stop, books

#: The exit code of a workflow that a later run of the same command completes.
EXIT_CODE = ParkedError.exit_code


def parked_lines(ledger: Path, providers: Collection[str]) -> list[str]:
    """Return a line for each of these providers, or models of theirs, that is parked now.

    A model that is gone is not parked: a later run finds it gone again.

    Raises:
        RecordError: a book is damaged or of another version.
    """
    lines = []
    for provider, path in books(ledger).items():
        if provider not in providers:
            continue
        book = Book(path, read_only=True)
        try:
            lines += [_line(provider, stop) for stop in book.stops() if _holds(stop)]
        finally:
            book.close()
    return lines


def _holds(stop: Stop) -> bool:
    return stop.kind != FaultKind.GONE and (stop.until is None or stop.until > time.time())


def _line(provider: str, stop: Stop) -> str:
    until = "until it is lifted"
    if stop.until is not None:
        until = f"until {datetime.fromtimestamp(stop.until, UTC):%Y-%m-%d %H:%M} UTC"
    return (
        f"{provider} takes no requests {until} ({stop.kind}: {stop.detail}); run the same command "
        f"again then, or lift it with: gensight ledger lift {provider}"
    )
