"""Progress of a cell that is being bought: lines for a log, and for whoever watches."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.providers import Fault
from gensight.runner.clock import Clock, SystemClock
from gensight.runner.ledger import Entry

REFUSALS = (Outcome.REFUSED_INPUT, Outcome.REFUSED_OUTPUT)
#: The rate is that of the last so many seconds: what a reader wants to know is how it goes now.
RATE_WINDOW_S = 300.0


class Progress:
    """Counts ends of questions and says how it goes every `interval_s`; safe for many threads.

    Lines have no carriage return, so that they read the same in a terminal and in a log.
    """

    def __init__(
        self,
        cell: str,
        total: int,
        say: Callable[[str], None],
        interval_s: float = 15.0,
        clock: Clock | None = None,
    ) -> None:
        self.say = say
        self._cell, self._total, self._interval_s = cell, total, interval_s
        self._clock = clock or SystemClock()
        self._guard = threading.Lock()
        self._outcomes: Counter[str] = Counter()
        self._ends: list[float] = []
        self._cost_usd = 0.0
        self._said = self._clock.monotonic()

    def ended(self, entry: Entry) -> None:
        """Count a question that ended."""
        with self._guard:
            now = self._clock.monotonic()
            self._outcomes[entry.outcome] += 1
            self._cost_usd += entry.cost_usd or 0.0
            self._ends = [end for end in self._ends if end > now - RATE_WINDOW_S]
            self._ends.append(now)
            line = self._due_line(now)
        if line is not None:
            self.say(line)

    def held(self, fault: Fault, pause_s: float) -> None:
        """Say that the provider wants a pause, where it is long enough to be noticed."""
        if pause_s >= self._interval_s:
            self.say(f"{self._cell}: {fault.kind} ({fault.detail}), waiting {pause_s:.0f} s")

    def line(self) -> str:
        """Return done and left, rate, money, time to go, refusals and what got no answer."""
        with self._guard:
            return self._line(self._clock.monotonic())

    def _due_line(self, now: float) -> str | None:
        if now - self._said < self._interval_s:
            return None
        self._said = now
        return self._line(now)

    def _line(self, now: float) -> str:
        done = sum(self._outcomes.values())
        left = max(self._total - done, 0)
        parts = [f"{self._cell}: {done} of {self._total} asked, {left} left"]
        rate = self._per_minute(now)
        if rate is not None:
            parts.append(f"{rate:.1f} a minute")
            parts.append(f"{_duration(left / rate * 60)} to go")
        parts.append(f"{self._cost_usd:.2f} USD")
        refused = sum(self._outcomes[outcome] for outcome in REFUSALS)
        if refused:
            parts.append(f"{refused} refused")
        unresolved = sum(n for name, n in self._outcomes.items() if name not in MODEL_OUTCOMES)
        if unresolved:
            parts.append(f"{unresolved} without an answer")
        return ", ".join(parts)

    def _per_minute(self, now: float) -> float | None:
        """Return answers a minute, None before there are two to tell it from."""
        if len(self._ends) < 2 or now <= self._ends[0]:
            return None
        return (len(self._ends) - 1) / (now - self._ends[0]) * 60


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
