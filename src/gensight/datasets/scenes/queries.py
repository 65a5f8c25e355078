"""Queries: the expressions of a scene put into words, referring ones and reasoning ones.

Referring queries name attributes ("the large blue sphere") or an extreme place ("the leftmost
box"). Reasoning queries must be resolved first: a relation to another thing, an attribute shared
with another thing or with none, a look described instead of named. Every query identifies one thing
with the margins of PROTOCOLS 4.1, and every part of it is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gensight.datasets.scenes.expressions import Clause, Expression, identify, is_minimal
from gensight.datasets.scenes.facts import Facts

KINDS = ("referring", "reasoning")
ATTRIBUTES = ("size", "colour", "shape", "support")
MOST_WORDS = 3
LIKE = {
    "red": "has the colour of a ripe tomato",
    "orange": "has the colour of a carrot",
    "yellow": "has the colour of a lemon",
    "green": "has the colour of fresh grass",
    "turquoise": "has the colour of a tropical lagoon",
    "blue": "has the colour of a sapphire",
    "purple": "has the colour of a ripe plum",
    "pink": "has the colour of bubble gum",
    "sphere": "is shaped like a ball",
    "box": "is shaped like a parcel",
    "cylinder": "is shaped like a tin can",
    "cone": "is shaped like a party hat",
    "capsule": "is shaped like a pill",
    "hanging": "would fall if its rod were cut",
}
RELATIONS = {
    "leftmost": "to the left of",
    "rightmost": "to the right of",
    "nearest": "closer to the camera than",
    "farthest": "farther from the camera than",
}


@dataclass(frozen=True)
class Query:
    """A text with the expression behind it and the index of the thing it names."""

    text: str
    kind: str
    form: str
    target: int
    expression: Expression


def find_twins(facts: Facts, random: np.random.Generator) -> tuple[Query, Query] | None:
    """Return a referring and a reasoning query with different targets, in random order.

    None if the scene has no such pair.
    """
    referring = _pick(facts, random, "referring", taken=None)
    if referring is None:
        return None
    reasoning = _pick(facts, random, "reasoning", taken=referring.target)
    if reasoning is None:
        return None
    return (referring, reasoning) if random.random() < 0.5 else (reasoning, referring)


def _pick(facts: Facts, random: np.random.Generator, kind: str, taken: int | None) -> Query | None:
    """Draw a form, then a thing, then one of the queries of this form that name it."""
    forms = FORMS[kind]
    for form in random.permutation(sorted(forms)):
        for target in random.permutation(len(facts.things)):
            if target == taken:
                continue
            found = [
                (text, expression)
                for text, expression in forms[form](facts, int(target))
                if identify(expression, facts.orders, facts.everything) == target
                and is_minimal(expression, facts.orders, facts.everything)
            ]
            if found:
                text, expression = found[random.integers(len(found))]
                return Query(text, kind, str(form), int(target), expression)
    return None


Candidates = Iterator[tuple[str, Expression]]


def _attribute_sets(
    facts: Facts, target: int, kinds: tuple[str, ...], least: int, most: int
) -> Iterator[tuple[Clause, ...]]:
    """Yield every choice of `least` to `most` attributes that a thing has."""
    own = [clause for kind in kinds if (clause := facts.of(kind, target)) is not None]
    for number in range(least, most + 1):
        yield from itertools.combinations(own, number)


def noun_phrase(clauses: tuple[Clause, ...]) -> str:
    """Return attributes in English order: size, support, colour, shape or "object"."""
    values = {clause.kind: clause.value for clause in clauses}
    words = [values[kind] for kind in ("size", "support", "colour") if kind in values]
    return " ".join([*words, values.get("shape", "object")])


def _by_attributes(facts: Facts, target: int) -> Candidates:
    for clauses in _attribute_sets(facts, target, ATTRIBUTES, 2, MOST_WORDS):
        yield f"the {noun_phrase(clauses)}", Expression(clauses)


def _by_extremum(facts: Facts, target: int) -> Candidates:
    for clauses in _attribute_sets(facts, target, ATTRIBUTES, 1, 2):
        for extremum in RELATIONS:
            yield f"the {extremum} {noun_phrase(clauses)}", Expression(clauses, extremum)


def _by_likeness(facts: Facts, target: int) -> Candidates:
    for clauses in _attribute_sets(facts, target, ("shape", "colour", "support"), 1, 3):
        looks = " and ".join(LIKE[clause.value] for clause in clauses)
        yield f"the object that {looks}", Expression(clauses)


def _anchors(
    facts: Facts, target: int, kinds: tuple[str, ...]
) -> Iterator[tuple[int, str, Expression]]:
    """Yield other things with each minimal way to name them in one or two words."""
    for index in range(len(facts.things)):
        for clauses in _attribute_sets(facts, index, kinds, 1, 2) if index != target else ():
            expression = Expression(clauses)
            if is_minimal(expression, facts.orders, facts.everything):
                yield index, f"the {noun_phrase(clauses)}", expression


def _by_relation(facts: Facts, target: int) -> Candidates:
    own = list(_attribute_sets(facts, target, ("size", "colour", "shape"), 1, 2))
    for anchor, name, expression in _anchors(facts, target, ("size", "colour", "shape")):
        for word, phrase in RELATIONS.items():
            if not facts.orders.ahead[word][target] >> anchor & 1:
                continue
            relation = _relation(facts, word, anchor)
            for clauses in own:
                text = f"the {noun_phrase(clauses)} {phrase} {name}"
                yield text, Expression((*clauses, relation), anchor=expression)


def _relation(facts: Facts, word: str, anchor: int) -> Clause:
    """Certain: clearly on this side of the anchor. Impossible: clearly on the other side."""
    ahead = facts.orders.ahead[word]
    certain = sum(1 << i for i, bits in enumerate(ahead) if bits >> anchor & 1)
    possible = facts.everything & ~ahead[anchor] & ~(1 << anchor)
    return Clause("relation", word, certain, possible)


def _by_sharing(facts: Facts, target: int) -> Candidates:
    """Name a thing by the colour or shape that it alone shares with an anchor."""
    for kind, other in (("colour", "shape"), ("shape", "colour")):
        shared = facts.of(kind, target)
        for anchor, name, expression in _anchors(facts, target, ("size", other)):
            if shared is None or not shared.certain >> anchor & 1:
                continue
            rest = ~(1 << anchor)
            clause = Clause("sharing", kind, shared.certain & rest, shared.possible & rest)
            text = f"the other object that has the same {kind} as {name}"
            yield text, Expression((clause,), anchor=expression)


def _by_oddness(facts: Facts, target: int) -> Candidates:
    """Name the one thing whose colour or shape no other thing has."""
    for kind in ("colour", "shape"):
        certain = possible = 0
        for index in range(len(facts.things)):
            group = facts.of(kind, index)
            if group is not None:
                certain |= (group.possible.bit_count() == 1) << index
                possible |= (group.certain.bit_count() == 1) << index
        clause = Clause("odd", kind, certain, possible)
        yield f"the object whose {kind} no other object has", Expression((clause,))


FORMS: dict[str, dict[str, Callable[[Facts, int], Candidates]]] = {
    "referring": {"attributes": _by_attributes, "extremum": _by_extremum},
    "reasoning": {
        "likeness": _by_likeness,
        "relation": _by_relation,
        "sharing": _by_sharing,
        "oddness": _by_oddness,
    },
}
