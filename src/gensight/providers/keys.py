"""Keys: from the environment, or from a file that only its owner may read.

The file is YAML, or lines `NAME=value` as a shell reads them; its names are those of the
environment's variables. Whether git tracks it is not looked at: keep it outside the repository.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path

import yaml

from gensight import providers
from gensight.errors import SpecError
from gensight.providers import secrets

READABLE_BY_OTHERS = 0o077
LARGEST_BYTES = 1 << 20
LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
# What HTTP lets stand in a header; anything else would break off every request.
KEY = re.compile(r"[!-~]+")


def find_key(provider: str, keys_file: str | None, root: Path) -> str:
    """Return a provider's key; "" for a provider that asks for none.

    The first variable that is set wins, then the first that the file names. The key is registered
    with `secrets`. `keys_file` is relative to `root`, and `~` is the user's home.

    Raises:
        SpecError: there is no key, or the file cannot be used; no error holds any of its content.
    """
    variables: list[str] = providers.load(provider).KEY_VARIABLES
    if not variables:
        return ""
    names = " or ".join(variables)
    for variable in variables:
        if value := os.environ.get(variable, "").strip():
            return _checked(value, f"the environment variable {variable}")
    if keys_file is None:
        raise SpecError(
            f"{provider}: no key: set the environment variable {names}, or write it into a file "
            f"of mode 600 and name that file in the config key 'keys_file'"
        )
    path = root / Path(keys_file).expanduser()
    told = _read(path, names)
    for variable in variables:
        if value := told.get(variable, "").strip():
            return _checked(value, f"{path}: {variable}")
    raise SpecError(
        f"{path}: has no key for {provider}; add a line for {names}, or set that variable in the "
        f"environment (this file is the config's 'keys_file')"
    )


def _checked(value: str, place: str) -> str:
    if not KEY.fullmatch(value):
        raise SpecError(
            f"{place}: is not a key: it holds a space, a line break or a letter that is not ASCII; "
            f"copy it again from the provider's page"
        )
    secrets.register(value)
    return value


def _read(path: Path, names: str) -> dict[str, str]:
    text, problem = _text_of(path)
    told = None if text is None else _lines(text) or _mapping(text)
    if told is not None:
        return told
    if problem is None:
        problem = f"is neither YAML nor lines NAME=value; write one line for each key ({names})"
    # Raised here, outside of any `except`: a parser's own error would quote the file.
    raise SpecError(f"{path}: {problem} (this file is the config's 'keys_file')")


def _text_of(path: Path) -> tuple[str | None, str | None]:
    """Return what a file holds, or what is wrong with it.

    It is opened before it is looked at, so that what is read is what was looked at; without
    waiting, since a pipe may have nobody who writes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return None, f"cannot be read: {error.strerror}; make it, or correct the config"
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return None, "is not a file"
        if facts.st_mode & READABLE_BY_OTHERS:
            return None, f"others may read it; run: chmod 600 {shlex.quote(str(path))}"
        data = os.read(descriptor, LARGEST_BYTES)
    finally:
        os.close(descriptor)
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError:
        return None, "is not UTF-8"


def _lines(text: str) -> dict[str, str] | None:
    """Return the names and values of shell lines; None where any line is something else."""
    told: dict[str, str] = {}
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        found = LINE.fullmatch(line)
        if found is None:
            return None
        told[found[1]] = _unquoted(found[2].strip())
    return told


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _mapping(text: str) -> dict[str, str] | None:
    """Return one flat YAML mapping, its values as they are written; None where it is none."""
    try:
        told = yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if told is None:
        return {}
    flat = isinstance(told, dict) and all(
        isinstance(value, str) for pair in told.items() for value in pair
    )
    return told if flat else None
