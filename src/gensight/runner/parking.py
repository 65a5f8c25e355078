"""Providers that take no requests for now: what a job and a whole workflow say, and exit with."""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from gensight.errors import GensightError, ModelGoneError, ParkedError
from gensight.providers.exchange import FaultKind
from gensight.runner.book import Book, Stop, books
from gensight.runner.terms import Terms

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
    return (
        f"{provider} takes no requests {_until(stop)} ({stop.kind}: {stop.detail}); run the same "
        f"command again then, or lift it with: gensight ledger lift {provider}"
    )


def _until(stop: Stop) -> str:
    if stop.until is None:
        return "until it is lifted"
    return f"until {moment(stop.until)}"


def parked(terms: Terms, stop: Stop) -> GensightError:
    """Return the error of a job whose provider, or model, takes no requests for now."""
    if stop.kind == FaultKind.GONE:
        since = datetime.fromtimestamp(stop.since, UTC)
        return ModelGoneError(f"gone since {since:%Y-%m-%d}: {stop.detail}")
    who = terms.provider if stop.scope == "provider" else terms.api_model
    if stop.kind == FaultKind.AUTH:
        return GensightError(
            f"{who} does not accept the key, or not for this ({stop.detail}): nothing more is "
            f"sent; correct the key and run the same again"
        )
    return ParkedError(
        f"{who} takes no requests for now ({stop.kind}: {stop.detail}), nothing is sent "
        f"{_until(stop)}; run the same again later, or lift it with: gensight ledger lift "
        f"{terms.provider}"
    )


def told_stop(provider: str, stop: Stop) -> str:
    """Return a stop in words, one that is over too."""
    who = provider if stop.scope == "provider" else stop.scope.removeprefix("model:")
    if stop.until is None:
        until = "until that is lifted"
    elif stop.until <= time.time():
        return f"{who} was parked until {moment(stop.until)} ({stop.kind}: {stop.detail})"
    else:
        until = f"until {moment(stop.until)}"
    return (
        f"{who} takes no requests {until} ({stop.kind}: {stop.detail}); lift it with: gensight "
        f"ledger lift {provider}"
    )


def moment(seconds: float) -> str:
    """Return a time as people read it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
