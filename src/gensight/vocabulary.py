"""PixelBench's labels: 100 concepts, the 500 candidates of retrieval, and what is a kind of what.

They are data (resources/pixelbench), taken over from the paper's Tables 19 to 21. What the paper's
text lost or damaged is told label by label: `state` is `ok`, `repaired` (another place of the paper
or its order of print leaves one reading), `guessed` (several readings fit) or `lost` (a filler of
the right length from the same list of names). So 500-way numbers are ours, not the paper's, and go
with `vocabulary_hash()`.

PROTOCOLS 1.6: many distractors are true kinds of a concept (a Dalmatian is a dog), and a retrieval
that ranks one of them first has named no wrong thing. `kinds_of` is the map behind `top1_tolerant`,
made by hand; the pairs that were looked at and left out stand in the file with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gensight.errors import GensightError
from gensight.published.files import read

FOLDER = Path("resources/pixelbench")
CHECKOUT = Path(__file__).resolve().parents[2]
STATES = ("ok", "repaired", "guessed", "lost")
ANSWERS = {"yes": True, "no": False}

_CONCEPT_COLUMNS = ("id", "label", "category", "note")
_LABEL_COLUMNS = (
    "id",
    "label",
    "printed",
    "is_concept",
    "category",
    "table",
    "state",
    "cause",
    "note",
)
_KIND_COLUMNS = ("concept", "label", "is_kind", "reason")


@dataclass(frozen=True)
class Concept:
    """A concept to draw: its number in the paper (1 to 100), its label and its category."""

    number: int
    label: str
    category: str


@dataclass(frozen=True)
class Candidate:
    """A label of the 500-way retrieval: its number in the paper (1 to 500), and how it was read."""

    number: int
    label: str
    is_concept: bool
    state: str


def concepts(root: Path | None = None) -> tuple[Concept, ...]:
    """Return the 100 concepts in the paper's order.

    Without `root`, the labels of the checkout we stand in are read, else those beside this package.

    Raises:
        GensightError: the file is missing or is no list of concepts; the message names the line.
    """
    return _concepts(_folder(root))


def vocabulary(root: Path | None = None) -> tuple[Candidate, ...]:
    """Return the 500 candidates in the paper's order; the first 100 are the concepts.

    Raises:
        GensightError: as `concepts`, or a label is there twice.
    """
    return _vocabulary(_folder(root))


def kinds_of(label: str, root: Path | None = None) -> tuple[str, ...]:
    """Return the labels of the vocabulary that are true kinds of a label, in the paper's order.

    None of them is the label itself. Of a label without kinds, known or not, there are none.

    Raises:
        GensightError: as `vocabulary`, or the map names a label that is not in it.
    """
    return _kinds(_folder(root)).get(label, ())


def vocabulary_hash(root: Path | None = None) -> str:
    """Return the sha256 (64 hex digits) of the 500 labels in order, each ended by a line feed."""
    return _digest(candidate.label for candidate in vocabulary(root))


def kinds_hash(root: Path | None = None) -> str:
    """Return the sha256 (64 hex digits) of the map of kinds: "concept<TAB>label" lines, sorted."""
    kinds = _kinds(_folder(root))
    return _digest(sorted(f"{concept}\t{label}" for concept in kinds for label in kinds[concept]))


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _folder(root: Path | None) -> Path:
    here = Path.cwd()
    places = [root] if root is not None else [here, *here.parents, CHECKOUT]
    for place in places:
        if (place / FOLDER).is_dir():
            return place / FOLDER
    raise GensightError(
        f"{root or here}: no {FOLDER} here; run this inside a checkout, or name its root"
    )


@cache
def _concepts(folder: Path) -> tuple[Concept, ...]:
    path = folder / "concepts.csv"
    rows = read(path, _CONCEPT_COLUMNS)
    _check_numbers(path, [row["id"] for row in rows])
    _check_labels(path, [row["label"] for row in rows])
    return tuple(Concept(int(row["id"]), row["label"], row["category"]) for row in rows)


@cache
def _vocabulary(folder: Path) -> tuple[Candidate, ...]:
    path = folder / "vocabulary.csv"
    rows = read(path, _LABEL_COLUMNS)
    _check_numbers(path, [row["id"] for row in rows])
    _check_labels(path, [row["label"] for row in rows])
    for line, row in enumerate(rows, 2):
        _check_word(path, line, "is_concept", row["is_concept"], ANSWERS)
        _check_word(path, line, "state", row["state"], STATES)
    found = tuple(
        Candidate(int(row["id"]), row["label"], ANSWERS[row["is_concept"]], row["state"])
        for row in rows
    )
    asked = [concept.label for concept in _concepts(folder)]
    marked = [one.label for one in found if one.is_concept]
    if not asked == marked == [one.label for one in found[: len(asked)]]:
        raise GensightError(f"{path}: does not begin with the labels of concepts.csv; restore both")
    return found


@cache
def _kinds(folder: Path) -> dict[str, tuple[str, ...]]:
    path = folder / "hyponyms.csv"
    place = {candidate.label: candidate.number for candidate in _vocabulary(folder)}
    known = {concept.label for concept in _concepts(folder)}
    kinds: dict[str, set[str]] = {}
    for line, row in enumerate(read(path, _KIND_COLUMNS), 2):
        concept, label = row["concept"], row["label"]
        _check_word(path, line, "concept", concept, known)
        _check_word(path, line, "label", label, place)
        _check_word(path, line, "is_kind", row["is_kind"], ANSWERS)
        if label == concept:
            raise GensightError(f"{path}: row {line}: '{label}' is no kind of itself; remove it")
        if ANSWERS[row["is_kind"]]:
            kinds.setdefault(concept, set()).add(label)
    return {name: tuple(sorted(some, key=place.__getitem__)) for name, some in kinds.items()}


def _check_numbers(path: Path, numbers: list[str]) -> None:
    for line, number in enumerate(numbers, 2):
        if number != str(line - 1):
            raise GensightError(f"{path}: row {line}: id is '{number}' where {line - 1} is next")


def _check_labels(path: Path, labels: list[str]) -> None:
    seen: set[str] = set()
    for line, label in enumerate(labels, 2):
        if not label or label != label.strip() or label in seen:
            raise GensightError(f"{path}: row {line}: label '{label}' is empty or there twice")
        seen.add(label)


def _check_word(path: Path, line: int, column: str, word: str, known: Container[str]) -> None:
    if word not in known:
        raise GensightError(f"{path}: row {line}: {column}: '{word}' is not known")
