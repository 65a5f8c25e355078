"""Pruning: a picture that a finished cell holds itself is not kept a second time.

The cell's generations file is linked into the ledger first, as the files of an archive are: from
then on it answers for its keys. Only bytes that were compared go; entries, books, whatever is in
doubt, and pictures that the file does not hold (a reply's second one) stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from gensight.digests import digest_of_bytes
from gensight.errors import GensightError, RecordError
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.runner.adoption import adopt
from gensight.runner.book import books
from gensight.runner.entries import entry_paths, models_of, read_entry, reading
from gensight.runner.ledger import Ledger
from gensight.runner.standstill import at_standstill

Key = tuple[str, str]


@dataclass(frozen=True)
class FinishedFile:
    """A generations file that is complete and what the plan wants, and its model."""

    model: str
    path: Path


@dataclass
class Pruning:
    """What can go, by digest with its size in bytes; `shared` ones are needed elsewhere too."""

    pictures: dict[str, int] = field(default_factory=dict)
    raw: dict[str, int] = field(default_factory=dict)
    shared: int = 0

    @property
    def bytes(self) -> int:
        """Return the room that is won."""
        return sum(self.pictures.values()) + sum(self.raw.values())


def survey(ledger: Path, files: Sequence[FinishedFile], *, raw: bool = False) -> Pruning:
    """Say what can go, with `raw` also replies as they were sent; nothing is written.

    Raises:
        RecordError: a file, an entry or a book cannot be read.
    """
    doubtful, under_way = _not_settled(ledger)
    held = {key: found for file in files for key, found in _held(file) if key not in doubtful}
    pictures, replies, needed = set[str](), set[str](), set(under_way)
    for model in models_of(ledger):
        for path in entry_paths(ledger, model):
            entry = read_entry(path)
            outcome, picture = held.get((model, entry.key), (None, None))
            is_held = outcome == entry.outcome and entry.images[:1] in ([], [picture])
            pictures.update(entry.images[:1] if is_held else ())
            replies.update(entry.raw if is_held and raw else ())
            needed.update(entry.images[1:] if is_held else entry.images)
            needed.update(() if is_held and raw else entry.raw)
    return Pruning(
        pictures=dict(_sizes(ledger, pictures - needed)),
        raw=dict(_sizes(ledger, replies - pictures - needed)),
        shared=len(dict(_sizes(ledger, pictures & needed))),
    )


def prune(ledger: Path, files: Sequence[FinishedFile], *, raw: bool = False) -> Pruning:
    """Link finished files into the ledger and remove what they hold; return what was removed.

    Raises:
        AtWorkError: a runner is at work: it may be keeping the same bytes again.
        GensightError: something cannot be read, linked or removed.
    """
    with ExitStack() as stack:
        try:
            for provider in books(ledger):
                stack.enter_context(at_standstill(ledger, provider))
            found = survey(ledger, files, raw=raw)
            for file in files if found.pictures or found.raw else ():
                _link(ledger, file)
            os.sync()  # a link must not be lost where its pictures are
            for digest in (*found.pictures, *found.raw):
                _blob(ledger, digest).unlink(missing_ok=True)
        except OSError as error:
            raise GensightError(f"{error.filename}: cannot be pruned ({error.strerror})") from None
    return found


def _link(ledger: Path, file: FinishedFile) -> None:
    """Put a file beside the replies; what lies there must be that file, and whole.

    Raises:
        RecordError: it is not: a copy that was made earlier, or rows that were altered.
    """
    from gensight.records import read_footer
    from gensight.records.storage import is_intact

    target = adopt(ledger, file.model, file.path)
    if not is_intact(target, read_footer(file.path).content):
        raise RecordError(
            f"{target}: does not hold the rows that {file.path} was written with; nothing was "
            f"removed; make {file.path} again and run the same again"
        )


def _held(file: FinishedFile) -> Iterator[tuple[Key, tuple[str, str | None]]]:
    """Yield outcome and picture of every answer that a file holds, by what its bytes are now."""
    from gensight.records import Generation, RowFile

    for row in RowFile(file.path, Generation):
        if row.outcome in MODEL_OUTCOMES:
            picture = digest_of_bytes(row.image["bytes"]) if row.image else None
            yield (file.model, row.request_key), (row.outcome, picture)


def _not_settled(ledger: Path) -> tuple[set[Key], set[str]]:
    """Return the keys that are in doubt or under way, and the blobs of what was sent for them."""
    keys, blobs = set[Key](), set[str]()
    for path in books(ledger).values():
        with reading(path) as book:
            for attempt in book.attempts("ended IS NULL OR end = ?", (str(Outcome.IN_DOUBT),)):
                keys.add((attempt.model, attempt.key))
                blobs.update(blob for _, blob in book.exchanges(attempt.id) if blob)
    return keys, blobs


def _sizes(ledger: Path, digests: set[str]) -> Iterator[tuple[str, int]]:
    for digest in sorted(digests):
        if _blob(ledger, digest).exists():
            yield digest, _blob(ledger, digest).stat().st_size


def _blob(ledger: Path, digest: str) -> Path:
    return Ledger(ledger, "").blob_path(digest)
