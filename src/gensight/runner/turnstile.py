"""The lock that admits one runner per provider; a second one waits, and says so.

It is the operating system's: it ends with the process that holds it, however that ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gensight.errors import RecordError


def lock_path(ledger: Path, provider: str) -> Path:
    """Return where a provider's lock lies."""
    return ledger / f"{provider}.lock"


@contextmanager
def admitted(ledger: Path, provider: str, say: Callable[[str], None]) -> Iterator[None]:
    """Be a provider's one runner; wait while another one is.

    Raises:
        RecordError: the ledger has no place for a lock.
    """
    with _opened(ledger, provider) as lock:
        try:
            locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: {_holder(lock.name)} is asking {provider}; one runner at a time")
            locked(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(json.dumps({"process": os.getpid(), "host": socket.gethostname()}))
        lock.flush()
        yield


def locked(lock: IO[str], how: int) -> None:
    """Lock an open file as `fcntl.flock` does.

    Raises:
        BlockingIOError: another process holds it.
        RecordError: its file system has no locks.
    """
    try:
        fcntl.flock(lock, how)
    except BlockingIOError:
        raise
    except OSError as error:
        raise RecordError(
            f"{lock.name}: cannot be locked ({error.strerror}); without locks two jobs could pay "
            f"for the same request: move the ledger (ledger: in the config) to a file system that "
            f"has them"
        ) from None


def _opened(ledger: Path, provider: str) -> IO[str]:
    try:
        ledger.mkdir(parents=True, exist_ok=True)
        # Opened for appending: whoever waits must not wipe out the name of whoever works.
        return lock_path(ledger, provider).open("a+", encoding="utf-8")
    except OSError as error:
        raise RecordError(
            f"{error.filename}: cannot be written ({error.strerror}); the ledger must be a folder "
            f"that can be written to (ledger: in the config)"
        ) from None


def is_running(ledger: Path, provider: str) -> bool:
    """Say whether a provider has a runner at this moment."""
    path = lock_path(ledger, provider)
    if not path.exists():
        return False
    with path.open("r", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _holder(path: str) -> str:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        return f"process {found['process']} on {found['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
