"""Replies that another ledger exported, taken in: all is checked first, then blobs, then entries.

The file may come from a stranger. Nothing that is here is replaced by anything else, and attempts
count in no budget, because their money was spent elsewhere. An import that was interrupted can be
repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from gensight.atomic import write_bytes
from gensight.digests import canonical_json
from gensight.errors import GensightError
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.providers import FaultKind
from gensight.runner.book import Attempt, Book, Intent, book_path
from gensight.runner.entries import fits, parse_entry, read_entry
from gensight.runner.inventory import IMPORTED
from gensight.runner.ledger import Entry, Ledger
from gensight.runner.standstill import at_standstill
from gensight.runner.transfer import CHUNK_BYTES, FORMAT_VERSION, LIST, NAMES, Report

ADVICE = "make one with: gensight ledger export FILE.tar"
NAME, RUN = re.compile(r"[a-z0-9_]+"), re.compile(rf"({IMPORTED})?[a-z0-9_]+")
ENDS = frozenset(map(str, [*Outcome, *FaultKind]))
Key = tuple[str, str]


@dataclass
class Incoming:
    """What a file brings, checked: entries by model and key, attempts by provider."""

    entries: dict[Key, Entry] = field(default_factory=dict)
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)


def take_in(source: Path, ledger: Path) -> Report:
    """Lay the replies of a file into a ledger: nothing of it, if anything in it is wrong.

    Raises:
        GensightError: no export of gensight, damaged or cut short, or another reply is here.
        AtWorkError: a runner of one of its providers is at work.
    """
    try:
        with tarfile.open(source, "r:") as tar:
            listed = _read_list(source, tar)
            incoming = _checked(source, tar, listed)
            with ExitStack() as stack:
                for provider in incoming.attempts:
                    stack.enter_context(at_standstill(ledger, provider))
                return _lay_in(tar, incoming, ledger)
    except OSError as error:
        raise GensightError(f"{source}: cannot be imported ({error})") from None
    except (tarfile.TarError, ValueError) as error:
        raise GensightError(f"{source}: cannot be read ({error}); {ADVICE}") from None


# -- what the file says


def _read_list(source: Path, tar: tarfile.TarFile) -> dict[str, dict[str, Any]]:
    first = tar.next()
    if first is None or first.name != LIST or not _is_plain(first):
        raise GensightError(
            f"{source}: no replies of a ledger (its first file must be {LIST}); {ADVICE}"
        )
    try:
        told = json.loads(_read(tar, first))
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("files"), dict):
        raise GensightError(f"{source}: its list of files cannot be read; {ADVICE}")
    if told.get("format_version") != FORMAT_VERSION:
        raise GensightError(
            f"{source}: format {told.get('format_version')!a} is not known here; this version "
            f"reads format {FORMAT_VERSION}"
        )
    for name, facts in told["files"].items():
        named = NAMES.fullmatch(name)
        if named is None:
            raise GensightError(f"{source}: lists {name!a}, which is no file of a ledger")
        if not _is_listing(facts) or named["digest"] not in (None, facts["sha256"]):
            raise GensightError(f"{source}: lists {name} in a form not known here; {ADVICE}")
    return told["files"]


def _is_listing(facts: Any) -> bool:
    return (
        isinstance(facts, dict)
        and fits(facts.get("size"), int)
        and isinstance(facts.get("sha256"), str)
    )


def _checked(
    source: Path, tar: tarfile.TarFile, listed: Mapping[str, Mapping[str, Any]]
) -> Incoming:
    """Read every member once; return what they hold, or say what is wrong with the first."""
    incoming, missing = Incoming(), set(listed)
    for member in tar:
        if member.name == LIST:
            continue
        if member.name not in missing:
            raise GensightError(f"{source}: holds {member.name!a}, which is not in its list")
        missing.discard(member.name)
        named, facts = NAMES.fullmatch(member.name), listed[member.name]
        assert named is not None  # every listed name is one
        try:
            _compare(tar, member, facts)
            if named["model"]:
                entry = _entry(_read(tar, member), named["key"])
                incoming.entries[named["model"], entry.key] = entry
            elif named["provider"]:
                incoming.attempts[named["provider"]] = list(_attempts(_read(tar, member)))
        except ValueError as error:
            raise GensightError(f"{source}: {member.name}: {error}") from None
    if missing:
        raise GensightError(
            f"{source}: cut short: {len(missing)} of {len(listed)} files are not in it"
        )
    _check_links(source, incoming, listed)
    return incoming


def _is_plain(member: tarfile.TarInfo) -> bool:
    return member.isreg() and not member.issparse()


def _compare(tar: tarfile.TarFile, member: tarfile.TarInfo, facts: Mapping[str, Any]) -> None:
    if not _is_plain(member):
        raise ValueError("is no plain file")
    if member.size != facts["size"] or _sha256(tar, member) != facts["sha256"]:
        raise ValueError("is damaged (its size or sha256 differs from the list's)")


def _sha256(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    stream, seen = tar.extractfile(member), hashlib.sha256()
    while chunk := stream.read(CHUNK_BYTES):  # type: ignore[union-attr]
        seen.update(chunk)
    return seen.hexdigest()


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return tar.extractfile(member).read()  # type: ignore[union-attr]


def _entry(data: bytes, key: str) -> Entry:
    entry = parse_entry(data)
    if entry.key != key:
        raise ValueError("lies under another key than its own")
    if entry.outcome not in MODEL_OUTCOMES:
        raise ValueError(f"is no answer ({entry.outcome})")
    _check_usage(entry.usage)
    return entry


def _check_usage(usage: str | None) -> None:
    try:
        usable = usage is None or isinstance(json.loads(usage), dict)
    except (ValueError, RecursionError):
        usable = False
    if not usable:
        raise ValueError("its usage is no JSON object")


def _attempts(data: bytes) -> Iterator[Attempt]:
    for line in data.splitlines():
        try:
            attempt = Attempt(id=0, **json.loads(line.decode()))
        except (ValueError, TypeError, RecursionError):
            raise ValueError("holds a line that is no attempt of this version") from None
        typed = all(fits(getattr(attempt, name), kind) for name, kind in _attempt_types().items())
        if not typed or not _is_sound(attempt):
            raise ValueError("holds an attempt with a value that none can have")
        _check_usage(attempt.usage)
        yield attempt


@cache
def _attempt_types() -> dict[str, Any]:
    return get_type_hints(Attempt)


def _is_sound(attempt: Attempt) -> bool:
    names = (attempt.model, attempt.benchmark, attempt.prompt)
    return (
        all(map(NAME.fullmatch, names))
        and RUN.fullmatch(attempt.run) is not None
        and attempt.end in ENDS
        and attempt.ended is not None
    )


def _check_links(source: Path, incoming: Incoming, listed: Mapping[str, Any]) -> None:
    """Refuse an entry whose picture does not come with it, and what belongs to no entry."""
    named: set[str] = set()
    for (model, key), entry in incoming.entries.items():
        named.update(entry.images, entry.raw)
        for digest in entry.images:
            if f"blobs/{digest[:2]}/{digest}" not in listed:
                raise GensightError(
                    f"{source}: a picture of {model}'s reply {key[:12]} is not in it"
                )
    for name in listed:
        if name.startswith("blobs/") and name.rpartition("/")[2] not in named:
            raise GensightError(f"{source}: {name} belongs to no reply in it")
    for attempts in incoming.attempts.values():
        for attempt in attempts:
            known = (attempt.model, attempt.key) in incoming.entries
            if not known and attempt.end != Outcome.IN_DOUBT:
                raise GensightError(
                    f"{source}: an attempt at {attempt.key[:12]!a} belongs to no reply in it"
                )


# -- what becomes of it


def _lay_in(tar: tarfile.TarFile, incoming: Incoming, ledger: Path) -> Report:
    """Lay in blobs, then the entries that name them, then attempts.

    Another process may answer one of the keys meanwhile: each is looked up again while it is held.
    """
    fresh = {
        (model, key): entry
        for (model, key), entry in incoming.entries.items()
        if not _is_answered(Ledger(ledger, model), entry)
    }
    report = Report()
    needed = {digest for entry in fresh.values() for digest in (*entry.images, *entry.raw)}
    for member in tar:
        named = NAMES.fullmatch(member.name)
        if named and named["digest"] in needed:
            if Ledger(ledger, "").keep(_read(tar, member)) != named["digest"]:
                raise GensightError(f"{tar.name}: changed while it was read")
            report.blobs += 1
            report.bytes += member.size
    os.sync()  # an entry must never outlive its pictures
    for (model, key), entry in fresh.items():
        kept = Ledger(ledger, model)
        with kept.claim(key):
            if not _is_answered(kept, entry):
                write_bytes(kept.entry_path(key), canonical_json(asdict(entry)).encode())
                report.replies += 1
    os.sync()
    for provider, attempts in incoming.attempts.items():
        report.attempts += _enter(book_path(ledger, provider), attempts)
    known = len(incoming.entries) - report.replies
    if known:
        report.messages.append(f"replies that were here already: {known}")
    return report


def _is_answered(kept: Ledger, entry: Entry) -> bool:
    """Say whether a ledger has this very reply; another one to the same key is an error."""
    path = kept.entry_path(entry.key)
    own = read_entry(path) if path.exists() else None
    found = kept.find(entry.key)
    here = own if own is not None and own.outcome in MODEL_OUTCOMES else found and found[0]
    if here is not None and _reply(here) != _reply(entry):
        raise GensightError(
            f"{path if own else path.parents[1]}: the ledger has another reply to "
            f"{entry.key[:12]} than the file: nothing is replaced; export without this model "
            f"(--model), or move one of the two away"
        )
    return found is not None


def _reply(entry: Entry) -> tuple[Any, ...]:
    """Return what makes two replies one: pruning may have left only the first picture of many."""
    returned = len(entry.images) if entry.images_returned is None else entry.images_returned
    first = entry.images[0] if entry.images else None
    return entry.outcome, entry.text, entry.detail, entry.answered_model, first, returned


def _enter(path: Path, attempts: list[Attempt]) -> int:
    """Write the attempts that a book does not have yet; return how many."""
    entered = 0
    with closing(Book(path)) as book:
        known = {_identity(attempt): attempt for attempt in book.attempts()}
        for attempt in attempts:
            here = known.get(_identity(attempt))
            if here is None:
                _close(book, book.open_attempt(_intent(attempt), attempt.started), attempt)
                entered += 1
            elif here.ended is None and here.run.startswith(IMPORTED):
                _close(book, here.id, attempt)  # an import was interrupted between the two
    return entered


def _identity(attempt: Attempt) -> tuple[Any, ...]:
    return attempt.model, attempt.key, attempt.ordinal, attempt.started


def _intent(attempt: Attempt) -> Intent:
    return Intent(
        key=attempt.key,
        ordinal=attempt.ordinal,
        run=f"{IMPORTED}{attempt.run.removeprefix(IMPORTED)}",
        model=attempt.model,
        api_model=attempt.api_model,
        benchmark=attempt.benchmark,
        prompt=attempt.prompt,
        reserved_usd=attempt.reserved_usd,
    )


def _close(book: Book, number: int, attempt: Attempt) -> None:
    """Close an attempt as it was there."""
    assert attempt.end is not None and attempt.ended is not None  # checked when it was read
    book.close_attempt(
        number,
        attempt.end,
        attempt.ended,
        detail=attempt.detail,
        cost_usd=attempt.cost_usd,
        price_date=attempt.price_date,
        usage=attempt.usage,
    )
