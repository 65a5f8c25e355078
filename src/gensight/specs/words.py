"""Names that are not known, and the nearest that are. (No pydantic: every job imports this.)"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from gensight.errors import SpecError


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ' (did you mean 'x'?)' for the nearest known word, or an empty string."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""


def unknown(file: str | Path, key: str, word: object, known: Iterable[object]) -> SpecError:
    """Return the error for a name that does not exist, with the nearest known one first."""
    names = sorted("null" if name is None else str(name) for name in known)
    allowed = ", ".join(names) or "none"
    if word is None:
        return SpecError(f"{file}: key '{key}' is missing; allowed: {allowed}")
    hint = nearest(str(word), names)
    return SpecError(f"{file}: {key}: '{word}' is not known{hint}; allowed: {allowed}")


def refuse_unknown(file: str, key: str, words: Iterable[object], known: Iterable[object]) -> None:
    """Refuse the first word of a key that is not among those that are known.

    Raises:
        SpecError: one line naming file, key, the word, the nearest known one and all of them.
    """
    names = list(known)
    for word in words:
        if word not in names:
            raise unknown(file, key, word, names)
