"""Frozen manifests: written, read back, and refused when they are not what was written."""

import csv
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.datasets._disk import Item
from gensight.datasets._manifest import COLUMNS, manifest_text, read_manifest
from gensight.errors import SpecError

ITEMS = [
    Item("house/1", "house", "indoors"),
    Item('with "quotes", and commas', "odd", None),
    Item("plain", "house", "outdoor"),
]
NAMES = [item.id for item in ITEMS]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "set.csv"


def text(items=ITEMS):
    return manifest_text(items, dataset="rooms", seed=3, population_n=654)


def test_a_manifest_is_a_plain_csv_file(path):
    path.write_text(text())
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["sample_id"] for row in rows] == NAMES
    assert [row["rank"] for row in rows] == ["0", "1", "2"]
    assert [row["cluster_id"] for row in rows] == ["house", "odd", "house"]
    assert [row["stratum"] for row in rows] == ["indoors", "", "outdoor"]
    digest = hashlib.sha256("".join(f"{name}\n" for name in NAMES).encode()).hexdigest()
    for row in rows:
        assert tuple(row) == COLUMNS
        whole = (row["dataset"], row["seed"], row["population_n"], row["ids_sha256"])
        assert whole == ("rooms", "3", "654", digest)


def test_ids_are_read_in_rank_order(path):
    path.write_text(text())
    assert read_manifest(path) == NAMES
    assert read_manifest(str(path)) == NAMES


def test_what_spreadsheets_do_to_a_file_is_no_change(path):
    head, *rows = text().splitlines()
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([head, *reversed(rows), ""]).encode())
    assert read_manifest(path) == NAMES


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), unique=True)
    .map(lambda names: [name for name in names if name.strip()])
    .filter(bool)
)
def test_any_ids_come_back(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("manifest") / "any.csv"
    path.write_text(text([Item(name, "c") for name in names]), encoding="utf-8")
    assert read_manifest(path) == names


def edited(edit):
    """Return what `edit` makes of the lines of a manifest, the head first."""
    return "\n".join(edit(text().splitlines())) + "\n"


def replaced(old, new):
    return edited(lambda lines: [line.replace(old, new) for line in lines])


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (edited(lambda lines: lines[:-1]), "not those that ids_sha256 was made of"),
        (edited(lambda lines: [lines[0], *lines[2:]]), "rank 0 is missing"),
        (edited(lambda lines: [*lines[:2], lines[3]]), "rank 1 is missing"),
        (edited(lambda lines: [*lines, lines[1]]), "line 5: rank 0 stands there twice"),
        (replaced("plain", "house/1"), "'house/1' stands there twice"),
        (replaced("plain", "plane"), "not those that ids_sha256 was made of"),
        (replaced("2,plain", "-2,plain"), "line 4: rank '-2' is no whole number"),
        (replaced("2,plain", "2.0,plain"), "no whole number"),
        (replaced("2,plain", "٢,plain"), "no whole number"),
        (replaced("2,plain", f"{'9' * 5000},plain"), "no whole number"),
        (replaced("2,plain", "2,"), "line 4: sample_id is empty"),
        (replaced("ids_sha256", "sha"), "no column 'ids_sha256'"),
        (replaced("sample_id", "id"), "no column 'sample_id'"),
        (text().splitlines()[0] + "\n", "lists no sample"),
        ("", "no column 'rank'"),
    ],
)
def test_a_changed_manifest_is_refused_in_one_line(path, content, word):
    path.write_text(content)
    with pytest.raises(SpecError, match=word) as caught:
        read_manifest(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_rows_of_two_manifests_do_not_mix(path):
    other = text(ITEMS[::-1]).splitlines()
    path.write_text("\n".join([*text().splitlines()[:3], other[3].replace("house/1", "plain")]))
    with pytest.raises(SpecError, match="not those that ids_sha256"):
        read_manifest(path)


def test_ranks_that_change_places_are_refused(path):
    lines = text().splitlines()
    path.write_text("\n".join([lines[0], "1" + lines[1][1:], "0" + lines[2][1:], lines[3]]))
    with pytest.raises(SpecError, match="not those that ids_sha256"):
        read_manifest(path)


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"\xff\xfe\x00", "no CSV file"), (b'rank,"sample_id\n', "no CSV file"), (None, "cannot be")],
)
def test_a_file_that_is_no_manifest_is_one_line(path, content, word):
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecError, match=word):
        read_manifest(path)
