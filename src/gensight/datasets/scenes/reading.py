"""Questions with an answer of one word, from what is true of a scene by construction.

A thing is named by one of the scene's queries, and asked for what the query does not say of it: its
colour, its shape, or whether it hangs or stands, the first of these turning with the scene. The
question lists the words to choose from, so that one word is right. If both queries say all of it,
the number of things is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from gensight.datasets.scenes.colours import COLOURS
from gensight.datasets.scenes.counting import SHAPE_POOLS
from gensight.datasets.scenes.placement import Plan
from gensight.datasets.scenes.queries import Query
from gensight.datasets.scenes.scene import Scene

ATTRIBUTES = ("colour", "shape", "support")
NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
)


@dataclass(frozen=True)
class Question:
    """A question, its answer in one word, what it asks for and the kind of its query."""

    text: str
    answer: str
    attribute: str
    kind: str


def ask(scene: Scene, index: int, split: str) -> Question:
    """Return the question about a room; `index` is the scene's number."""
    turned = [ATTRIBUTES[(index + step) % len(ATTRIBUTES)] for step in range(len(ATTRIBUTES))]
    for query in scene.queries:
        for attribute in turned:
            if attribute not in said_by(query):
                return _question(query, attribute, scene.layout.plans[query.target], split)
    things = len(scene.layout.plans)
    text = "how many objects hang or stand in this room, in letters?"
    return Question(text, NUMBERS[things], "number", "referring")


def said_by(query: Query) -> set[str]:
    """Return the attributes that a query says of the thing it names."""
    return {clause.kind for clause in query.expression.clauses}


def _question(query: Query, attribute: str, plan: Plan, split: str) -> Question:
    if attribute == "colour":
        text, answer = f"what colour is {query.text}: {_listed(COLOURS)}?", plan.colour
    elif attribute == "shape":
        shapes = tuple(dict.fromkeys(SHAPE_POOLS[split]))
        text, answer = f"what shape is {query.text}: {_listed(shapes)}?", plan.shape
    else:
        answer = "hanging" if plan.hanging else "standing"
        text = f"is {query.text} hanging or standing?"
    return Question(text, answer, attribute, query.kind)


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
