"""Counts from text: the whole reply is one whole number, or it is invalid.

Protocol: ProbeGen 4.1 asks multimodal LLMs for a single integer; the paper prints no parsing rule,
so this strict one is assumed. Nothing is searched for inside prose, where the number found may be
another one. Read are

- ASCII digits, at most `max_digits` of them (leading zeros do no harm);
- groups of three parted by commas (1,234,567) or by the narrow or no-break blanks of the SI;
  ordinary blanks may part two numbers, a point may start decimals, so neither groups digits;
- around it blanks, one pair of bold marks (** or __), one full stop at the end.

Everything else is invalid, its `reason` one of `empty`, `no_number` (refusals, and number words:
which language would they be in?), `prose` (one number among other things), `several_numbers`,
`range`, `decimal`, `sign`, `percent`, `grouping`, `other_digits` (of another script), `too_long`. A
count has no places: `points` stay missing. No text at all is `no_output`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gensight.extractors import Answer, Reading
from gensight.extractors._reading import resolve

VERSION = 1

DEFAULTS: dict[str, Any] = {"variants": ["strict"], "max_digits": 9}
CHOICES = {"variants": ["strict"]}

BOLD_MARKS = ("**", "__")
# No-break blank, thin blank, narrow no-break blank.
GROUP_BLANKS = "\u00a0\u2009\u202f"
DIGITS = re.compile(r"[0-9]+")
GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+|(?:[\u00a0\u2009\u202f][0-9]{3})+)")
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
# What stands between the two numbers of a range, in ASCII and as dashes.
RANGE = re.compile(r"[0-9]\s*(?:-|\u2013|\u2014|~|to)\s*[0-9]")
SIGNS = "+-\u2212\u00b1"
SHOWN = 60


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read one whole number from a reply (one variant, `strict`)."""
    settings = resolve("integer", parameters)
    variant = settings["variants"][0]
    fields = {"parameters": json.dumps({"max_digits": settings["max_digits"]})}
    if answer.text is None:
        return [Reading(variant=variant, status="no_output", reason="no_text", fields=fields)]
    found = parse(answer.text, max_digits=settings["max_digits"])
    if isinstance(found, int):
        return [Reading(variant=variant, fields={**fields, "count": found})]
    detail = f"the reply is not one whole number ({found}): {answer.text[:SHOWN]!r}"
    return [Reading(variant=variant, status="invalid", reason=found, fields=fields, detail=detail)]


def parse(text: str, *, max_digits: int) -> int | str:
    """Return the whole number that a text is, or the word for why it is none.

    >>> parse("**1,234**.", max_digits=9)
    1234
    >>> parse("about 12", max_digits=9)
    'prose'
    """
    bare = _bare(text)
    if not bare:
        return "empty"
    digits = bare if DIGITS.fullmatch(bare) else _ungrouped(bare)
    if digits is None:
        return _reason(bare)
    return int(digits) if len(digits) <= max_digits else "too_long"


def _bare(text: str) -> str:
    """Take blanks, one full stop at the end and one pair of bold marks off a reply."""
    bare, stops = _without_stop(text.strip(), 1)
    for mark in BOLD_MARKS:
        if len(bare) > 2 * len(mark) and bare.startswith(mark) and bare.endswith(mark):
            return _without_stop(bare[len(mark) : -len(mark)].strip(), stops)[0]
    return bare


def _without_stop(text: str, stops: int) -> tuple[str, int]:
    if stops and text.endswith("."):
        return text[:-1].rstrip(), 0
    return text, stops


def _ungrouped(text: str) -> str | None:
    if not GROUPED.fullmatch(text):
        return None
    return text.translate({ord(mark): None for mark in "," + GROUP_BLANKS})


def _reason(text: str) -> str:
    """Say why a text is no whole number; what is most telling comes first."""
    if any(character.isnumeric() and not character.isascii() for character in text):
        return "other_digits"
    numbers = NUMBER.findall(text)
    if not numbers:
        return "no_number"
    if RANGE.search(text):
        return "range"
    if len(numbers) > 1:
        return "several_numbers"
    return _reason_of_one(text, numbers[0])


def _reason_of_one(text: str, number: str) -> str:
    start = text.find(number)
    before, after = text[:start].strip(), text[start + len(number) :].strip()
    if before and before in SIGNS and not after:
        return "sign"
    if after in ("%", "percent") and not before:
        return "percent"
    if before or after:
        return "prose"
    return "decimal" if "." in number else "grouping"
