"""The purse of a run: what it may spend, over all providers, jobs and invocations.

Money is reserved at the most that a request may cost, before the request leaves, and settled by
what its reply says that it used. Two providers' runners may reserve at the same time, so every
reservation holds one lock of the ledger while it adds up all books.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gensight.runner.book import Book, books
from gensight.runner.turnstile import locked
from gensight.specs.run import BudgetSpec

#: Sums of many small amounts differ by less than this from what they should be.
ROUNDING_USD = 1e-9


class Purse:
    """What a run has, and what of it is left."""

    def __init__(self, ledger: Path, run: str, budget: BudgetSpec | None, own: Book) -> None:
        self._ledger, self._run, self._budget, self._own = ledger, run, budget, own
        self._others: dict[Path, Book] = {}

    @contextmanager
    def reserving(self, model: str, usd: float) -> Iterator[bool]:
        """Yield whether a request of this price may be sent; write its attempt meanwhile."""
        if usd == 0:
            yield True
            return
        with (self._ledger / "money.lock").open("w") as lock:
            locked(lock, fcntl.LOCK_EX)
            yield usd <= self.left_usd(model) + ROUNDING_USD

    def left_usd(self, model: str) -> float:
        """Return what is left for a model; nothing where there is no budget."""
        if self._budget is None:
            return 0.0
        spent = self.spent_usd()
        left = self._budget.usd - sum(spent.values())
        cap = self._budget.models.get(model)
        return left if cap is None else min(left, cap - spent.get(model, 0.0))

    def spent_usd(self) -> dict[str, float]:
        """Return what the run has spent or reserved so far, by model."""
        total = dict(self._own.spent_usd(self._run))
        for path in books(self._ledger).values():
            # An empty one is just being made by another provider's first runner.
            if path == self._own.path or path.stat().st_size == 0:
                continue
            if path not in self._others:
                self._others[path] = Book(path, read_only=True)
            for model, usd in self._others[path].spent_usd(self._run).items():
                total[model] = total.get(model, 0.0) + usd
        return total

    def close(self) -> None:
        """Close the other providers' books."""
        for book in self._others.values():
            book.close()
