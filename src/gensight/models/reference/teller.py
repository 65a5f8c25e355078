"""A scripted text model: knows how many there are, and answers like models that count in words.

So that parsing, failure policies and merging of repeated answers can be seen at work on answers
whose faults are known. By its own rule, from numbers drawn per sample and repeat, it

- counts up to 5 exactly; from 6 on it is wrong by one in 3 of 10 answers; above 12 it says the
  nearest ten, as one guesses at a crowd (halves away from zero);
- says a bare number in 70 % of its answers, one in bold with a full stop in 10 %, and, as an
  invalid answer, a sentence in 8 %, a range in 7 %, a refusal in 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas
from gensight.models.reference.floors import require_form

if TYPE_CHECKING:
    from gensight.records import Sample

EXACT_UP_TO = 5
CROWD_ABOVE = 12
MISCOUNTS = 0.3
# Manner, how often it is used, and what is said of a count.
MANNERS = (
    ("number", 0.70, "{0}"),
    ("bold", 0.10, "**{0}**."),
    ("sentence", 0.08, "I can see about {0} of them."),
    ("range", 0.07, "{0}-{1}"),
    ("refusal", 0.05, "I am sorry, but I cannot count these reliably."),
)


class Teller:
    """Answers prompts for a whole number."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the count as this model would say it.

        Raises:
            GensightError: the turn asks for something else, or the sample has no count.
        """
        require_form("teller", turn, ("text",))
        truth = canvas.known_truth(turn)
        true = int(canvas.truth_field(truth, "target_count"))
        random = canvas.random_of(f"teller {truth.sample_id} {turn.repeat}")
        return Reply(outcome=Outcome.OK, text=say(miscount(true, random), random))


def miscount(true: int, random: np.random.Generator) -> int:
    """Return the count that this model believes in."""
    if true > CROWD_ABOVE:
        return (true + 5) // 10 * 10
    is_wrong, is_more = random.random(2) < (MISCOUNTS, 0.5)
    if true <= EXACT_UP_TO or not is_wrong:
        return true
    return true + 1 if is_more else true - 1


def say(count: int, random: np.random.Generator) -> str:
    """Return a count in one of the manners of this model."""
    names, shares, sayings = zip(*MANNERS, strict=True)
    return sayings[random.choice(len(names), p=shares)].format(count, count + 3)
