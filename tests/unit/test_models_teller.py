"""The scripted text model: its errors and manners are those it declares."""

from collections import Counter
from dataclasses import replace

import pytest
from reference_turns import DOTS, INTEGER, answer, sample, turn

from gensight.errors import GensightError
from gensight.extractors.integer import parse
from gensight.models.reference import teller

MANY = 3000


def told(count, times=MANY):
    """What is said of `times` samples with this count."""
    one = sample(target_count=count)
    items = [replace(one, sample_id=f"s{index}") for index in range(times)]
    return [answer("teller", turn(item, INTEGER)).text for item in items]


def test_manners_have_the_declared_shares():
    manners = Counter(told(4))
    for name, share, saying in teller.MANNERS:
        found = manners.pop(saying.format(4, 7)) / MANY
        assert found == pytest.approx(share, abs=0.02), name
    assert not manners


def test_what_the_strict_parser_says_of_its_manners():
    spoken = {name: saying.format(4, 7) for name, _, saying in teller.MANNERS}
    read = {name: parse(text, max_digits=9) for name, text in spoken.items()}
    assert read == {
        "number": 4,
        "bold": 4,
        "sentence": "prose",
        "range": "range",
        "refusal": "no_number",
    }


@pytest.mark.parametrize("count", [0, 1, 5])
def test_few_are_counted_exactly(count):
    numbers = [int(text) for text in told(count, 100) if text.isdigit()]
    assert set(numbers) == {count}


@pytest.mark.parametrize("count", [6, 12])
def test_more_are_wrong_by_one_at_the_declared_rate(count):
    numbers = [int(text) for text in told(count) if text.isdigit()]
    wrong = [number for number in numbers if number != count]
    assert set(wrong) == {count - 1, count + 1}
    assert len(wrong) / len(numbers) == pytest.approx(teller.MISCOUNTS, abs=0.03)
    assert sum(number > count for number in wrong) / len(wrong) == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(("count", "said"), [(13, 10), (15, 20), (24, 20), (25, 30), (487, 490)])
def test_crowds_are_rounded_to_tens(count, said):
    assert {int(text) for text in told(count, 60) if text.isdigit()} == {said}


def test_answers_follow_from_sample_and_repeat_alone():
    item = sample("s3", target_count=9)
    base = answer("teller", turn(item, INTEGER))
    assert base == answer("teller", turn(item, INTEGER, "How many?", seed=5))
    repeats = {answer("teller", turn(item, INTEGER, repeat=repeat)).text for repeat in range(20)}
    assert len(repeats) > 2


def test_other_questions_are_refused():
    with pytest.raises(GensightError, match="'teller' has no answer of the form 'dots'"):
        answer("teller", turn(sample(target_count=2), DOTS))
    with pytest.raises(GensightError, match="target_count is missing"):
        answer("teller", turn(sample(), INTEGER))
