"""Letters from replies: which of the lettered options a reply chooses.

Protocol: PixelBench Appendix G asks for one letter only, A to J for ten options; the paper prints
no parsing rule, so this strict one is assumed. `options` is the number of letters that may be
chosen: that of the form of answer, unless parameters say another, and ten where neither does. Read
are, in ASCII letters of either case,

- a reply that is the letter and nothing else, and, if the reply is not,
- lines `Answer: X` and nothing else; every line that begins with `Answer:` must say one letter, and
  all of them the same.

Blanks around the letter, round brackets (both, or the closing one), one full stop behind it and
bold marks (** or __) anywhere count for nothing. Nothing is searched for inside prose, where A and
I are words.

Everything else is invalid, its `reason` one of `empty`, `no_letter` (no option stands alone, as in
the name of an option, or in a refusal), `not_an_option` (a letter behind the last option),
`other_script` (one letter that is not ASCII, however like an A it looks), `prose` (one letter among
other things), `several_letters`. No text at all is `no_output`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from gensight.errors import SpecError
from gensight.extractors import Answer, Reading
from gensight.extractors._reading import resolve

VERSION = 1

DEFAULTS: dict[str, Any] = {"variants": ["strict"], "options": None}
CHOICES = {"variants": ["strict"]}

FEWEST_OPTIONS, TEN = 2, 10
BOLD_MARKS = re.compile(r"\*\*|__")
# One letter of any script. Repetitions keep what they took (`*+`), so that no text is read twice.
LETTER = re.compile(r"\s*+(\()?+\s*+([^\W\d_])\s*+(?(1)\)|\)?+)\s*+\.?+\s*+")
ANSWER = re.compile(r"^[ \t]*+(?:[Aa]nswer|ANSWER)[ \t]*+:(.*)", re.MULTILINE)
ALONE = re.compile(r"(?<![A-Za-z0-9])[A-Z](?![A-Za-z0-9])")
SHOWN = 60


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read one letter from a reply (one variant, `strict`) into `text`, in upper case.

    Raises:
        SpecError: the options are fewer than 2 or more than there are letters.
    """
    settings = resolve("letter", parameters)
    variant, options = settings["variants"][0], settings["options"]
    if options is None:
        options = answer.form.get("options", TEN)
    if not FEWEST_OPTIONS <= options <= len(ascii_uppercase):
        raise SpecError(f"extractor letter: parameters.options: expected 2 to 26, got {options}")
    fields = {"parameters": json.dumps({"options": options})}
    if answer.text is None:
        return [Reading(variant=variant, status="no_output", reason="no_text", fields=fields)]
    found = parse(answer.text, options=options)
    if len(found) == 1:
        return [Reading(variant=variant, fields={**fields, "text": found})]
    detail = f"the reply is not one letter ({found}): {answer.text[:SHOWN]!a}"
    return [Reading(variant=variant, status="invalid", reason=found, fields=fields, detail=detail)]


def parse(text: str, *, options: int) -> str:
    """Return the upper-case letter that a text chooses, or the word for why it chooses none.

    >>> parse("**(c).**", options=10)
    'C'
    >>> parse("It has wheels." + chr(10) + "Answer: B", options=10)
    'B'
    >>> parse("A or B", options=10)
    'several_letters'
    """
    bare = BOLD_MARKS.sub("", text)
    if not bare.strip():
        return "empty"
    said = _said(bare)
    if not said or None in said:
        return _reason(bare, ascii_uppercase[:options])
    letters = {letter.upper() if letter.isascii() else letter for letter in said}
    if len(letters) > 1:
        return "several_letters"
    (letter,) = letters
    if letter not in ascii_uppercase:
        return "other_script"
    return letter if letter in ascii_uppercase[:options] else "not_an_option"


def _said(text: str) -> list[Any]:
    """Return the letter that a text is, or what each of its answer lines says: a letter or None."""
    whole = LETTER.fullmatch(text)
    if whole:
        return [whole[2]]
    lines = (LETTER.fullmatch(line[1]) for line in ANSWER.finditer(text))
    return [line and line[2] for line in lines]


def _reason(text: str, letters: str) -> str:
    """Say why a text that neither is a letter nor answers with one chooses none of these."""
    alone = {letter for letter in ALONE.findall(text) if letter in letters}
    if not alone:
        return "no_letter"
    return "prose" if len(alone) == 1 else "several_letters"
