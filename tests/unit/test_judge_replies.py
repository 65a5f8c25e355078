"""What a judge's reply is worth: every rule, both forms, and whatever else a judge sends."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensight.judges import replies
from gensight.judges.replies import judge, read
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES, Outcome
from gensight.specs.rubric import RubricSpec

RUBRIC = RubricSpec.model_validate(
    {
        "task": "text_to_pixel",
        "reply": "json",
        "dimensions": [{"name": "subject", "most": 20}, {"name": "detail", "least": 1, "most": 5}],
        "notes": ["seen", "flags"],
        "ignored": ["total"],
        "parts": [{"text": "Judge."}, {"picture": "answer"}],
    }
)
BARE = RUBRIC.model_copy(update={"reasons": False})


def line_rubric(line, **dimension):
    return RubricSpec.model_validate(
        {
            "task": "text_to_pixel",
            "reply": "score_line",
            "dimensions": [{"name": "points", "most": 2, "line": line, **dimension}],
            "parts": [{"picture": "answer"}],
        }
    )


RULE_COMPLIANCE = line_rubric("Rule Compliance")
RULES = set(re.findall(r"`([a-z_]+)`", replies.__doc__.partition("Kinds of reply")[2]))
RULES -= {"json", "score_line", "score"}


def reply(subject="12", detail="3", more=""):
    scored = f'"subject": {{"score": {subject}, "reason": "r"}}, "detail": {{"score": {detail}}}'
    return f"{{{scored}{more}}}"


GOOD = {
    "plain": reply(),
    "blanks around": f" \n{reply()}\r\n\t",
    "indented": json.dumps(json.loads(reply()), indent=2),
    "in another order": '{"detail": {"score": 3}, "subject": {"reason": null, "score": 12}}',
    "notes": reply(more=', "seen": "a cat", "flags": []'),
    "a total of its own": reply(more=', "total": 99'),
    "other words within a dimension": reply().replace('"r"', '[1, {"score": 7}]'),
    "an exponent elsewhere": reply(more=', "total": 1e999'),
}


@pytest.mark.parametrize("case", GOOD)
def test_replies_that_are_read(case):
    found = read(GOOD[case], RUBRIC)
    assert (found.status, found.points, found.fence_stripped) == (
        "ok",
        {"subject": 12, "detail": 3},
        False,
    )
    assert found.total == 15
    assert read(GOOD[case], RUBRIC, "strict") == found


# (reply, first broken rule)
BROKEN = {
    "an apology": ("I am sorry, I cannot judge this.", "not_json"),
    "prose before": ("Here it is: " + reply(), "not_json"),
    "prose behind": (reply() + " I hope this helps.", "text_after"),
    "two values": (reply() + reply(), "text_after"),
    "cut": (reply()[:-1], "not_json"),
    "a trailing comma": (reply(more=","), "not_json"),
    "NaN": (reply("NaN"), "not_json"),
    "Infinity as a note": (reply(more=', "seen": Infinity'), "not_json"),
    "a fence that does not close": (f"```json\n{reply()}", "not_json"),
    "a sentence behind a fence": (f"```\n{reply()}\n```\nDone.", "not_json"),
    "brackets": ("[" * 100_000, "too_deep"),
    "a list": (f"[{reply()}]", "not_object"),
    "a number": ("15", "not_object"),
    "null": ("null", "not_object"),
    "a dimension twice": (reply(more=', "detail": {"score": 4}'), "repeated_key"),
    "a score twice": (reply('12, "score": 13'), "repeated_key"),
    "no dimension": ('{"subject": {"score": 12}}', "no_dimension"),
    "an empty object": ("{}", "no_dimension"),
    "another case": (reply().replace("detail", "Detail"), "no_dimension"),
    "a dimension too many": (reply(more=', "mood": {"score": 1}'), "unknown_key"),
    "a total by another name": (reply(more=', "sum": 15'), "unknown_key"),
    "a bare number": ('{"subject": 12, "detail": {"score": 3}}', "no_score"),
    "no score": ('{"subject": {"reason": "r"}, "detail": {"score": 3}}', "no_score"),
    "null for a dimension": ('{"subject": null, "detail": {"score": 3}}', "no_score"),
    "a decimal": (reply("12.0"), "not_whole"),
    "an exponent": (reply("1e1"), "not_whole"),
    "true": (reply("true"), "not_whole"),
    "a quoted number": (reply('"12"'), "not_whole"),
    "points of points": (reply('"12/20"'), "not_whole"),
    "null for a score": (reply("null"), "not_whole"),
    "a list for a score": (reply("[12]"), "not_whole"),
    "above the most": (reply("21"), "out_of_range"),
    "below the least": (reply(detail="0"), "out_of_range"),
    "negative": (reply("-1"), "out_of_range"),
    "huge": (reply("9" * 100_000), "out_of_range"),
    "hugely negative": (reply("-" + "9" * 100_000), "out_of_range"),
    "a leading zero": (reply("012"), "not_json"),
    "other digits": (reply("\u0661"), "not_json"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_replies_that_are_not(case):
    text, rule = BROKEN[case]
    for reading in ("strict", "lenient"):
        found = read(text, RUBRIC, reading)
        assert (found.status, found.reason) == ("unparseable", rule)
        assert (found.points, found.total) == ({}, None)
        assert found.detail.isascii()
        assert found.is_asked_again


def test_each_rule_is_asked_of_all_dimensions_before_the_next():
    assert read(reply("21", "true"), RUBRIC).reason == "not_whole"
    assert read(reply("99", "99"), RUBRIC).detail == "'subject' is 99, not 0 to 20"
    assert read('{"subject": {"score": 1.5}, "detail": 3}', RUBRIC).reason == "no_score"
    assert read('{"subject": {"score": 99}, "mood": 1}', RUBRIC).reason == "no_dimension"


def test_the_ends_of_a_range_are_in_it():
    assert read(reply("0", "1"), RUBRIC).total == 1
    assert read(reply("20", "5"), RUBRIC).total == 25
    assert read(reply("-0", "1"), RUBRIC).total == 1


def test_bare_numbers_are_read_where_no_reasons_are_asked_for():
    assert read('{"subject": 12, "detail": 3}', BARE).points == {"subject": 12, "detail": 3}
    assert read(reply(), BARE).reason == "not_whole"


@pytest.mark.parametrize("mark", ["```", "```json", "```json  "])
def test_one_fence_is_forgiven_and_recorded_or_not_forgiven(mark):
    text = f"\n{mark}\n{reply()}\n```\n"
    lenient, strict = read(text, RUBRIC), read(text, RUBRIC, "strict")
    assert (lenient.total, lenient.fence_stripped) == (15, True)
    assert (strict.status, strict.reason, strict.total) == ("unparseable", "fenced", None)


def test_notes_are_kept_as_the_judge_wrote_them_and_never_spoil_points():
    more = ', "seen": "a \\ud800 cat", "flags": ["cropped", {"a": 1e999}]'
    found = read(reply(more=more), RUBRIC)
    assert found.total == 15
    assert found.notes == {"seen": "a ? cat", "flags": '["cropped", {"a": Infinity}]'}
    long = read(reply(more=f', "seen": "{"x" * 10_000}"'), RUBRIC)
    assert len(long.notes["seen"]) == replies.NOTE_CHARACTERS
    assert read(reply(), RUBRIC).notes == {}


LINES = {
    "Rule Compliance: 2": 2,
    "**Rule Compliance: 2**": 2,
    "**Rule Compliance:** 1": 1,
    "**Rule Compliance**: 1": 1,
    "Rule Compliance: **1**": 1,
    "**Rule Compliance:** **1**": 1,
    "__Rule Compliance: 0__": 0,
    "rule compliance: 0": 0,
    "RULE COMPLIANCE : 0": 0,
    "  Rule  Compliance:2  ": 2,
    "\u00a0Rule Compliance:\u00a02": 2,
    "All of it is there.\nRule Compliance: 2\nSo much for that.": 2,
    "Visual Consistency: 1\r\nRule Compliance: 2": 2,
    "I first thought of Rule Compliance: 1.\rRule Compliance: 2": 2,
    "Rule Compliance: X": "malformed_line",
    "Rule Compliance: 10": "out_of_range",
    "Rule Compliance: 3": "out_of_range",
    "Rule Compliance: " + "9" * 5000: "out_of_range",
    "Rule Compliance: 02": "malformed_line",
    "Rule Compliance: -1": "malformed_line",
    "Rule Compliance: 2.0": "malformed_line",
    "Rule Compliance: 2/2": "malformed_line",
    "Rule Compliance: 2 (perfect)": "malformed_line",
    "Rule Compliance: two": "malformed_line",
    "Rule Compliance:": "malformed_line",
    "Rule Compliance:\n2": "malformed_line",
    "Rule Compliance: \u0662": "malformed_line",
    "Rule Compliance: \u00b2": "malformed_line",
    "Rule Compliance: 1 2": "malformed_line",
    "Rule Compliance: 1**0": "malformed_line",
    "Rule Compliance: 2\nRule Compliance: 2": "several_lines",
    "Rule Compliance: 1\nRule Compliance: 2": "several_lines",
    "Rule Compliance: X\nRule Compliance: 2": "several_lines",
    "Visual Consistency: 2": "no_line",
    "Rule Compliance 2": "no_line",
    "RuleCompliance: 2": "no_line",
    "The Rule Compliance: 2": "no_line",
    "- Rule Compliance: 2": "no_line",
    "Rule Compliance\uff1a 2": "no_line",
    "2": "no_line",
    "I am sorry, I cannot judge this.": "no_line",
    '{"Rule Compliance": 2}': "no_line",
}


@pytest.mark.parametrize("text", LINES)
def test_score_lines(text):
    found = read(text, RULE_COMPLIANCE)
    if isinstance(LINES[text], int):
        assert (found.status, found.points) == ("ok", {"points": LINES[text]})
    else:
        assert (found.status, found.reason, found.total) == ("unparseable", LINES[text], None)


def test_letters_of_other_scripts_are_no_other_case():
    """Ignoring case takes the Kelvin sign for a K and a long s for an s."""
    assert read("Skill: 1", line_rubric("Skill")).total == 1
    for text in ("S\u212aill: 1", "\u017fkill: 1"):
        assert read(text, line_rubric("Skill")).reason == "no_line"


def test_a_line_has_the_range_of_its_dimension():
    rubric = line_rubric("Aesthetic Quality", least=1, most=10)
    assert read("Aesthetic Quality: 10", rubric).points == {"points": 10}
    assert read("Aesthetic Quality: 0", rubric).reason == "out_of_range"


def test_the_rules_are_those_documented():
    met = {rule for _, rule in BROKEN.values()} | {r for r in LINES.values() if isinstance(r, str)}
    assert met | {"fenced", "empty"} >= RULES > {"no_line", "not_whole"}


@pytest.mark.parametrize("text", [None, "", " \n\t", "\u00a0"])
@pytest.mark.parametrize("rubric", [RUBRIC, RULE_COMPLIANCE], ids=["json", "line"])
def test_an_empty_reply_is_empty_and_no_zero(text, rubric):
    found = judge(Outcome.OK, text, rubric)
    assert (found.status, found.points, found.total) == ("empty", {}, None)
    assert found.is_asked_again


@pytest.mark.parametrize("outcome", Outcome)
def test_how_a_request_ends_decides_before_its_text(outcome):
    found = judge(str(outcome), reply(), RUBRIC)
    if outcome == Outcome.OK:
        assert found.total == 15
    elif outcome in INFRASTRUCTURE_OUTCOMES:
        assert (found.status, found.is_asked_again) == ("no_answer", False)
    elif outcome.startswith("refused"):
        assert (found.status, found.is_asked_again) == ("refused", False)
    else:
        assert (found.status, found.reason) == ("unparseable", outcome)
        assert found.is_asked_again is (outcome != Outcome.TRUNCATED)
    assert (found.total is None) is (outcome != Outcome.OK)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda some: (
        st.lists(some, max_size=4)
        | st.dictionaries(st.sampled_from(["subject", "detail", "score", "seen"]), some)
    ),
    max_leaves=15,
)


@given(st.text(max_size=60) | VALUES.map(json.dumps), st.sampled_from(["lenient", "strict"]))
def test_any_text_has_a_verdict(text, reading):
    for rubric in (RUBRIC, BARE, RULE_COMPLIANCE):
        check(read(text, rubric, reading), rubric)


@given(st.integers(0, 20), st.integers(1, 5), st.integers(0, 2), st.text(" \t\n\r", max_size=5))
def test_what_is_written_is_read(subject, detail, points, blanks):
    assert read(blanks + reply(subject, detail) + blanks, RUBRIC).points == {
        "subject": subject,
        "detail": detail,
    }
    said = read(f"x{blanks}\nRule Compliance: {points}\n{blanks}", RULE_COMPLIANCE)
    assert said.points == {"points": points}


def check(found, rubric):
    assert found.status in {"ok", "unparseable", "empty"}
    assert (found.status == "ok") is (found.reason is None) is bool(found.points)
    if found.points:
        assert list(found.points) == list(rubric.ranges)
        for name, (least, most) in rubric.ranges.items():
            assert type(found.points[name]) is int
            assert least <= found.points[name] <= most


PIECES = ['"', "\\", "[", "]", "{", "}", ",", ":", "0", "1", "2", "9", ".", "-", "e1", " ", "\n"]
PIECES += [
    "```",
    "```json\n",
    "\n```",
    "NaN",
    "null",
    "true",
    '"score"',
    '"subject"',
    '"total": 1,',
]
PIECES += ["Rule Compliance:", "rule compliance: 1\n", "**", "__", "\r", "\u2028", "\ud800"]
PIECES += ["\uff11", "9" * 5000, "[" * 40, '"seen": "x", ', "\x00", "\ufeff"]
SEEDS = [reply(), f"```json\n{reply()}\n```", "Rule Compliance: 2", "**Rule Compliance:** 1\nyes"]


def mutated(source):
    text = source.choice(SEEDS)
    for _ in range(source.randint(1, 3)):
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.choice([0, 0, 1, 2, 9]))
        text = text[:start] + source.choice([*PIECES, "", text[start:end] * 2]) + text[end:]
    return text


def plain_reading(text):
    """Return the points of a strict JSON reply by the shortest code that says so, or None."""
    try:
        value = json.loads(text, object_pairs_hook=once)
        assert (
            {"subject", "detail"} <= set(value) <= {"subject", "detail", "seen", "flags", "total"}
        )
        subject, detail = value["subject"]["score"], value["detail"]["score"]
        assert type(subject) is int and type(detail) is int
        assert 0 <= subject <= 20 and 1 <= detail <= 5
        return {"subject": subject, "detail": detail}
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError, IndexError):
        return None


def once(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def test_ten_thousand_mutated_replies():
    """No mutation raises, and the strict verdict is that of a plain second reading."""
    source = random.Random(20260613)
    read_ok = 0
    for _ in range(10_000):
        text = mutated(source)
        found = read(text, RUBRIC, "strict")
        for rubric in (RUBRIC, BARE, RULE_COMPLIANCE):
            check(read(text, rubric), rubric)
        # NaN, 5,000 digits and forty brackets are where the plain reading differs.
        if not ("NaN" in text or "9" * 5000 in text or "[" * 40 in text):
            assert (dict(found.points) or None) == plain_reading(text), text
        read_ok += found.status == "ok"
    assert read_ok > 100


LONG = {
    "blanks": " " * 2_000_000,
    "quotes": '"' * 2_000_000,
    "brackets": "[" * 2_000_000,
    "digits": reply("9" * 2_000_000),
    "a score of digits": "Rule Compliance: " + "9" * 2_000_000,
    "blanks in a line": "Rule" + " " * 1_000_000 + "Compliance:" + " " * 1_000_000 + "x",
    "marks": "**" * 1_000_000,
    "lines": "Rule Compliance: 1\n" * 100_000,
    "lines that never say": ("Rule" + " " * 1000 + "\n") * 2000,
    "line ends": "\r\n" * 1_000_000,
}


@pytest.mark.parametrize("name", LONG)
def test_millions_of_characters_are_read_once(name):
    """A search whose time grows with the square of the length would not come back."""
    for rubric in (RUBRIC, RULE_COMPLIANCE):
        check(read(LONG[name], rubric), rubric)
