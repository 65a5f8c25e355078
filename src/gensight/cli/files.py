"""Files that a user names: read and written with errors that name them, in one line."""

from __future__ import annotations

import os
from pathlib import Path

from gensight import images
from gensight.errors import GensightError, ImageError


def read_bytes(path: str) -> bytes:
    """Return a file's bytes; GensightError says why it cannot be opened."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise GensightError(f"{path}: {_reason(error)}") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and rename it; GensightError where that fails."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise GensightError(f"{path}: cannot be written: {_reason(error)}") from None


def upright_size(path: str, data: bytes) -> tuple[int, int]:
    """Return (width, height) of a picture after its EXIF turn; GensightError if it is none."""
    try:
        info = images.inspect(data)
    except ImageError as error:
        raise GensightError(f"{path}: {error}") from None
    turned = info.orientation >= 5
    return (info.height, info.width) if turned else (info.width, info.height)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (getattr(error, "strerror", None) or str(error)).lower()
