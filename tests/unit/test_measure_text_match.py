"""Texts: folding, edit distance against the textbook recursion, rates by hand."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight import metrics
from gensight.errors import GensightError, RecordError
from gensight.measures import text_match
from gensight.measures.text_match import edit_distance, folded
from gensight.records import Prediction, Sample


def sample_of(text):
    return Sample(
        sample_id="s", rank=0, cluster_id="c", image={}, width=8, height=8, target_text=text
    )


def prediction_of(text):
    return Prediction(
        sample_id="s", rank=0, cluster_id="c", variant="ocr", status="ok", outcome="ok", text=text
    )


def measured(text, true):
    return text_match.measure(prediction_of(text), sample_of(true), {})[None]


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("zebra", "zebra"),
        ("  Zebra\n", "zebra"),
        ("STRASSE", "Straße"),
        ("ｚｅｂｒａ", "zebra"),
        ("ﬁve  cats", "Five\u00a0cats"),
        ("e\u0301t\u00e9", "\u00c9te\u0301"),
        ("two\nlines", "two lines"),
    ],
)
def test_equal_once_folded(text, true):
    parts = measured(text, true)
    assert (parts["exact"], parts["character_edits"]) == (1, 0)
    assert folded(text) == folded(true)


@pytest.mark.parametrize("text", ["a zebra", "zebra.", "zebras", "zeb ra", ""])
def test_nothing_else_is_forgiven(text):
    assert measured(text, "zebra")["exact"] == 0


def textbook(first, second):
    """Return Levenshtein's distance by its recursion."""

    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (first[i - 1] != second[j - 1]),
        )

    return distance(len(first), len(second))


WORDS = st.text(alphabet="abc 語\U0001f600", max_size=12)


@given(WORDS, WORDS)
@settings(deadline=None, max_examples=150)
def test_edit_distance_is_levenshtein_s(first, second):
    assert edit_distance(first, second) == textbook(first, second)
    assert edit_distance(first, second) == edit_distance(second, first)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("a", "a" * 9, 8)],
)
def test_known_distances(first, second, distance):
    assert edit_distance(first, second) == distance


def test_a_book_against_a_word():
    assert edit_distance("zebra", "x" * 200_000) == 200_000


def test_parts_and_rates_by_hand():
    rows = [measured("zebr", "zebra"), measured("a big zebra", "zebra"), measured("cat", "Cat")]
    assert [row["character_edits"] for row in rows] == [1, 6, 0]
    parts = {name: [row[name] for row in rows] for name in rows[0]}
    assert metrics.load("character_error_rate").aggregate(parts) == pytest.approx(100 * 7 / 13)
    assert metrics.load("exact_match").aggregate(parts) == pytest.approx(100 / 3)
    assert metrics.load("character_error_rate").value(rows[1]) == pytest.approx(120)


def test_a_failed_answer_is_the_empty_text():
    parts = text_match.failed(sample_of("zebra"), {})[None]
    assert parts == measured("", "zebra")
    assert parts == {"exact": 0, "character_edits": 5, "true_characters": 5}


@pytest.mark.parametrize("true", [None, "", " \n"])
def test_without_a_true_text_there_is_no_truth(true):
    assert text_match.measure(prediction_of("zebra"), sample_of(true), {}) is None
    assert text_match.failed(sample_of(true), {}) is None


def test_a_prediction_of_another_extractor_is_named():
    with pytest.raises(RecordError, match="holds no text; name the extractor 'text'"):
        text_match.measure(prediction_of(None), sample_of("zebra"), {})
    with pytest.raises(GensightError, match="failure"):
        text_match.failed(sample_of("zebra"), {"failure": "zero"})
