"""Time as the runner sees it; tests bring their own."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A clock that can also wait."""

    def time(self) -> float:
        """Return seconds since 1970: what is kept from one process to the next."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back: how long something took."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's clock."""

    def time(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; not at all for a time that has passed."""
        if seconds > 0:
            time.sleep(seconds)
