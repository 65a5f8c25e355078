"""What `gensight ledger show` finds under a key: the request, its answers, its attempts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from gensight.cli._ledger_list import moment
from gensight.cli.printing import print_table
from gensight.errors import GensightError
from gensight.runner.book import Attempt, Book, books
from gensight.runner.entries import adopted_keys, adopted_paths, entry_paths, models_of, read_entry
from gensight.runner.ledger import Entry, Ledger

PREFIX = re.compile(r"[0-9a-f]{1,64}")
NAMED = 5


@dataclass(frozen=True)
class Blob:
    """A file that a reply consists of; `size` is None where it is not here any more."""

    path: str
    size: int | None


@dataclass
class Kept:
    """What a ledger holds under one key for one model.

    `adopted` are files of generations that answer for it; `attempts` are in the order of sending.
    """

    key: str
    model: str
    entry: Entry | None = None
    images: list[Blob] = field(default_factory=list)
    raw: list[Blob] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    attempts: list[tuple[str, Attempt]] = field(default_factory=list)


def find(ledger: Path, prefix: str) -> list[Kept]:
    """Return what is kept under the one key that begins so, a holding for each model.

    Raises:
        GensightError: no key begins so, or several do.
        RecordError: an entry, a book or an adopted file cannot be read.
    """
    wanted = prefix.lower()
    if PREFIX.fullmatch(wanted) is None:
        raise GensightError(f"{prefix!a} is no key: give its first letters, of 0-9 and a-f")
    found: dict[tuple[str, str], Kept] = {}

    def _of(key: str, model: str) -> Kept:
        return found.setdefault((key, model), Kept(key, model))

    for provider, attempt, blobs in _attempts(ledger, wanted):
        kept = _of(attempt.key, attempt.model)
        kept.attempts.append((provider, attempt))
        kept.raw += [_blob(ledger, digest) for digest in blobs]
    for model in models_of(ledger):
        for path in entry_paths(ledger, model):
            if path.stem.startswith(wanted):
                _of(path.stem, model).entry = read_entry(path)
        for path in adopted_paths(ledger, model):
            for key in adopted_keys([path]):
                if key.startswith(wanted):
                    _of(key, model).adopted.append(str(path))
    _check_one(ledger, prefix, sorted({key for key, _ in found}))
    for kept in found.values():
        if kept.entry is not None:
            kept.images = [_blob(ledger, digest) for digest in kept.entry.images]
            kept.raw = [_blob(ledger, digest) for digest in kept.entry.raw]
    return [found[name] for name in sorted(found)]


def _check_one(ledger: Path, prefix: str, keys: list[str]) -> None:
    if not keys:
        raise GensightError(
            f"{ledger}: no key begins with {prefix}; see what is there with: gensight ledger list"
        )
    if len(keys) > 1:
        shown = ", ".join(key[: len(prefix) + 8] for key in keys[:NAMED])
        more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        raise GensightError(
            f"{prefix} is ambiguous: {shown}{more} begin so; give more letters of the key"
        )


def _attempts(ledger: Path, prefix: str) -> Iterator[tuple[str, Attempt, list[str]]]:
    for provider, path in books(ledger).items():
        with closing(Book(path, read_only=True)) as book:
            for attempt in book.attempts("substr(key, 1, ?) = ?", (len(prefix), prefix)):
                blobs = [blob for _, blob in book.exchanges(attempt.id) if blob]
                yield provider, attempt, blobs


def _blob(ledger: Path, digest: str) -> Blob:
    path = Ledger(ledger, "").blob_path(digest)
    return Blob(str(path), path.stat().st_size if path.exists() else None)


def kept_json(found: list[Kept]) -> dict[str, Any]:
    """Return what was found as it is printed with --json."""
    return {
        "key": found[0].key,
        "kept": [
            {
                "model": kept.model,
                "entry": None if kept.entry is None else asdict(kept.entry),
                "images": [asdict(blob) for blob in kept.images],
                "raw": [asdict(blob) for blob in kept.raw],
                "adopted": kept.adopted,
                "attempts": [{"provider": p, **asdict(attempt)} for p, attempt in kept.attempts],
            }
            for kept in found
        ],
    }


def raw_bytes(found: list[Kept]) -> bytes:
    """Return what a provider sent, round trip after round trip.

    Raises:
        GensightError: nothing raw was kept, or it is not here any more.
    """
    blobs = [blob for kept in found for blob in kept.raw]
    if not blobs:
        raise GensightError(
            f"{found[0].key}: nothing raw is kept: only replies of hosted models are kept as sent"
        )
    gone = [blob.path for blob in blobs if blob.size is None]
    if gone:
        raise GensightError(f"{gone[0]}: is not here any more: it was pruned, or not imported")
    return b"".join(Path(blob.path).read_bytes() for blob in blobs)


def print_kept(found: list[Kept]) -> None:
    """Print what was found for people."""
    click.echo(f"key {found[0].key}")
    for kept in found:
        click.echo(f"\n{kept.model}")
        if kept.entry is not None:
            print_table(_facts(kept.entry), indent="  ")
            click.echo("  asked")
            told = json.dumps(kept.entry.asked, indent=2, sort_keys=True, ensure_ascii=False)
            for line in told.splitlines():
                click.echo(f"    {line}")
        elif not kept.adopted:
            click.echo("  no reply was read")
        for word, blobs in (("picture", kept.images), ("raw", kept.raw)):
            for blob in blobs:
                size = "not here any more" if blob.size is None else f"{blob.size:,} bytes"
                click.echo(f"  {word}  {blob.path}  {size}")
        for path in kept.adopted:
            click.echo(f"  in the adopted file  {path}")
        for provider, attempt in kept.attempts:
            click.echo(f"  {_told_attempt(provider, attempt)}")


def _facts(entry: Entry) -> list[tuple[str, Any]]:
    facts = [
        ("outcome", entry.outcome),
        ("detail", entry.detail),
        # Quoted: a reply may hold line breaks, and letters that a terminal obeys.
        ("text", json.dumps(entry.text, ensure_ascii=False) if entry.text else None),
        ("answered by", entry.answered_model),
        ("cost", None if entry.cost_usd is None else f"{entry.cost_usd:.6f} USD"),
        ("prices of", entry.price_date),
        ("usage", entry.usage),
        ("seconds", entry.latency_s),
        ("device", entry.device),
    ]
    return [(name, value) for name, value in facts if value not in (None, "")]


def _told_attempt(provider: str, attempt: Attempt) -> str:
    ended = "never closed" if attempt.ended is None else f"{attempt.end}"
    if attempt.ended is not None:
        ended += f" after {attempt.ended - attempt.started:.1f} s"
    if attempt.detail:
        ended += f" ({attempt.detail})"
    cost = attempt.reserved_usd if attempt.cost_usd is None else attempt.cost_usd
    word = "reserved" if attempt.cost_usd is None else "cost"
    return (
        f"attempt {attempt.ordinal + 1}  {provider}, {moment(attempt.started)}, run "
        f"'{attempt.run}', {attempt.benchmark}/{attempt.prompt}: {ended}, {word} {cost:.6f} USD"
    )
