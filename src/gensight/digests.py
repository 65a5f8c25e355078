"""Canonical JSON and stable digests: the one definition of "determined by the same things"."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any


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


def differences(
    old: Any, new: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (dotted key, old value, new value) for every leaf that differs between two trees."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), (*path, str(key)))
    elif old != new:
        yield ".".join(path), old, new
