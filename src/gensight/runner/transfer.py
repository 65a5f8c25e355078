"""Replies of a ledger as one file, for another ledger: what a colleague has bought serves here.

The file is a plain tar without compression, owners or times: equal replies give equal bytes. Its
first member lists the size and sha256 of every other:

    LEDGER.json
    attempts/{provider}.jsonl                 closed attempts, one JSON object a line
    blobs/{digest[:2]}/{digest}               pictures, and replies as they were sent if asked for
    replies/{model}/{key[:2]}/{key}.json      the entries
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from gensight.atomic import replacing
from gensight.digests import canonical_json, digest_of_bytes
from gensight.errors import GensightError, RecordError
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.runner.book import Attempt, books
from gensight.runner.entries import adopted_paths, entry_paths, models_of, read_entry, reading
from gensight.runner.ledger import Entry, Ledger
from gensight.specs.protocols import PROVIDERS
from gensight.specs.words import unknown

FORMAT_VERSION = 1
LIST = "LEDGER.json"
NAMES = re.compile(
    rf"attempts/(?P<provider>{'|'.join(PROVIDERS)})\.jsonl"
    r"|blobs/(?P<folder>[0-9a-f]{2})/(?P<digest>(?P=folder)[0-9a-f]{62})"
    r"|replies/(?P<model>[a-z0-9_]+)/(?P<start>[0-9a-f]{2})/(?P<key>(?P=start)[0-9a-f]{62})\.json"
)
CHUNK_BYTES = 1 << 20


@dataclass
class Report:
    """What was moved: replies, attempts, and bytes of the file or of what was laid in."""

    replies: int = 0
    attempts: int = 0
    blobs: int = 0
    bytes: int = 0
    messages: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Member:
    """A file of the tar: its size, its sha256, and how its bytes are read when it is written."""

    size: int
    sha256: str
    read: Callable[[], bytes]


def export(
    ledger: Path, destination: Path, models: Sequence[str] = (), *, raw: bool = False
) -> Report:
    """Write the replies of some models, or of all, to a tar; with `raw` also as they were sent.

    Raises:
        GensightError: there is nothing to export, or the file cannot be written.
        RecordError: an entry, a blob or a book is damaged.
    """
    known = models_of(ledger)
    for model in models:
        if model not in known:
            raise unknown(ledger, "model", model, known)
    export = _Export(ledger, raw)
    for model in sorted(set(models) or known):
        export.add_model(model)
    export.add_attempts()
    return export.write(destination)


class _Export:
    def __init__(self, ledger: Path, raw: bool) -> None:
        self._ledger, self._raw = ledger, raw
        self._members: dict[str, Member] = {}
        self._models: set[str] = set()
        self._entries: dict[tuple[str, str], Entry] = {}
        self._report = Report()

    def add_model(self, model: str) -> None:
        self._models.add(model)
        kept = Ledger(self._ledger, model)
        left_out = 0
        for path in entry_paths(self._ledger, model):
            entry = read_entry(path)
            taken = self._with_pictures(kept, entry) if entry.outcome in MODEL_OUTCOMES else None
            if taken is None:
                left_out += 1
                continue
            self._add_raw(kept, entry)
            content = canonical_json(asdict(taken)).encode()
            name = f"replies/{model}/{entry.key[:2]}/{entry.key}.json"
            self._add(name, len(content), digest_of_bytes(content), lambda content=content: content)
            self._entries[model, entry.key] = entry
            self._report.replies += 1
        self._remark(model, left_out)

    def _with_pictures(self, kept: Ledger, entry: Entry) -> Entry | None:
        """Add the pictures of an entry; return it, or None if its answer is not here.

        After pruning only the answer itself is here, in an adopted file.
        """
        paths = [kept.blob_path(digest) for digest in entry.images]
        if all(path.exists() for path in paths):
            for path in paths:
                self._add_blob(path)
            return entry
        found = kept.find(entry.key)
        first = entry.images[0]
        if found is None or list(map(digest_of_bytes, found[1])) != [first]:
            return None
        key, size = entry.key, len(found[1][0])
        self._add(f"blobs/{first[:2]}/{first}", size, first, lambda: kept.find(key)[1][0])  # type: ignore[index]
        if all(path.exists() for path in paths[1:]):
            for path in paths[1:]:
                self._add_blob(path)
            return entry
        count = len(entry.images) if entry.images_returned is None else entry.images_returned
        return replace(entry, images=[first], images_returned=count)

    def _add_raw(self, kept: Ledger, entry: Entry) -> None:
        for digest in entry.raw if self._raw else ():
            if kept.blob_path(digest).exists():
                self._add_blob(kept.blob_path(digest))

    def _add_blob(self, path: Path) -> None:
        name = f"blobs/{path.parent.name}/{path.name}"
        if name not in self._members:
            self._add(name, path.stat().st_size, path.name, path.read_bytes)

    def _add(self, name: str, size: int, sha256: str, read: Callable[[], bytes]) -> None:
        self._members[name] = Member(size, sha256, read)

    def _remark(self, model: str, left_out: int) -> None:
        if left_out:
            self._report.messages.append(
                f"{model}: {left_out} entries left out: without an answer, or their pictures are "
                f"not here"
            )
        adopted = len(adopted_paths(self._ledger, model))
        if adopted:
            self._report.messages.append(
                f"{model}: {adopted} adopted files left out where no entry goes with their rows: "
                f"gensight archive create packs their generations"
            )

    def add_attempts(self) -> None:
        """Add the attempts at the replies, and those in doubt: nobody is to pay for them twice."""
        for provider, path in books(self._ledger).items():
            with reading(path) as book:
                attempts = [a for a in map(self._closed, book.attempts()) if a is not None]
            told = [
                canonical_json({k: v for k, v in asdict(attempt).items() if k != "id"})
                for attempt in attempts
            ]
            if told:
                content = "".join(f"{line}\n" for line in told).encode()
                sha256 = digest_of_bytes(content)
                name = f"attempts/{provider}.jsonl"
                self._add(name, len(content), sha256, lambda content=content: content)
                self._report.attempts += len(told)

    def _closed(self, attempt: Attempt) -> Attempt | None:
        """Return an attempt as it ended; None: it is still open, or at nothing that is taken."""
        entry = self._entries.get((attempt.model, attempt.key))
        if attempt.ended is not None:
            in_doubt = attempt.model in self._models and attempt.end == Outcome.IN_DOUBT
            return attempt if entry or in_doubt else None
        if entry is None or entry.attempts != attempt.ordinal + 1:
            return None
        # Its runner was killed after it had kept the answer: the next one closes it like this.
        return replace(
            attempt,
            ended=attempt.started,
            end=entry.outcome,
            detail=entry.detail,
            cost_usd=attempt.reserved_usd if entry.cost_usd is None else entry.cost_usd,
            price_date=entry.price_date,
            usage=entry.usage,
        )

    def write(self, destination: Path) -> Report:
        if not self._report.replies:
            raise GensightError(f"{self._ledger}: holds no replies to export")
        listed = {
            name: {"size": member.size, "sha256": member.sha256}
            for name, member in sorted(self._members.items())
        }
        told = json.dumps(
            {"format_version": FORMAT_VERSION, "files": listed}, indent=1, sort_keys=True
        )
        try:
            with (
                replacing(destination) as temporary,
                tarfile.open(temporary, "w", format=tarfile.PAX_FORMAT) as tar,
            ):
                _write_member(tar, LIST, told.encode())
                for name in listed:
                    content = self._members[name].read()
                    if digest_of_bytes(content) != self._members[name].sha256:
                        raise RecordError(
                            f"{self._ledger}/{name}: its bytes are not those that it is named "
                            f"after; see what else is wrong with: gensight ledger verify"
                        )
                    _write_member(tar, name, content)
        except OSError as error:
            raise GensightError(f"{destination}: cannot be written ({error})") from None
        self._report.bytes = destination.stat().st_size
        self._report.blobs = sum(name.startswith("blobs/") for name in listed)
        return self._report


def _write_member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    tar.addfile(member, io.BytesIO(content))
