"""The user's cache of PixMo pictures: `images/<sha256>`, with any extension or none.

A file counts only if its bytes have the sha256 of its name and are a picture that can be read. A
file that has not, an empty one above all, says that the address was tried in vain.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from gensight import images
from gensight.errors import ImageError, MissingDataError

NAME = re.compile(r"([0-9a-f]{64})(?:\..*)?", re.IGNORECASE)
WHITE = (255, 255, 255)
#: Why a picture cannot be drawn; the first may still be got.
ABSENT = "not in the folder of pictures"
DEAD = "an empty file: the address is dead"
CHANGED = "has another sha256: the picture at the address has changed"


class Pictures:
    """The files of one folder by sha256, listed once; each is opened when it is asked about."""

    def __init__(self, folder: Path) -> None:
        """List the folder; one that is not there holds nothing."""
        self.folder = folder
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        found = ((NAME.fullmatch(name), name) for name in sorted(names, reverse=True))
        # In reverse, so that of several files of one picture the first by name stays.
        self._names = {match[1].lower(): name for match, name in found if match}

    def has(self, sha256: str) -> bool:
        """Say whether there is a file of this name, whatever it holds."""
        return sha256 in self._names

    def fault(self, sha256: str) -> str | None:
        """Return why a picture cannot be used, or None."""
        name = self._names.get(sha256)
        if name is None:
            return ABSENT
        path = self.folder / name
        try:
            status = path.stat()
        except OSError:
            return ABSENT
        return _fault(path, sha256, status.st_size, status.st_mtime_ns)

    def read(self, sha256: str) -> bytes:
        """Return the bytes of a picture that has no fault.

        Raises:
            MissingDataError: it has one by now.
        """
        fault = self.fault(sha256)
        if fault is not None:
            raise MissingDataError(f"{self.folder / sha256}: {fault}")
        return (self.folder / self._names[sha256]).read_bytes()


@lru_cache(maxsize=1 << 16)
def _fault(path: Path, sha256: str, size: int, changed_ns: int) -> str | None:
    """Look into a file once for as long as its size and time stay (they are parts of the key)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not data:
        return DEAD
    if hashlib.sha256(data).hexdigest() != sha256:
        return CHANGED
    try:
        images.decode_rgb(data, matte=WHITE)
    except ImageError as error:
        return f"unreadable: {error}"
    return None
