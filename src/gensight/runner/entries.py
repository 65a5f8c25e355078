"""The entries of a ledger as files: found, read, and not taken at their word.

What is read here may have come from another lab: every field must have its declared type, every
digest must be one, and an entry must lie under the key of what it says was asked.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from gensight.digests import digest_of
from gensight.errors import RecordError
from gensight.outcomes import Outcome
from gensight.runner.adoption import answers_of
from gensight.runner.book import Book
from gensight.runner.ledger import Entry
from gensight.specs.protocols import PROTOCOLS

DIGEST = re.compile(r"[0-9a-f]{64}")
OUTCOMES = frozenset(map(str, Outcome))
ADVICE = "remove it: its request is asked again"


def models_of(ledger: Path) -> list[str]:
    """Return the models that have replies in a ledger, of their own or adopted."""
    folders = (ledger / kind for kind in ("replies", "adopted"))
    return sorted({path.name for folder in folders for path in folder.glob("*") if path.is_dir()})


def entry_paths(ledger: Path, model: str) -> Iterator[Path]:
    """Yield the entries of a model in the order of their keys."""
    for folder in sorted((ledger / "replies" / model).glob("??")):
        yield from sorted(path for path in folder.glob("*.json") if path.name[0] != ".")


def adopted_paths(ledger: Path, model: str) -> list[Path]:
    """Return the adopted files of a model."""
    return sorted((ledger / "adopted" / model).glob("*.parquet"))


def adopted_keys(paths: Iterable[Path]) -> set[str]:
    """Return the keys that adopted files answer, without reading any picture; errors as below."""
    return {key for path in paths for key in AdoptedAnswers.of(path).outcomes}


@dataclass(frozen=True)
class AdoptedAnswers:
    """The outcomes that an adopted file holds, by key; `benchmark` is what it says it is of."""

    benchmark: str | None
    outcomes: Mapping[str, str]

    @classmethod
    def of(cls, path: Path) -> AdoptedAnswers:
        """Read a file without its pictures.

        Raises:
            RecordError: the file is damaged.
        """
        from gensight.records import Generation, RowFile

        file = RowFile(path, Generation)
        told: Any = file.footer.determinants
        for step in ("requests", "samples", "benchmark"):
            told = told.get(step) if isinstance(told, Mapping) else None
        return cls(told if isinstance(told, str) else None, answers_of(file))


def blob_paths(ledger: Path) -> Iterator[Path]:
    """Yield the blobs of a ledger in the order of their digests."""
    for folder in sorted((ledger / "blobs").glob("??")):
        yield from sorted(path for path in folder.iterdir() if path.name[0] != ".")


@contextmanager
def reading(path: Path) -> Iterator[Book]:
    """Open a book for reading alone, whether a runner is at work or not.

    Raises:
        RecordError: the book is damaged, wherever that shows.
    """
    try:
        with closing(Book(path, read_only=True)) as book:
            yield book
    except sqlite3.Error as error:
        raise RecordError(f"{path}: cannot be read ({error}); restore it from a backup") from None


def read_entry(path: Path) -> Entry:
    """Return an entry as it was written.

    Raises:
        RecordError: it is damaged, was altered, or is of another version.
    """
    try:
        entry = parse_entry(path.read_bytes())
    except ValueError as error:
        raise RecordError(f"{path}: {error}; {ADVICE}") from None
    if (path.stem, path.parent.name) != (entry.key, entry.key[:2]):
        raise RecordError(f"{path}: lies under another key than its own; {ADVICE}")
    return entry


def parse_entry(data: bytes) -> Entry:
    """Return the entry that bytes hold.

    Raises:
        ValueError: they hold none of this version, or one whose key is not that of what was asked.
    """
    try:
        told = json.loads(data.decode())
        entry = Entry(**told)
    except (ValueError, TypeError, RecursionError):
        raise ValueError("is no ledger entry of this version") from None
    for name, kind in _declared_types().items():
        if not fits(getattr(entry, name), kind):
            raise ValueError(f"is no ledger entry of this version ({name} is of another type)")
    if entry.outcome not in OUTCOMES:
        raise ValueError(f"its outcome, {entry.outcome[:20]!a}, is not known here")
    if not all(map(DIGEST.fullmatch, (entry.key, *entry.images, *entry.raw))):
        raise ValueError("a key or digest in it is none")
    if not _is_key_of(entry.key, entry.asked):
        raise ValueError("its key is not the digest of what it says was asked")
    return entry


def is_hosted(entry: Entry) -> bool:
    """Say whether an entry is the reply of a provider, by what was asked and what it cost."""
    protocol = PROTOCOLS.get(str(entry.asked.get("adapter")))
    hosted = protocol is not None and protocol.kind == "hosted"
    return hosted or entry.cost_usd is not None or bool(entry.raw)


def _is_key_of(key: str, asked: dict[str, Any]) -> bool:
    try:
        return digest_of(asked) == key
    except (ValueError, RecursionError):  # half a surrogate pair has no bytes
        return False


@cache
def _declared_types() -> dict[str, Any]:
    return get_type_hints(Entry)


def fits(value: Any, kind: Any) -> bool:
    """Say whether a value of JSON is of a declared type; a whole number may stand for a float."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, choice) for choice in get_args(kind))
    if origin is list:
        return isinstance(value, list) and all(fits(item, get_args(kind)[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict)
    if kind is float and type(value) is float:
        return math.isfinite(value) and value >= 0
    if kind in (float, int):
        return type(value) is int and 0 <= value < 1 << 63
    return type(value) is kind
