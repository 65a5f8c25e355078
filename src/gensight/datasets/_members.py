"""The files of a data set, in a folder or in a tar archive, found by name and read one at a time.

An archive is walked once for the place of every member; reading one is then a seek in a plain file,
so an archive is neither unpacked nor kept open. Members carry the names that the data set's lists
use: a leading "./" is dropped. Compressed archives have no such places and are refused.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gensight.errors import AbsentDataError, MissingDataError, SpecError


@dataclass(frozen=True)
class Stretch:
    """Where one file's bytes lie: all of `path`, or `size` bytes of it from `offset`."""

    path: Path
    member: str | None = None
    offset: int = 0
    size: int | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}: {self.member}"

    def read(self) -> bytes:
        """Return the bytes.

        Raises:
            MissingDataError: the file is not there, cannot be read, or ends before the member does.
        """
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.offset)
                data = stream.read(-1 if self.size is None else self.size)
        except OSError as error:
            raise MissingDataError(f"{self}: cannot be read: {error.strerror}") from error
        if self.size is not None and len(data) != self.size:
            raise MissingDataError(f"{self}: the archive is cut off; download it again")
        return data


@dataclass(frozen=True)
class Folder:
    """Files below a folder."""

    root: Path

    def find(self, name: str) -> Stretch | None:
        """Return where a file lies, None where there is none."""
        path = self.root / name
        return Stretch(path) if path.is_file() else None

    def names(self, under: str, suffix: str) -> list[str]:
        """Return the sorted names of the files below `under` that end in `suffix`."""
        found = (self.root / under).rglob(f"*{suffix}")
        return sorted(path.relative_to(self.root).as_posix() for path in found if path.is_file())


@dataclass(frozen=True)
class Archive:
    """Members of an uncompressed tar."""

    members: dict[str, Stretch]

    def find(self, name: str) -> Stretch | None:
        """Return where a member lies, None where there is none."""
        return self.members.get(name)

    def names(self, under: str, suffix: str) -> list[str]:
        """Return the sorted names of the members below `under` that end in `suffix`."""
        start = f"{under}/" if under else ""
        below = (name for name in self.members if name.startswith(start))
        return sorted(name for name in below if name.endswith(suffix))


Store = Folder | Archive


def open_store(path: Path) -> Store:
    """Return the files of a folder or of an uncompressed tar.

    Raises:
        MissingDataError: the archive is cut off, compressed, or no tar at all.
    """
    return Folder(path) if path.is_dir() else Archive(_members(path))


def read_list(path: Path, fields: Iterable[int]) -> list[list[str]]:
    """Return the words of each line of a list file; empty lines are left out.

    `fields` are the numbers of words that a line may have.

    Raises:
        SpecError: it is no file or not text, or a line has another number of words.
    """
    key = "dataset.parameters.list_file"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: {key}: the file is not text") from error
    except OSError as error:
        raise SpecError(f"{path}: {key}: cannot be read ({error.strerror})") from error
    allowed = tuple(fields)
    rows = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words and len(words) not in allowed:
            raise SpecError(
                f"{path}: line {number} has {len(words)} words where "
                f"{' or '.join(map(str, allowed))} are expected; give the list of the data set"
            )
        rows += [words] if words else []
    return rows


def first_of(root: Path, names: Sequence[str]) -> Path:
    """Return the first of these files or folders that exists below `root`.

    Raises:
        AbsentDataError: none does; the message names them.
    """
    for name in names:
        if (root / name).exists():
            return root / name
    raise AbsentDataError(f"{root} holds none of: {', '.join(names)}")


def _members(path: Path) -> dict[str, Stretch]:
    found = {}
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if member.isreg() and not member.issparse():
                    name = member.name.removeprefix("./")
                    found[name] = Stretch(path, name, member.offset_data, member.size)
    except tarfile.TarError as error:
        raise MissingDataError(
            f"{path}: not a whole, uncompressed tar ({error}); download it again, or unpack it"
        ) from error
    except OSError as error:
        raise MissingDataError(f"{path}: cannot be read: {error.strerror}") from error
    return found
