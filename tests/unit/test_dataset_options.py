"""Options of a choice: balance, uniqueness, and what the deal depends on."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.datasets._options import LETTERS, dealt, right_letter
from gensight.errors import SpecError

HUNDRED = [f"concept {index}" for index in range(100)]


@st.composite
def lists_and_numbers(draw):
    number = draw(st.integers(2, 10))
    texts = st.text(min_size=1, max_size=8)
    return draw(st.lists(texts, min_size=number, max_size=40, unique=True)), number


@settings(max_examples=60, deadline=None)
@given(lists_and_numbers())
def test_every_list_is_dealt_evenly(drawn):
    ids, number = drawn
    options = dealt(ids, number)
    assert list(options) == ids
    assert all(len(set(printed)) == len(printed) == number for printed in options.values())
    assert all(owner in printed for owner, printed in options.items())
    shown = Counter(itertools.chain.from_iterable(options.values()))
    assert {shown[one] for one in ids} == {number}
    right = Counter(right_letter(printed, owner) for owner, printed in options.items())
    each = [right[letter] for letter in LETTERS[:number]]
    assert max(each) - min(each) <= 1
    assert sum(each) == len(ids)


def test_a_hundred_concepts_as_the_protocol_wants_them():
    """Nine times a distractor, ten times right under each letter, with ten options of 100."""
    options = dealt(HUNDRED, 10)
    distractors = Counter(
        one for owner, printed in options.items() for one in printed if one != owner
    )
    assert distractors == dict.fromkeys(HUNDRED, 9)
    right = Counter(right_letter(printed, owner) for owner, printed in options.items())
    assert right == dict.fromkeys("ABCDEFGHIJ", 10)


def test_questions_do_not_share_their_distractors():
    """One shuffle for all would give any two questions eight or nine options in common."""
    sets = [set(printed) for printed in dealt(HUNDRED, 10).values()]
    shared = [len(one & other) for one, other in itertools.combinations(sets, 2)]
    assert max(shared) <= 4
    # 10 * 9 of every concept's meetings are spread over the 99 others.
    assert sum(shared) / len(shared) == pytest.approx(90 / 99)


def test_distractors_stand_under_every_letter():
    """No place of the list is kept for the right answer or for one of the steps."""
    options = dealt(HUNDRED, 10)
    for letter in range(10):
        own = sum(printed[letter] == owner for owner, printed in options.items())
        assert own == 10
        assert len({printed[letter] for printed in options.values()}) > 50


def test_the_deal_is_a_function_of_the_set():
    options = dealt(HUNDRED, 10)
    assert dealt(HUNDRED[::-1], 10) == options
    assert dealt(tuple(HUNDRED), 10) == options
    assert list(dealt(HUNDRED[::-1], 10)) == HUNDRED[::-1]


def test_the_deal_is_the_same_everywhere():
    """Written down once: another machine, another Python or a changed rule would show here."""
    assert dealt(["apple", "bus", "cat", "dog"], 3) == {
        "apple": ["apple", "bus", "cat"],
        "bus": ["apple", "bus", "dog"],
        "cat": ["dog", "bus", "cat"],
        "dog": ["dog", "apple", "cat"],
    }


def test_a_longer_list_is_another_deal():
    """It must be: the new concept is a distractor of nine old ones."""
    grown = dealt([*HUNDRED, "one more"], 10)
    with_the_new_one = [one for one in HUNDRED if "one more" in grown[one]]
    assert len(with_the_new_one) == 9


@pytest.mark.parametrize(
    ("ids", "number", "word"),
    [
        (["a", "b", "a"], 2, "'a' is listed twice"),
        (["a", "b"], 3, "there are 2"),
        (["a", "b"], 1, "use 2 to 26"),
        (HUNDRED, 27, "use 2 to 26"),
    ],
)
def test_what_cannot_be_dealt(ids, number, word):
    with pytest.raises(SpecError, match=word):
        dealt(ids, number)
