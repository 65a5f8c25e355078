"""Whole numbers from replies: what is one, why everything else is none, whatever the text."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.extractors import Answer
from gensight.extractors import integer as integer_extractor
from gensight.extractors.integer import parse

REASONS = {
    "empty",
    "no_number",
    "prose",
    "several_numbers",
    "range",
    "decimal",
    "sign",
    "percent",
    "grouping",
    "other_digits",
    "too_long",
}
NUMBERS = {
    "0": 0,
    "12": 12,
    "007": 7,
    " 12 ": 12,
    "\n12\r\n": 12,
    "\u00a012": 12,
    "12.": 12,
    "12 .": 12,
    "**12**": 12,
    "__12__": 12,
    "** 12 **": 12,
    "**12.**": 12,
    "**12**.": 12,
    "1,234": 1234,
    "12,345,678": 12345678,
    "1\u202f234": 1234,
    "1\u2009234\u2009567": 1234567,
    "1\u00a0234": 1234,
    "**1,234**.": 1234,
    "123456789": 123456789,
    "999,999,999": 999999999,
}
OTHERS = {
    "": "empty",
    " \n": "empty",
    ".": "empty",
    "twelve": "no_number",
    "none": "no_number",
    "I cannot count the objects in this image.": "no_number",
    "****": "no_number",
    "There are 12.": "prose",
    "12 apples": "prose",
    "about 12": "prose",
    "Count: 12": "prose",
    "*12*": "prose",
    "**12**.**": "prose",
    "12..": "prose",
    "12!": "prose",
    "```12```": "prose",
    "5-7": "range",
    "5 - 7": "range",
    "5\u20137": "range",
    "between 5 and 7": "several_numbers",
    "5 to 7": "range",
    "3 or 4": "several_numbers",
    "3 4": "several_numbers",
    "1 234": "several_numbers",
    "3\n4": "several_numbers",
    "3 + 4 = 7": "several_numbers",
    "1,234\u2009567": "several_numbers",
    "5/6": "several_numbers",
    "1e3": "several_numbers",
    "12.0": "decimal",
    "1.234": "decimal",
    "-3": "sign",
    "+3": "sign",
    "\u22123": "sign",
    "12%": "percent",
    "12 percent": "percent",
    "12,34": "grouping",
    "0,123": "grouping",
    "1234,567": "grouping",
    "1,2345": "grouping",
    "٣": "other_digits",
    "１２": "other_digits",
    "²": "other_digits",
    "½": "other_digits",
    "十二": "other_digits",
    "1234567890": "too_long",
    "1,000,000,000": "too_long",
    "0000000001": "too_long",
}


@pytest.mark.parametrize("text", NUMBERS)
def test_whole_replies_that_are_a_number(text):
    (reading,) = integer_extractor.extract(answer(text), {})
    assert (reading.status, reading.fields["count"]) == ("ok", NUMBERS[text])
    assert "points" not in reading.fields


@pytest.mark.parametrize("text", OTHERS)
def test_everything_else_is_invalid_for_a_reason(text):
    (reading,) = integer_extractor.extract(answer(text), {})
    assert (reading.status, reading.reason) == ("invalid", OTHERS[text])
    assert "count" not in reading.fields
    assert reading.detail


def test_the_reasons_are_those_documented():
    assert set(OTHERS.values()) == REASONS
    assert all(f"`{reason}`" in integer_extractor.__doc__ for reason in REASONS)


def answer(text):
    return Answer(text=text, source_width=8, source_height=8)


def test_no_text_is_no_output():
    (reading,) = integer_extractor.extract(answer(None), {})
    assert (reading.status, reading.reason) == ("no_output", "no_text")


def test_the_longest_number_is_a_parameter():
    (reading,) = integer_extractor.extract(answer("1234567890"), {"max_digits": 10})
    assert reading.fields["count"] == 1234567890
    assert json.loads(reading.fields["parameters"]) == {"max_digits": 10}


@given(st.integers(0, 999_999_999), st.sampled_from([",", "\u00a0", "\u2009", "\u202f"]))
@settings(deadline=None, max_examples=50)
def test_every_number_is_read_plain_and_grouped(number, mark):
    assert parse(str(number), max_digits=9) == number
    assert parse(f"{number:,}".replace(",", mark), max_digits=9) == number


@given(st.text(max_size=40))
@settings(deadline=None, max_examples=200)
def test_any_text_has_an_answer(text):
    check(text)


def check(text):
    found = parse(text, max_digits=9)
    if isinstance(found, int):
        assert 0 <= found < 10**9
        digits = [character for character in text if character.isdigit()]
        assert int("".join(digits)) == found
    else:
        assert found in REASONS


ALPHABET = "0123456789" * 3 + " .,-+*_%\n\t\u2009\u202f\u2013aeo\u0663\uff11#"


def test_ten_thousand_random_texts():
    source = random.Random(20240611)
    for _ in range(10_000):
        check("".join(source.choices(ALPHABET, k=source.randrange(0, 30))))


LONG = {
    "digits": "1" * 1_000_000,
    "groups": "1," * 500_000,
    "blanks around": " " * 500_000 + "1" + " " * 500_000,
    "blanks before a word": " " * 500_000 + "1" + " " * 500_000 + "x",
    "blanks between": "1" + " " * 1_000_000 + "2",
    "numbers": "1 " * 500_000,
    "dashes": "1-" * 500_000,
    "stops": "." * 1_000_000,
    "decimals": "1." * 500_000,
    "stars": "*" * 1_000_000,
    "words": "no " * 300_000,
    "range that never ends": ("1" + " " * 1000) * 1000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_million_characters_are_read_once(name):
    """A search whose time grows with the square of the length would not come back."""
    check(LONG[name])
