"""The labels of PixelBench: the lists as taken over, the map of kinds, and what is refused."""

import hashlib
import re
import runpy
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from gensight.errors import GensightError
from gensight.published.files import read
from gensight.vocabulary import (
    FOLDER,
    concepts,
    kinds_hash,
    kinds_of,
    vocabulary,
    vocabulary_hash,
)

ROOT = Path(__file__).resolve().parents[2]
PRINTED = ROOT.parent / "shared" / "published"
# Whoever changes a list changes every number that goes with it: raise VERSION of the data set
# module pixelbench_concepts and of the measure retrieval, and write the digest down in the README.
VOCABULARY = "792e7369c1e3449422c0db93168df80879536029e41bd246ddfe83e83e71c3a0"


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    return tmp_path


def edit(root, name, old, new):
    path = root / FOLDER / name
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def labels():
    return [candidate.label for candidate in vocabulary()]


# the lists


def test_the_concepts_of_each_category():
    found = Counter(concept.category for concept in concepts())
    assert found == {
        "animal": 18,
        "food": 20,
        "household": 30,
        "transport": 15,
        "nature/symbol": 17,
    }
    by_number = {concept.number: concept.label for concept in concepts()}
    assert list(by_number) == list(range(1, 101))
    assert [by_number[n] for n in (1, 30, 81, 100)] == ["apple", "ice cream", "shoe", "castle"]


def test_the_vocabulary_begins_with_the_concepts():
    assert len(labels()) == len(set(labels())) == 500
    assert labels()[:100] == [concept.label for concept in concepts()]
    assert [c.number for c in vocabulary() if c.is_concept] == list(range(1, 101))
    assert [c.number for c in vocabulary()] == list(range(1, 501))


def test_no_label_differs_from_another_only_in_case_or_punctuation():
    plain = [re.sub("[^a-z0-9 ]", "", label.lower()) for label in labels()]
    assert len(set(plain)) == 500
    assert all(label.isascii() and label == " ".join(label.split()) for label in labels())


def test_how_much_of_the_list_is_the_papers():
    counted = Counter(candidate.state for candidate in vocabulary())
    assert counted == {"ok": 465, "repaired": 12, "guessed": 10, "lost": 13}
    told = (ROOT / FOLDER / "README.md").read_text()
    for state, count in counted.items():
        assert f"| `{state}` | {count} |" in told
    rows = read(ROOT / FOLDER / "vocabulary.csv", tuple(_header("vocabulary.csv")))
    for row in rows:
        # What is not as printed says what happened and how that is known.
        assert (row["state"] == "ok") == (row["cause"] == "")
        assert row["state"] == "ok" or row["note"]
        assert (row["cause"] == "row lost") == (row["printed"] == "")
        if row["label"] != row["printed"]:
            assert row["note"]


def _header(name):
    return (ROOT / FOLDER / name).read_text().splitlines()[0].split(",")


def test_the_digest_is_that_of_the_labels_in_order():
    text = "".join(f"{label}\n" for label in labels())
    assert vocabulary_hash() == hashlib.sha256(text.encode()).hexdigest() == VOCABULARY
    assert f"\n{VOCABULARY}\n" in (ROOT / FOLDER / "README.md").read_text()
    assert f"\n{kinds_hash()}\n" in (ROOT / FOLDER / "README.md").read_text()


def test_another_order_or_label_is_another_digest(copy):
    assert vocabulary_hash(copy) == VOCABULARY
    edit(copy, "vocabulary.csv", "\n500,ox,ox,", "\n500,yak,yak,")
    edit(copy, "hyponyms.csv", "cow,ox,yes,", "cow,yak,yes,")
    again = copy / "again"
    shutil.copytree(copy / FOLDER, again / FOLDER)
    assert vocabulary_hash(again) != VOCABULARY
    assert kinds_hash(again) != kinds_hash()


@pytest.mark.skipif(not PRINTED.exists(), reason="the papers' tables are not here")
def test_the_lists_are_those_that_were_read_from_the_paper():
    printed = read(PRINTED / "pixelbench_concepts.csv", ("id", "label", "category", "note"))
    assert [(c.number, c.label, c.category) for c in concepts()] == [
        (int(row["id"]), row["label"], row["category"]) for row in printed
    ]
    samples = PRINTED.parent / "samples/pixelbench/t2p_concepts_100.tsv"
    lines = [line.split("\t") for line in samples.read_text().splitlines()[1:]]
    assert [[str(c.number), c.label] for c in concepts()] == [line[:2] for line in lines]
    path = PRINTED / "pixelbench_vocab500.csv"
    rows = read(path, tuple(path.read_text().splitlines()[0].split(",")))
    other = [(row["id"], row["label"]) for row in rows]
    ours = [(str(c.number), c.label) for c in vocabulary()]
    assert [pair for pair in ours if pair not in other] == [("188", "yellow lady's slipper")]


def test_distractors_are_class_names_of_clip():
    """Read from the file alone: importing the package needs torch and torchvision."""
    package = find_spec("open_clip")
    if package is None:
        pytest.skip("open_clip is not installed")
    path = Path(package.origin).parent / "zero_shot_metadata.py"
    names = set(runpy.run_path(str(path))["IMAGENET_CLASSNAMES"])
    assert len(names) > 900
    strangers = {c.label for c in vocabulary() if not c.is_concept} - names
    # A spelling of the paper's own, and a short word where the class is "shipwreck".
    assert strangers == {"hammerhead", "wreck"}
    assert {"hammerhead shark", "shipwreck", "yellow lady's slipper"} <= names


# kinds


def test_kinds_by_hand():
    assert kinds_of("owl") == ("great grey owl",)
    assert kinds_of("truck") == ("garbage truck", "semi-trailer truck", "fire truck")
    assert kinds_of("boat") == ("sailboat", "fireboat", "canoe", "motorboat", "gondola")
    assert kinds_of("cat") == ("Siamese cat", "Persian cat", "Egyptian Mau")
    assert kinds_of("sheep") == ("ram (adult male sheep)", "bighorn sheep")
    assert {"Dalmatian", "collie", "Labrador Retriever"} <= set(kinds_of("dog"))
    assert kinds_of("apple") == kinds_of("great grey owl") == kinds_of("no label at all") == ()


@pytest.mark.parametrize(
    ("concept", "other"),
    [
        ("dog", "hot dog"),
        ("hammer", "hammerhead"),
        ("pig", "guinea pig"),
        ("computer", "computer keyboard"),
        ("tree", "tree frog"),
        ("cat", "cougar"),
        ("table", "table lamp"),
        ("train", "steam locomotive"),
        ("fish", "killer whale"),
    ],
)
def test_what_shares_a_word_or_a_family_is_no_kind(concept, other):
    assert other in labels()
    assert other not in kinds_of(concept)


def test_kinds_are_other_labels_of_the_vocabulary_and_go_one_way():
    asked = [concept.label for concept in concepts()]
    pairs = {(asked_for, kind) for asked_for in asked for kind in kinds_of(asked_for)}
    assert {kind for _, kind in pairs} <= set(labels())
    assert all(asked_for != kind for asked_for, kind in pairs)
    assert not {(kind, asked_for) for asked_for, kind in pairs} & pairs
    # A kind of a kind is a kind: an owl is a bird, so a great grey owl is one.
    for asked_for, kind in pairs:
        assert set(kinds_of(kind)) <= set(kinds_of(asked_for))


def test_every_distractor_with_a_concept_in_its_name_was_looked_at():
    """A pair is decided for each concept that stands in a label as a word of its own."""
    rows = read(ROOT / FOLDER / "hyponyms.csv", tuple(_header("hyponyms.csv")))
    decided = {(row["concept"], row["label"]) for row in rows}
    assert len(decided) == len(rows)
    assert all(row["reason"] for row in rows)
    found = {
        (concept.label, candidate.label)
        for concept in concepts()
        for candidate in vocabulary()
        if candidate.label != concept.label
        and re.search(rf"\b{concept.label}\b", candidate.label.lower())
    }
    assert len({label for _, label in found}) == 49
    assert found <= decided


def test_kinds_come_in_the_order_of_the_vocabulary():
    place = {label: number for number, label in enumerate(labels())}
    for concept in concepts():
        numbers = [place[kind] for kind in kinds_of(concept.label)]
        assert numbers == sorted(set(numbers))


# what is refused


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("concepts.csv", "\n3,banana,", "\n4,banana,", r"concepts\.csv: row 4: id is '4'"),
        ("concepts.csv", "\n3,banana,", "\n3,apple,", r"row 4: label 'apple' is .*twice"),
        ("concepts.csv", "\n3,banana,", "\n3,plantain,", "does not begin with the labels of"),
        ("vocabulary.csv", "\n500,ox,ox,", "\n500,,ox,", "row 501: label '' is empty"),
        ("vocabulary.csv", "\n500,ox,ox,no,", "\n500,ox,ox,maybe,", "is_concept: 'maybe'"),
        ("vocabulary.csv", "\n500,ox,ox,no,", "\n500,ox,ox,yes,", "does not begin with"),
        ("hyponyms.csv", "owl,great grey owl", "owl,tawny owl", "label: 'tawny owl' is not known"),
        ("hyponyms.csv", "owl,great grey owl", "ostrich,quail", "concept: 'ostrich'"),
        ("hyponyms.csv", "owl,great grey owl,yes", "owl,owl,yes", "'owl' is no kind of itself"),
        ("hyponyms.csv", "owl,great grey owl,yes", "owl,great grey owl,yess", "is_kind: 'yess'"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(copy, name, old, new, told):
    edit(copy, name, old, new)
    with pytest.raises(GensightError, match=told) as error:
        kinds_of("owl", copy)
    assert "\n" not in str(error.value)


def test_the_labels_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(concepts()) == 100
    with pytest.raises(GensightError, match=f"{tmp_path}: no {FOLDER} here"):
        concepts(tmp_path)
