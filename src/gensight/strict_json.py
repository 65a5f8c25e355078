"""Replies that should be one JSON value and nothing else: the value, or the first rule broken.

Nothing is repaired: no bracket is closed, no comma removed, nothing searched for inside prose. One
Markdown fence, bare or `json`, whose two lines enclose the whole trimmed reply, can be taken off
first by those who forgive it. The rules, in order: `empty` (blanks only), `too_deep` (brackets more
than 32 deep, quoted ones not counted), `not_json` (a syntax error, which a byte order mark, a
trailing comma, NaN and Infinity are too), `text_after` (more than one JSON value, or prose behind
one), `repeated_key` (one object, however deep, that says the same key twice: readers differ in
which they keep).

Any text at all is a value or breaks a rule, in a time that grows with its length and no faster.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

DEEPEST = 32
# The blanks of JSON; others are no part of a JSON text.
BLANKS = " \t\n\r"
FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(|.*\n)```", re.DOTALL)
# A quoted string, or what is left of the text where it never ends: so every quote is met once.
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
SHOWN = 60


class BrokenRuleError(ValueError):
    """A text or a value is not what was asked for; `rule` is the first one broken, `detail` how."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule
        self.detail = detail


def without_fence(text: str) -> str | None:
    """Return what a fence encloses, None where no fence encloses the whole trimmed text.

    >>> without_fence("```json" + chr(10) + "{}" + chr(10) + "```")
    '{}\\n'
    """
    fence = FENCE.fullmatch(text.strip(BLANKS))
    return None if fence is None else fence[1]


def read_value(text: str, *, whole: Callable[[str], Any] = float) -> Any:
    """Return the one JSON value that a text is; `whole` makes a number of whole numbers' digits.

    >>> read_value('{"a": [1, 2.5]}')
    {'a': [1.0, 2.5]}

    Raises:
        BrokenRuleError: the text is no such value.
    """
    body = text.strip(BLANKS)
    if not body:
        raise BrokenRuleError("empty", "the reply holds nothing but blanks")
    if _depth(body) > DEEPEST:
        raise BrokenRuleError("too_deep", f"brackets stand more than {DEEPEST} deep")
    repeated: list[str] = []
    try:
        # By default no whole number is of use, and `int` would refuse one of 5,000 digits.
        value, end = json.JSONDecoder(
            object_pairs_hook=partial(_object, repeated),
            parse_int=whole,
            parse_constant=_refuse_constant,
        ).raw_decode(body)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BrokenRuleError("not_json", f"{error.msg} at {place}") from None
    if end < len(body):
        rest = shown(body[end:].lstrip(BLANKS))
        raise BrokenRuleError("text_after", f"behind the JSON value stands {rest}")
    if repeated:
        raise BrokenRuleError("repeated_key", f"{shown(repeated[0])} stands twice in an object")
    return value


def shown(value: Any) -> str:
    """Return the beginning of a value in ASCII, so that any log can hold it."""
    if isinstance(value, str):
        return ascii(value if len(value) <= SHOWN else f"{value[:SHOWN]}...")
    kinds = {dict: "an object", list: "a list", int: "a number", float: "a number"}
    if isinstance(value, bool):
        return "true or false"
    return kinds.get(type(value), "null")


def _depth(text: str) -> int:
    """Return how deep the brackets of a text nest, or a bound that is not above the limit."""
    opened = text.count("[") + text.count("{")
    if opened <= DEEPEST:
        return opened
    bare = STRING.sub("", text)
    # Only ASCII counts, and one byte a character is enough to tell it.
    marks = np.frombuffer(bare.encode("ascii", "replace"), np.uint8)
    steps = np.zeros(marks.size, np.int64)
    steps[(marks == ord("[")) | (marks == ord("{"))] = 1
    steps[(marks == ord("]")) | (marks == ord("}"))] = -1
    return int(steps.cumsum().max(initial=0))


def _object(repeated: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, and note the first of its keys that stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
                break
            seen.add(key)
    return found


def _refuse_constant(name: str) -> Any:
    raise BrokenRuleError("not_json", f"{name} is no JSON")
