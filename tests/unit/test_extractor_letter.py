"""Letters from replies: what is one, why everything else is none, whatever the text."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.errors import SpecError
from gensight.extractors import Answer
from gensight.extractors import letter as letter_extractor
from gensight.extractors.letter import parse

REASONS = {"empty", "no_letter", "not_an_option", "other_script", "prose", "several_letters"}
CHOSEN = {
    "A": "A",
    "J": "J",
    "c": "C",
    " B\n": "B",
    "B.": "B",
    "B .": "B",
    "(B)": "B",
    "B)": "B",
    "( B ).": "B",
    "**B**": "B",
    "**B.**": "B",
    "**B**.": "B",
    "__(b)__": "B",
    "\u00a0B\u2003": "B",
    "Answer: D": "D",
    "answer: d": "D",
    "ANSWER : (D).": "D",
    "**Answer:** D": "D",
    "**Answer**: D": "D",
    "**Answer: D**": "D",
    "Answer: **D**": "D",
    "It has four legs, so A or B.\nAnswer: B": "B",
    "Answer: B\r\nIt has four legs.": "B",
    "Answer: B\n\nAnswer: b.": "B",
}
OTHERS = {
    "": "empty",
    " \r\n\t": "empty",
    "****": "empty",
    ".": "no_letter",
    "?": "no_letter",
    "1": "no_letter",
    "cat": "no_letter",
    "Cat": "no_letter",
    "AB": "no_letter",
    "A1": "no_letter",
    "It cannot be told from the grid.": "no_letter",
    "Answer:": "no_letter",
    "Answer: cat": "no_letter",
    "K": "not_an_option",
    "z": "not_an_option",
    "Answer: K": "not_an_option",
    "\u0410": "other_script",  # Cyrillic
    "\u0391": "other_script",  # Greek
    "\uff21": "other_script",  # fullwidth
    "\u212a": "other_script",  # the Kelvin sign, whose lower case is an ASCII k
    "\u00e1": "other_script",
    "\u732b": "other_script",
    "Answer: \u0412": "other_script",
    "C. cat": "prose",
    "C: cat": "prose",
    "The answer is C": "prose",
    "My answer: C": "prose",
    "(C": "prose",
    "C..": "prose",
    "C!": "prose",
    "[C]": "prose",
    "`C`": "prose",
    '{"answer": "C"}': "prose",
    "Answer: C. cat": "prose",
    "Answer:\nC": "prose",
    "Answer: C\nAnswer: cat": "prose",
    "A or B": "several_letters",
    "A, B": "several_letters",
    "A\nB": "several_letters",
    "Answer: A\nAnswer: B": "several_letters",
    "Answer: A\nAnswer: A or B": "several_letters",
    "Answer: A\nAnswer: \u0410": "several_letters",
    "I think it is C": "several_letters",
}


def answer(text):
    return Answer(text=text, source_width=8, source_height=8)


@pytest.mark.parametrize("text", CHOSEN)
def test_replies_that_choose(text):
    (reading,) = letter_extractor.extract(answer(text), {})
    assert (reading.status, reading.fields["text"]) == ("ok", CHOSEN[text])


@pytest.mark.parametrize("text", OTHERS)
def test_everything_else_is_invalid_for_a_reason(text):
    (reading,) = letter_extractor.extract(answer(text), {})
    assert (reading.status, reading.reason) == ("invalid", OTHERS[text])
    assert "text" not in reading.fields
    assert OTHERS[text] in reading.detail
    assert reading.detail.isascii()


def test_the_reasons_are_those_documented():
    assert set(OTHERS.values()) == REASONS
    assert all(f"`{reason}`" in letter_extractor.__doc__ for reason in REASONS)


def test_no_text_is_no_output():
    (reading,) = letter_extractor.extract(answer(None), {})
    assert (reading.status, reading.reason) == ("no_output", "no_text")


def test_the_number_of_options_is_a_parameter():
    (reading,) = letter_extractor.extract(answer("D"), {"options": 3})
    assert reading.reason == "not_an_option"
    assert json.loads(reading.fields["parameters"]) == {"options": 3}
    (reading,) = letter_extractor.extract(answer("z"), {"options": 26})
    assert reading.fields["text"] == "Z"
    for options in (1, 27):
        with pytest.raises(SpecError, match="expected 2 to 26"):
            letter_extractor.extract(answer("A"), {"options": options})


# A character that is neither one of the ten options nor changes what surrounds one.
OTHER = st.characters().filter(lambda one: one.upper() not in set("ABCDEFGHIJ"))


@given(st.sampled_from("ABCDEFGHIJabcdefghij"), st.text(" \t\n\r"), st.text(" \t\n\r"))
def test_blanks_around_a_letter_change_nothing(letter, before, after):
    assert parse(before + letter + after, options=10) == letter.upper()
    assert parse(f"x\nAnswer:{letter}{after}", options=10) == letter.upper()


@given(OTHER)
def test_no_other_character_is_an_option(character):
    assert parse(character, options=10) in REASONS


@given(st.text(max_size=40))
@settings(deadline=None, max_examples=300)
def test_any_text_has_an_answer(text):
    check(text)


def check(text):
    found = parse(text, options=10)
    if len(found) == 1:
        assert found in "ABCDEFGHIJ"
        assert found in text.upper()
    else:
        assert found in REASONS


ALPHABET = ["A", "B", "j", "K", "Answer: ", "answer:", "\n", "\n", " ", "**", "__", "(", ")", "."]
ALPHABET += ["\u0410", "\uff21", "\ud800", "\ufeff", "\x00", "7", "cat", ":", "\r", "\u2028"]


def test_ten_thousand_random_texts():
    source = random.Random(20260611)
    chosen = 0
    for _ in range(10_000):
        text = "".join(source.choices(ALPHABET, k=source.randrange(0, 9)))
        check(text)
        chosen += len(parse(text, options=10)) == 1
    assert chosen > 200


LONG = {
    "blanks": " " * 1_000_000,
    "blanks around": " " * 500_000 + "A" + " " * 500_000,
    "blanks before a word": " " * 500_000 + "A" + " " * 500_000 + "x",
    "lines": "\n" * 1_000_000 + "A",
    "brackets": "(" * 1_000_000,
    "stars": "*" * 1_000_001,
    "letters": "A" * 1_000_000,
    "letters apart": "A " * 500_000,
    "answers": "Answer: A\n" * 100_000,
    "answers that never end": ("Answer" + " " * 1000) * 1000,
    "blanks and lines": (" " * 1000 + "\n") * 1000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_million_characters_are_read_once(name):
    """A search whose time grows with the square of the length would not come back."""
    check(LONG[name])
