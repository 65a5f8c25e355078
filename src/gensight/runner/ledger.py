"""The ledger: every reply ever received, by the key of what was asked.

One reply is one small JSON file named by its key, and one content-addressed blob per picture;
both appear by rename. A key is locked before it is asked, so that two processes, or an orphan of a
killed run, never ask the same thing twice. The ledger lies outside Snakemake's outputs, which are
deleted when a job fails.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from gensight.atomic import write_bytes
from gensight.digests import canonical_json, digest_of_bytes
from gensight.errors import RecordError
from gensight.models import Reply
from gensight.outcomes import MODEL_OUTCOMES
from gensight.runner.adoption import AdoptedReplies, adopted_folder
from gensight.runner.turnstile import locked


@dataclass(frozen=True)
class Entry:
    """One reply as it is kept; `images` are blob digests, `asked` the canonical request.

    An archive keeps one picture of a reply: `images_returned` then says how many there were. `raw`
    are the blobs of what a provider sent, before it was read; `cost_usd` is by the prices of
    `price_date`.
    """

    key: str
    outcome: str
    text: str | None = None
    images: list[str] = field(default_factory=list)
    detail: str | None = None
    answered_model: str | None = None
    usage: str | None = None
    latency_s: float | None = None
    peak_memory_gb: float | None = None
    device: str | None = None
    warm_up: bool | None = None
    asked: dict[str, Any] = field(default_factory=dict)
    images_returned: int | None = None
    attempts: int | None = None
    cost_usd: float | None = None
    price_date: str | None = None
    raw: list[str] = field(default_factory=list)
    setup: str | None = None
    place: str | None = None
    goes_on: bool = False


class Ledger:
    """Replies of one model. `durable` waits for the disk: for replies that cost money."""

    def __init__(self, root: Path, model: str, *, durable: bool = False) -> None:
        self.root, self.model, self.durable = root, model, durable
        self._guard = threading.Lock()
        self._adopted: AdoptedReplies | None = None

    def entry_path(self, key: str) -> Path:
        """Return where the reply to a key is kept."""
        return self.root / "replies" / self.model / key[:2] / f"{key}.json"

    def blob_path(self, digest: str) -> Path:
        """Return where a picture is kept."""
        return self.root / "blobs" / digest[:2] / digest

    @contextmanager
    def claim(self, key: str) -> Iterator[None]:
        """Hold the only right to ask a key; waits while another process holds it.

        The lock is the operating system's: it ends with the process that holds it, however that
        ends. Look the key up again after claiming it.
        """
        path = self.entry_path(key).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _locked(path)
        try:
            yield
        finally:
            # Removed while it is still held: whoever waits for it finds that it is gone.
            path.unlink(missing_ok=True)
            lock.close()

    def find(self, key: str) -> tuple[Entry, list[bytes]] | None:
        """Return the answer to a key with its pictures, or None if it must be asked."""
        path = self.entry_path(key)
        if path.exists():
            entry = _read_entry(path)
            blobs = [self.blob_path(digest) for digest in entry.images]
            # A question that got no answer (quota, time-out) is as good as not asked: ask again.
            if entry.outcome in MODEL_OUTCOMES and all(_is_there(blob) for blob in blobs):
                return entry, [blob.read_bytes() for blob in blobs]
        return self._find_adopted(key)

    def record(
        self,
        key: str,
        reply: Reply,
        asked: Mapping[str, Any],
        latency_s: float | None,
        **facts: Any,
    ) -> Entry:
        """Keep a reply: pictures first, then the entry that names them.

        `facts` are further fields of the entry: whether the model had warmed up, where it ran,
        attempts, cost.
        """
        digests = [self.keep(image) for image in reply.images]
        entry = Entry(
            key,
            str(reply.outcome),
            reply.text,
            digests,
            reply.detail,
            reply.answered_model,
            reply.usage,
            latency_s,
            reply.peak_memory_gb,
            reply.device,
            asked=dict(asked),
            images_returned=len(digests),
            setup=reply.setup,
            goes_on=reply.goes_on,
            **facts,
        )
        self._write(entry)
        return entry

    def take_over(self, entry: Entry, images: Sequence[bytes]) -> None:
        """Keep an answer that another model of the ledger has, under this one's name."""
        for image in images:
            self.keep(image)
        self._write(entry)

    def keep(self, content: bytes) -> str:
        """Keep bytes under their digest, and return it."""
        digest = digest_of_bytes(content)
        if not self.blob_path(digest).exists():
            write_bytes(self.blob_path(digest), content, durable=self.durable)
        return digest

    def _write(self, entry: Entry) -> None:
        kept = canonical_json(asdict(entry)).encode()
        write_bytes(self.entry_path(entry.key), kept, durable=self.durable)

    def _find_adopted(self, key: str) -> tuple[Entry, list[bytes]] | None:
        """Return a reply out of an archive: its cell's Parquet file serves as it is."""
        with self._guard:
            if self._adopted is None:
                self._adopted = AdoptedReplies(adopted_folder(self.root, self.model))
        row = self._adopted.find(key)
        if row is None:
            return None
        images = [row.image["bytes"]] if row.image else []
        entry = Entry(
            key,
            row.outcome,
            row.text,
            [digest_of_bytes(image) for image in images],
            row.detail,
            row.answered_model,
            row.usage,
            row.latency_s,
            row.peak_memory_gb,
            row.device,
            row.warm_up,
            images_returned=row.images_returned,
            attempts=row.attempts,
            cost_usd=row.cost_usd,
            setup=row.setup,
            place=row.place,
            goes_on=row.goes_on,
        )
        return entry, images


def has_replies(ledger: Path, model: str) -> bool:
    """Say whether a ledger holds any reply of a model."""
    kept = ((ledger / "replies" / model, "??/*.json"), (adopted_folder(ledger, model), "*.parquet"))
    return any(next(folder.glob(pattern), None) is not None for folder, pattern in kept)


def _is_there(blob: Path) -> bool:
    """Say whether a picture is there; an empty file is what a crash of the machine leaves."""
    try:
        return blob.stat().st_size > 0
    except FileNotFoundError:
        return False


def _read_entry(path: Path) -> Entry:
    try:
        return Entry(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise RecordError(
            f"{path}: is no ledger entry of this version; remove it: its request is asked again"
        ) from None


def _locked(path: Path) -> IO[str]:
    """Return the lock file at a path, held; one that was removed meanwhile is no lock."""
    while True:
        lock = path.open("w", encoding="utf-8")
        locked(lock, fcntl.LOCK_EX)
        try:
            if os.fstat(lock.fileno()).st_ino == path.stat().st_ino:
                return lock
        except FileNotFoundError:
            pass
        lock.close()
