"""Pieces of a provider's JSON, taken without trusting that they are what they should be."""

from __future__ import annotations

from typing import Any


def elements(value: Any) -> list[Any]:
    """Return a list's elements; nothing of what is no list."""
    return value if isinstance(value, list) else []


def tokens(value: Any) -> int | None:
    """Return a count of tokens; None for what is none, 0 where it is left out."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value
