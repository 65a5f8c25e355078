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


def lock_path(ledger: Path, provider: str) -> Path:
    """Return where a provider's lock lies."""
    return ledger / f"{provider}.lock"


@contextmanager
def admitted(ledger: Path, provider: str, say: Callable[[str], None]) -> Iterator[None]:
    """Be a provider's one runner; wait while another one is."""
    ledger.mkdir(parents=True, exist_ok=True)
    # Opened for appending: whoever waits must not wipe out the name of whoever works.
    with lock_path(ledger, provider).open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: {_holder(lock.name)} is asking {provider}; one runner at a time")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(json.dumps({"process": os.getpid(), "host": socket.gethostname()}))
        lock.flush()
        yield


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
