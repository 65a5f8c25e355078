"""Points from a judge's reply, or the first rule that it broke.

Nothing is clamped, filled in or looked for in prose, and no number of the judge's own is its total:
that is the sum of the dimensions. Kinds of reply (`gensight.specs.rubric`):

- `json`: one object, by the rules of `gensight.strict_json`, then `not_object`, `no_dimension`,
  `unknown_key` (neither a dimension nor one of the rubric's notes and ignored keys), and for every
  dimension `no_score` (it should be an object with `score`, and is none), `not_whole` (a score that
  is no whole number: 5.0, true and "5" are none either) and `out_of_range`. Each is asked of all
  dimensions before the next. `fenced` is what the strict reading says of one fence around the
  whole reply, before anything else; the lenient one takes it off and records it.
- `score_line`: exactly one line `Name: X` of the asked name, in either case, bold marks (** or __)
  around name, points or both, and blanks, allowed; X are ASCII digits, no 0 before others.
  `no_line` (also if there is one of another name), `several_lines` (even if they say the same),
  `malformed_line` (the asked name and a colon, and then anything but points), `out_of_range`. A
  line begins with its name: whatever else the reply holds does not matter.

A reply of blanks only is `empty`, whichever it should be.

Any text gets a verdict, in a time that grows with its length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gensight.outcomes import INFRASTRUCTURE_OUTCOMES, Outcome
from gensight.specs.rubric import DimensionSpec, RubricSpec
from gensight.strict_json import BrokenRuleError, read_value, shown, without_fence

#: More digits than any score has; more are a number beyond every range.
MOST_DIGITS = 18
HUGE = 10**MOST_DIGITS
NOTE_CHARACTERS = 500

REFUSALS = (Outcome.REFUSED_INPUT, Outcome.REFUSED_OUTPUT)
#: What another reply may mend; one that refuses is an answer.
ASKED_AGAIN = ("unparseable", "empty")

_LINES = re.compile(r"\r\n|\r|\n")
# Repetitions keep what they took (`*+`), so that no line is read twice.
_BLANKS = r"\s++"
_MARK = r"\s*+(?:\*\*|__)?+\s*+"
_POINTS = re.compile(rf"{_MARK}{_MARK}(?P<digits>0|[1-9][0-9]*+){_MARK}{_MARK}")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a judge's reply is worth.

    `status` is `ok` (then there are `points` by dimension), `unparseable`, `refused`, `empty`, or
    `no_answer` where no reply arrived; `reason` is the first broken rule or the outcome, `detail`
    says how. `notes` are what the judge wrote besides, by the rubric's names.
    """

    status: str
    reason: str | None = None
    detail: str | None = None
    points: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    fence_stripped: bool = False

    @property
    def total(self) -> int | None:
        """Return the sum of the points, None where there are none."""
        return sum(self.points.values()) if self.points else None

    @property
    def is_asked_again(self) -> bool:
        """Whether the same question may be put once more."""
        # A reply that was cut at its limit has climbed its ladder of lengths.
        return self.status in ASKED_AGAIN and self.reason != Outcome.TRUNCATED


def judge(outcome: str, text: str | None, rubric: RubricSpec, reading: str = "lenient") -> Verdict:
    """Return the verdict on a judge's reply, from how its request ended and what it says."""
    if outcome in INFRASTRUCTURE_OUTCOMES:
        return Verdict(status="no_answer", reason=outcome)
    if outcome in REFUSALS:
        return Verdict(status="refused", reason=outcome)
    if outcome == Outcome.MALFORMED and not (text or "").strip():
        return Verdict(status="empty", reason=outcome)  # what adapters call a reply without words
    if outcome != Outcome.OK:
        return Verdict(status="unparseable", reason=outcome)
    return read(text or "", rubric, reading)


def read(text: str, rubric: RubricSpec, reading: str = "lenient") -> Verdict:
    """Return the verdict on the text of a reply; no text raises anything."""
    if not text.strip():
        return Verdict(status="empty", reason="empty")
    try:
        if rubric.reply == "score_line":
            return _read_line(text, rubric.dimensions[0])
        return _read_json(text, rubric, reading)
    except BrokenRuleError as broken:
        return Verdict(status="unparseable", reason=broken.rule, detail=broken.detail)


def _read_json(text: str, rubric: RubricSpec, reading: str) -> Verdict:
    bare = without_fence(text)
    if bare is not None and reading == "strict":
        raise BrokenRuleError("fenced", "a fence encloses the reply")
    value = read_value(text if bare is None else bare, whole=_whole)
    if not isinstance(value, dict):
        raise BrokenRuleError("not_object", f"not an object but {shown(value)}")
    _check_keys(value, rubric)
    return Verdict(
        status="ok",
        points=_points(value, rubric),
        notes={name: _note(value[name]) for name in rubric.notes if name in value},
        fence_stripped=bare is not None,
    )


def _whole(digits: str) -> int:
    """Return a whole number, of which all that lie beyond every range are alike."""
    if len(digits) <= MOST_DIGITS:
        return int(digits)
    return -HUGE if digits.startswith("-") else HUGE


def _check_keys(value: Mapping[str, Any], rubric: RubricSpec) -> None:
    names = [dimension.name for dimension in rubric.dimensions]
    for name in names:
        if name not in value:
            raise BrokenRuleError("no_dimension", f"the object has no '{name}'")
    for key in value:
        if key not in {*names, *rubric.notes, *rubric.ignored}:
            raise BrokenRuleError("unknown_key", f"nothing asks for {shown(key)}")


def _points(value: Mapping[str, Any], rubric: RubricSpec) -> dict[str, int]:
    """Return the points by dimension; each rule is asked of all of them before the next."""
    found = {dimension.name: value[dimension.name] for dimension in rubric.dimensions}
    if rubric.reasons:
        for name, scored in found.items():
            if not isinstance(scored, dict) or "score" not in scored:
                raise BrokenRuleError("no_score", f"'{name}' is no object with a score")
        found = {name: scored["score"] for name, scored in found.items()}
    for name, score in found.items():
        if type(score) is not int:  # true and false are whole numbers to Python
            raise BrokenRuleError("not_whole", f"'{name}' is no whole number but {_told(score)}")
    for dimension in rubric.dimensions:
        _check_range(dimension, found[dimension.name])
    return found


def _check_range(dimension: DimensionSpec, score: int) -> None:
    if not dimension.least <= score <= dimension.most:
        raise BrokenRuleError(
            "out_of_range",
            f"'{dimension.name}' is {score}, not {dimension.least} to {dimension.most}",
        )


def _told(score: Any) -> str:
    return str(score) if isinstance(score, float) else shown(score)


def _note(value: Any) -> str:
    """Return a judge's note, a text as it is, anything else as JSON, cut at 500 characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # Half a surrogate pair, which JSON can escape, has no UTF-8.
    return text[:NOTE_CHARACTERS].encode("utf-8", "replace").decode()


def _read_line(text: str, dimension: DimensionSpec) -> Verdict:
    statement = _statement(dimension.line or "")
    said = [found for line in _LINES.split(text) if (found := statement.match(line))]
    if not said:
        raise BrokenRuleError("no_line", f"no line says '{dimension.line}:'")
    if len(said) > 1:
        raise BrokenRuleError("several_lines", f"{len(said)} lines say '{dimension.line}:'")
    points = _POINTS.fullmatch(said[0]["rest"])
    if points is None:
        rest = shown(said[0]["rest"].strip())
        raise BrokenRuleError("malformed_line", f"'{dimension.line}:' is followed by {rest}")
    score = _whole(points["digits"])
    _check_range(dimension, score)
    return Verdict(status="ok", points={dimension.name: score})


def _statement(line: str) -> re.Pattern[str]:
    """Return what a line begins with that states a score: the name and a colon, marked or not.

    Either case of each letter is spelled out: ignoring case would let in the Kelvin sign for a K.
    """
    words = ("".join(f"[{c.lower()}{c.upper()}]" for c in word) for word in line.split(" "))
    return re.compile(rf"{_MARK}{_BLANKS.join(words)}{_MARK}:(?P<rest>.*)", re.DOTALL)
