"""Files that appear complete or not at all: written under a temporary name, then renamed.

The temporary name is new for every write, so that threads, processes and nodes that share a file
system never meet in it. It starts with a dot, which readers of a folder leave out, and it does not
end like the file, so that one left behind by a killed process is taken for nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; what is written there takes its name.

    After an error the temporary file is removed and `path` is as it was. The folder is made.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: str | Path, data: bytes, durable: bool = False) -> None:
    """Write a whole file at once; `durable` returns only when it would outlive a power cut."""
    with replacing(path) as temporary, temporary.open("xb") as stream:
        stream.write(data)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
    if durable:
        _sync_folder(Path(path).parent)


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file at once: UTF-8, lines ended as they are in `text`."""
    write_bytes(path, text.encode())


def _sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a rename is not there before that."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
