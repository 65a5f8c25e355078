"""Whether a ledger is whole: every entry, blob, adopted file and book is compared; none changed."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from gensight.errors import RecordError
from gensight.outcomes import MODEL_OUTCOMES
from gensight.runner.book import Attempt, Book, books
from gensight.runner.entries import (
    adopted_keys,
    adopted_paths,
    blob_paths,
    entry_paths,
    is_hosted,
    models_of,
    read_entry,
    reading,
)
from gensight.runner.inventory import UNDER_WAY, OpenRequest, open_requests
from gensight.runner.ledger import Ledger

ANSWERS = frozenset(map(str, MODEL_OUTCOMES))
#: How a request ended, and what it cost.
End = tuple[str | None, float | None]


@dataclass
class Verdict:
    """What was looked at, and what is wrong.

    `orphans` are blobs that nothing names: left behind by a killed process, harmless.
    `pruned_pictures` lie in adopted files instead; `absent_raw` replies as they were sent are not
    here any more. `open_requests` were sent and their replies were not read.
    """

    entries: int = 0
    blobs: int = 0
    blob_bytes: int = 0
    adopted_files: int = 0
    attempts: int = 0
    orphans: int = 0
    orphan_bytes: int = 0
    pruned_pictures: int = 0
    absent_raw: int = 0
    open_requests: list[OpenRequest] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def verify(ledger: Path) -> Verdict:
    """Compare all that a ledger holds with what it says about itself; reads every byte."""
    return _Verification(ledger).verdict


class _Verification:
    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._named: set[str] = set()
        #: Outcome and cost of entries that must have been sent to a provider, by model and key.
        self._bought: dict[tuple[str, str], End] = {}
        self._adopted: dict[str, set[str]] = {}
        self.verdict = Verdict()
        # Blobs appear before entries, and entries before their attempts are closed: read in this
        # order, a ledger that is being written to is never found wanting.
        sizes = dict(self._blobs())
        for model in models_of(ledger):
            self._look_at_adopted(model)
            for path in entry_paths(ledger, model):
                self._look_at_entry(model, path)
        self._look_at_books()
        orphans = sizes.keys() - self._named
        self.verdict.orphans = len(orphans)
        self.verdict.orphan_bytes = sum(sizes[digest] for digest in orphans)

    def _blobs(self) -> Iterator[tuple[str, int]]:
        for path in blob_paths(self._ledger):
            self.verdict.blobs += 1
            try:
                size = path.stat().st_size
                with path.open("rb") as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()
            except FileNotFoundError:  # pruned meanwhile
                continue
            self.verdict.blob_bytes += size
            if (path.name, path.parent.name) != (found, found[:2]):
                self._tell(f"{path}: its bytes are not those that it is named after; remove it")
            yield path.name, size

    def _look_at_adopted(self, model: str) -> None:
        from gensight.records import read_footer
        from gensight.records.storage import is_intact

        keys = self._adopted.setdefault(model, set())
        for path in adopted_paths(self._ledger, model):
            self.verdict.adopted_files += 1
            try:
                keys |= adopted_keys([path])
                intact = is_intact(path, read_footer(path).content)
            except RecordError as error:
                reason = str(error).split(";")[0]
                self._tell(f"{reason}; remove it: the replies that it held will be asked again")
            else:
                if not intact:
                    self._tell(f"{path}: its rows are not those that were written")

    def _look_at_entry(self, model: str, path: Path) -> None:
        self.verdict.entries += 1
        try:
            entry = read_entry(path)
        except RecordError as error:
            self._tell(str(error))
            return
        self._named.update(entry.images, entry.raw)
        kept = Ledger(self._ledger, model)
        gone = [digest for digest in entry.images if not kept.blob_path(digest).exists()]
        if gone and self._is_adopted(model, entry.key):
            self.verdict.pruned_pictures += len(gone)
        elif gone:
            self._tell(f"{path}: its picture {gone[0][:12]} is not here: it will be asked again")
        self.verdict.absent_raw += sum(not kept.blob_path(d).exists() for d in entry.raw)
        if is_hosted(entry):
            self._bought[model, entry.key] = entry.outcome, entry.cost_usd

    def _look_at_books(self) -> None:
        ends: dict[tuple[str, str], list[End]] = {}
        readable = True
        for provider, path in books(self._ledger).items():
            try:
                with reading(path) as book:
                    attempts = book.attempts()
                    self._look_at_book(path, book, attempts)
                    pending = open_requests(self._ledger, provider, book)
            except RecordError as error:
                readable = False
                self._tell(str(error))
                continue
            for attempt in attempts:
                found = ends.setdefault((attempt.model, attempt.key), [])
                found += [(attempt.end, attempt.cost_usd)] if attempt.end in ANSWERS else []
            self.verdict.open_requests += [r for r in pending if r.state != UNDER_WAY]
        if readable:
            self._compare_ends(ends)

    def _look_at_book(self, path: Path, book: Book, attempts: list[Attempt]) -> None:
        self.verdict.attempts += len(attempts)
        for told in _integrity(path):
            if told != "ok":
                self._tell(f"{path}: is damaged ({told}); restore it from a backup")
        for attempt in attempts:
            self._look_at_exchanges(path, book, attempt)
            if attempt.end in ANSWERS and not self._has_entry(attempt):
                self._tell(
                    f"{path}: attempt {attempt.id} of {attempt.model} was answered "
                    f"({attempt.end}), and {attempt.key[:12]} has no entry: it was paid for and "
                    f"will be asked again"
                )

    def _look_at_exchanges(self, path: Path, book: Book, attempt: Attempt) -> None:
        kept = Ledger(self._ledger, attempt.model)
        blobs = [blob for _, blob in book.exchanges(attempt.id) if blob]
        self._named.update(blobs)
        if attempt.ended is None and not all(kept.blob_path(blob).exists() for blob in blobs):
            self._tell(
                f"{path}: attempt {attempt.id} of {attempt.model} was answered, and its reply, "
                f"which was not read yet, is not here any more"
            )

    def _compare_ends(self, ends: dict[tuple[str, str], list[End]]) -> None:
        """Compare what entries say with how the attempts at their keys ended."""
        unsent = sorted(self._bought.keys() - ends.keys())
        if unsent:
            (model, key), more = unsent[0], len(unsent) - 1
            self._tell(
                f"{Ledger(self._ledger, model).entry_path(key)} (and {more} more): a provider's "
                f"reply, and no book has an attempt at it: its money is not counted"
            )
        for (model, key), (outcome, cost_usd) in self._bought.items():
            found = ends.get((model, key))
            # Nothing is found for a moment: an attempt is closed after its entry is written.
            if found and not any(
                end == outcome and cost_usd in (None, cost) for end, cost in found
            ):
                told = " and ".join(f"{end} for {cost} USD" for end, cost in found)
                self._tell(
                    f"{Ledger(self._ledger, model).entry_path(key)}: says {outcome} for {cost_usd} "
                    f"USD, and its book {told}"
                )

    def _has_entry(self, attempt: Attempt) -> bool:
        own = Ledger(self._ledger, attempt.model).entry_path(attempt.key)
        return own.exists() or self._is_adopted(attempt.model, attempt.key)

    def _is_adopted(self, model: str, key: str) -> bool:
        return key in self._adopted.get(model, ())

    def _tell(self, problem: str) -> None:
        self.verdict.problems.append(problem)


def _integrity(path: Path) -> list[str]:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
