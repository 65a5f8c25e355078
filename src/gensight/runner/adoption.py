"""Replies that came with an archive: their generations files answer for their keys."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gensight.atomic import replacing
from gensight.digests import digest_of
from gensight.errors import RecordError

if TYPE_CHECKING:
    from gensight.records import Generation, RowFile


def adopted_folder(ledger: Path, model: str) -> Path:
    """Return where a model's adopted files are kept."""
    return ledger / "adopted" / model


def lacks_answers(ledger: Path, model: str, generations: Path) -> bool:
    """Say whether a generations file has an answer to a key that the ledger has none to."""
    from gensight.runner.ledger import Ledger

    if _adopted_path(ledger, model, generations).exists():
        return False
    kept = Ledger(ledger, model)
    return any(not kept.entry_path(key).exists() for key in answered_keys(generations))


def answered_keys(generations: Path) -> list[str]:
    """Return the keys that a generations file has answers to."""
    from gensight.records import Generation, RowFile

    return list(answers_of(RowFile(generations, Generation)))


def answers_of(file: RowFile[Generation]) -> dict[str, str]:
    """Return the outcomes of a file's answers by key, without reading its pictures."""
    from gensight.outcomes import MODEL_OUTCOMES

    rows = zip(file.column("request_key"), file.column("outcome"), strict=True)
    return {key: outcome for key, outcome in rows if outcome in MODEL_OUTCOMES}


def _adopted_path(ledger: Path, model: str, generations: Path) -> Path:
    stat = generations.stat()
    # The inode tells two files of one path and size apart without reading gigabytes.
    name = digest_of([str(generations), stat.st_size, stat.st_ino])[:32]
    return adopted_folder(ledger, model) / f"{name}.parquet"


def adopt(ledger: Path, model: str, generations: Path) -> Path:
    """Keep a generations file in the ledger: a link where the file system allows, else a copy.

    Files of the same path but other content stand beside each other: nothing is replaced.
    """
    target = _adopted_path(ledger, model, generations)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(generations, target)
        except OSError:  # another file system
            with replacing(target) as temporary:
                shutil.copyfile(generations, temporary)
    return target


class AdoptedReplies:
    """The answers in a model's adopted files by key; rows are read when asked for.

    A reader of Parquet files serves one thread at a time, so one question at a time is looked up.
    """

    def __init__(self, folder: Path) -> None:
        from gensight.records import Generation, RowFile

        self._guard = threading.Lock()
        self._place: dict[str, tuple[Path, int, int]] = {}
        self._files: dict[Path, RowFile[Generation]] = {}
        for path in sorted(folder.glob("*.parquet")):
            try:
                self._files[path] = RowFile(path, Generation)
                self._index(path)
            except RecordError as error:
                reason = str(error).split(";")[0]
                raise RecordError(
                    f"{reason}; remove the file: the replies that it held will be asked again"
                ) from None
        self._last: tuple[tuple[Path, int], list[Generation]] | None = None

    def _index(self, path: Path) -> None:
        from gensight.outcomes import MODEL_OUTCOMES

        file, first, group = self._files[path], 0, 0
        keys = zip(file.column("request_key"), file.column("outcome"), strict=True)
        for index, (key, outcome) in enumerate(keys):
            while index - first >= file.file.metadata.row_group(group).num_rows:
                first += file.file.metadata.row_group(group).num_rows
                group += 1
            if outcome in MODEL_OUTCOMES:
                self._place[key] = (path, group, index - first)

    def find(self, key: str) -> Generation | None:
        """Return the row of a key, or None; neighbours are asked for together, and kept."""
        if key not in self._place:
            return None
        path, group, offset = self._place[key]
        with self._guard:
            if self._last is None or self._last[0] != (path, group):
                self._last = ((path, group), self._files[path].group(group))
            return self._last[1][offset]
