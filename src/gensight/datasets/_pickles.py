"""Pickles of plain values, read without running anything that a pickle can ask for.

A pickle is a program: it may name any function of any installed module and have it called. The
files of lichengunc/refer hold lists, dicts, texts and numbers only, written by Python 2; a file
that asks for anything else is refused before it gets it.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NoReturn

from gensight.errors import MissingDataError

PLAIN = frozenset({str, bytes, int, float, bool, type(None)})


class _ForeignValue(Exception):
    """The pickle holds, or asks for, something that is not plain."""


class _PlainUnpickler(pickle.Unpickler):
    """Every class, function, persistent id and extension goes through these two doors."""

    def find_class(self, module_name: str, global_name: str) -> NoReturn:
        raise _ForeignValue(f"asks for {module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _ForeignValue("refers to objects outside of the file")


def load_plain(path: Path) -> Any:
    """Return the lists, dicts, texts and numbers of a pickle of any protocol.

    8-bit texts of Python 2 are read as UTF-8, of which their ASCII is a part; bytes stay bytes.

    Raises:
        MissingDataError: the file is not there, is no whole pickle, or holds anything else.
    """
    try:
        with path.open("rb") as stream:
            value = _PlainUnpickler(stream, encoding="utf-8").load()
            _check_plain(value)
    except FileNotFoundError:
        raise MissingDataError(f"{path} is not there") from None
    except _ForeignValue as error:
        raise MissingDataError(
            f"{path}: this pickle {error}; only lists, dicts, texts and numbers are read: get the "
            f"original file"
        ) from None
    # Damaged bytes make the unpickler raise nearly anything.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MissingDataError(
            f"{path}: not a whole pickle ({reason}); download it again"
        ) from error
    return value


def _check_plain(value: Any) -> None:
    """Refuse values of other types; a loop, since a container may hold itself."""
    waiting, seen = [value], set()
    while waiting:
        found = waiting.pop()
        kind = type(found)
        if kind in PLAIN:
            continue
        if kind not in (list, dict):
            raise _ForeignValue(f"holds a {kind.__name__}")
        if id(found) not in seen:
            seen.add(id(found))
            waiting.extend(found)
            waiting.extend(found.values() if kind is dict else ())
