"""Files that a user names: read and written with errors that name them, in one line."""

from __future__ import annotations

from pathlib import Path

from gensight import atomic, images
from gensight.errors import GensightError, ImageError


def read_bytes(path: str) -> bytes:
    """Return a file's bytes; GensightError says why it cannot be opened."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise GensightError(f"{path}: {_reason(error)}") from None


def make_folder(path: Path) -> None:
    """Make a folder, with those above it, where there is none; GensightError where that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GensightError(f"{path}: cannot be made: {_reason(error)}") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file into a folder that is there; GensightError where that fails."""
    try:
        # A mistyped folder is an error here, not one to be made.
        path.parent.stat()
        atomic.write_bytes(path, data)
    except OSError as error:
        raise GensightError(f"{path}: cannot be written: {_reason(error)}") from None


def upright_size(path: str, data: bytes) -> tuple[int, int]:
    """Return (width, height) of a picture after its EXIF turn; GensightError if it is none."""
    try:
        return images.inspect(data).upright_size
    except ImageError as error:
        raise GensightError(f"{path}: {error}") from None


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (getattr(error, "strerror", None) or str(error)).lower()
