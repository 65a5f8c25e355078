"""Sheets of human raters: kappa by hand, recalls, and sheets that cannot be used."""

import csv
import io

import pytest

from gensight.errors import GensightError
from gensight.failures import labels


def sheet(**classes):
    return labels.Sheet({item: {"item": item} for item in classes}, classes)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Cohen 1960 by hand: agreed .7, chance .5 * .6 + .5 * .4 = .5
        (["a"] * 5 + ["b"] * 5, ["a"] * 4 + ["b"] + ["a"] * 2 + ["b"] * 3, 0.4),
        (["a", "b", "c"], ["a", "b", "c"], 1.0),
        (["a", "b"], ["b", "a"], -1.0),
        (["a", "a"], ["a", "a"], None),
        ([], [], None),
    ],
)
def test_kappa(first, second, expected):
    assert labels.kappa(first, second) == (None if expected is None else pytest.approx(expected))


def test_agreement_is_on_classes_of_what_both_labelled():
    first = sheet(a="ok", b="drift:local", c="copy", d="ok")
    second = sheet(a="ok", b="drift:global", c="filter", e="ok")
    found = labels.agreement(first, second)
    assert found["labelled_by_first"] == found["labelled_by_second"] == 4
    assert (found["labelled_by_both"], found["agreed"]) == (3, 2)
    assert found["items"] == ["a", "b"]
    assert found["kappa"] == pytest.approx((2 / 3 - 2 / 9) / (7 / 9))
    assert "synthetic validation only (3 of 200" in found["note"]


def test_two_hundred_answers_labelled_by_both_end_the_words():
    many = sheet(**{f"i{n}": "ok" for n in range(200)})
    assert labels.agreement(many, many)["note"] == "validated against 200 human labels"
    assert labels.agreement(many, many)["kappa"] is None


def test_recalls_count_abstention_as_a_miss():
    pairs = [("ok", "ok")] * 6 + [("ok", "ambiguous")] * 2 + [("drift:local", "drift:global")]
    found = {row["class"]: row for row in labels.recalls(pairs, [f"s{i}" for i in range(9)])}
    assert list(found) == ["ok", "drift"]
    assert (found["ok"]["recall"], found["ok"]["n"], found["ok"]["abstained"]) == (75, 8, 2)
    assert 0 < found["ok"]["low"] < 75 < found["ok"]["high"] < 100
    assert found["drift"]["recall"] == 100
    assert found["drift"]["low"] is None  # one picture says nothing of others


def test_intervals_are_wider_where_pictures_repeat():
    pairs = [("ok", "ok")] * 4 + [("ok", "copy")] * 4
    (apart,) = labels.recalls(pairs, [f"s{i}" for i in range(8)])
    (together,) = labels.recalls(pairs, ["a"] * 4 + ["b"] * 4)
    assert together["high"] - together["low"] > apart["high"] - apart["low"]


LINE = {"item": "i1", "sample": "s1", "task": "depth", "class": "", "severity": ""}


def test_a_sheet_written_and_filled_is_read_back():
    text = labels.sheet_text([LINE, {**LINE, "item": "i2", "sample": 'with "quotes", commas'}])
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(labels.COLUMNS)
    rows[0]["class"] = " wrong_format:colormap "
    stream = io.StringIO()
    writer = csv.DictWriter(stream, labels.COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    # Spreadsheets add a byte order mark.
    found = labels.read_sheet("s.csv", b"\xef\xbb\xbf" + stream.getvalue().encode())
    assert found.classes == {"i1": "wrong_format:colormap"}
    assert found.lines["i2"]["sample"] == 'with "quotes", commas'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item;class\n", "lacks the columns class, item"),
        ("item,class\ni1,okay\n", "line 2: class 'okay' is not known"),
        ("item,class\ni1,ok\ni1,\n", "line 3: item 'i1' is there twice"),
        ("", "lacks the columns"),
    ],
)
def test_sheets_that_cannot_be_used(text, message):
    with pytest.raises(GensightError, match=f"s.csv: {message}"):
        labels.read_sheet("s.csv", text.encode())


def test_a_sheet_in_another_coding():
    with pytest.raises(GensightError, match="not a CSV file in UTF-8"):
        labels.read_sheet("s.csv", "item,class\nGrüße,ok\n".encode("utf-16"))
