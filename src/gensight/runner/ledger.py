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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gensight.digests import canonical_json, digest_of_bytes
from gensight.models import Reply
from gensight.outcomes import FINAL
from gensight.runner.adoption import adopted_folder


@dataclass(frozen=True)
class Entry:
    """One reply as it is kept; `images` are blob digests, `asked` the canonical request."""

    key: str
    outcome: str
    text: str | None = None
    images: list[str] = field(default_factory=list)
    detail: str | None = None
    answered_model: str | None = None
    usage: str | None = None
    latency_s: float | None = None
    asked: dict[str, Any] = field(default_factory=dict)


class Ledger:
    """Replies of one model. `durable` waits for the disk: for replies that cost money."""

    def __init__(self, root: Path, model: str, *, durable: bool = False) -> None:
        self.root, self.model, self.durable = root, model, durable
        self._adopted: dict[str, tuple[Path, int]] | None = None

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
        with path.open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
            # Kept after a failure: removing it would let two waiting processes hold "the" lock.
            path.unlink(missing_ok=True)

    def find(self, key: str) -> tuple[Entry, list[bytes]] | None:
        """Return the final reply to a key with its pictures, or None if it must be asked."""
        path = self.entry_path(key)
        if path.exists():
            entry = Entry(**json.loads(path.read_text(encoding="utf-8")))
            blobs = [self.blob_path(digest) for digest in entry.images]
            if entry.outcome in FINAL and all(blob.exists() for blob in blobs):
                return entry, [blob.read_bytes() for blob in blobs]
        return self._find_adopted(key)

    def record(self, key: str, reply: Reply, asked: dict[str, Any], latency_s: float) -> Entry:
        """Keep a reply: pictures first, then the entry that names them."""
        digests = []
        for image in reply.images:
            digests.append(digest_of_bytes(image))
            if not self.blob_path(digests[-1]).exists():
                self._put(self.blob_path(digests[-1]), image)
        entry = Entry(
            key, str(reply.outcome), reply.text, digests, reply.detail, reply.answered_model,
            reply.usage, latency_s, asked,
        )
        self._put(self.entry_path(key), canonical_json(asdict(entry)).encode())
        return entry

    def _put(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with temporary.open("wb") as stream:
            stream.write(data)
            if self.durable:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(temporary, path)

    # Replies that came with an archive: their cells' Parquet files serve as they are.

    def _find_adopted(self, key: str) -> tuple[Entry, list[bytes]] | None:
        if self._adopted is None:
            self._adopted = self._index_adopted()
        if key not in self._adopted:
            return None
        path, index = self._adopted[key]
        row = _row_of(path, index)
        images = [row.image["bytes"]] if row.image else []
        entry = Entry(
            key, row.outcome, row.text, [digest_of_bytes(i) for i in images], row.detail,
            row.answered_model, row.usage, row.latency_s,
        )
        return (entry, images) if row.outcome in FINAL else None

    def _index_adopted(self) -> dict[str, tuple[Path, int]]:
        folder = adopted_folder(self.root, self.model)
        if not folder.exists():
            return {}
        return {
            key: (path, index)
            for path in sorted(folder.rglob("*.parquet"))
            for index, key in enumerate(_keys_of(path))
        }


def _keys_of(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=["request_key"]).column(0).to_pylist()


def _row_of(path: Path, index: int) -> Any:
    """Return one row of a generations file, reading only its row group."""
    from gensight.records import Generation, RowFile

    file = RowFile(path, Generation)
    for group in range(file.file.num_row_groups):
        size = file.file.metadata.row_group(group).num_rows
        if index < size:
            return file.group(group)[index]
        index -= size
    raise IndexError(f"{path} has no row {index}")
