"""Canonical JSON and stable digests: the one definition of "determined by the same things"."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

#: Stands for a key or element that one of two trees does not have.
ABSENT = "(absent)"


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no blanks; floats that are whole numbers stay floats."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(value: Any) -> str:
    """Return the sha256 (64 hex digits) of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def digest_of_bytes(data: bytes) -> str:
    """Return the sha256 (64 hex digits) of bytes."""
    return hashlib.sha256(data).hexdigest()


def seed_of(*parts: object) -> int:
    """Return a 63-bit seed that depends on nothing but its parts."""
    return int(digest_of([str(part) for part in parts])[:16], 16) >> 1


def told_difference(old: Any, new: Any) -> tuple[str, str]:
    """Return the key of the difference that a person can act on, and both values in words.

    What a person chose comes before versions of code, and these before what follows from n.
    """

    def _rank(change: tuple[str, Any, Any]) -> tuple[bool, bool, str]:
        key = change[0]
        return key.split(".")[0] in ("ranks", "shard"), key.endswith("version"), key

    key, here, planned = min(differences(old, new), key=_rank)
    return key, f"{key} is {_short(here)} in the file and {_short(planned)} in the plan"


def _short(value: Any) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def differences(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Yield (dotted key, old value, new value) for every leaf that differs between two trees.

    Two trees of different digests always differ somewhere; a key that is not there is `ABSENT`.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            pair = old.get(key, ABSENT), new.get(key, ABSENT)
            yield from differences(*pair, (*path, str(key)))
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        for place, pair in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from differences(*pair, (*path, str(place)))
    elif ABSENT in (old, new) or canonical_json(old) != canonical_json(new):
        yield ".".join(path), old, new
