"""A provider at a standstill: nobody asks it while its book or its replies are put in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gensight.errors import GensightError
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
