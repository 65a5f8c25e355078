"""The oracle: paints the truth in the form the prompt declares, and nothing else.

Its score is the ceiling of the interface: work size, 8-bit grey, binarisers, dot decoder. With a
disturbance it shows what a known fault costs (see `disturbances`); answers in text stay as they
are, since a disturbance is one of pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gensight.errors import GensightError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas, disturbances
from gensight.models.reference.painted import PAINTERS
from gensight.models.reference.told import truth_as_text

if TYPE_CHECKING:
    from gensight.records import Sample


class Oracle:
    """Answers every turn with its truth, disturbed if the generation block says so."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        self.settings = settings

    def answer(self, turn: Turn) -> Reply:
        """Paint or write the truth of the turn's sample.

        Raises:
            GensightError: the sample has no truth for the declared form of answer.
        """
        truth, kind = canvas.known_truth(turn), turn.answer_form["kind"]
        if kind == "text":
            return Reply(outcome=Outcome.OK, text=truth_as_text(truth, turn.answer_form["content"]))
        if kind not in PAINTERS:
            raise GensightError(f"oracle: answer form '{kind}' cannot be painted")
        painted = PAINTERS[kind](turn, truth, self.settings)
        name = self.settings["disturbance"]
        if name is None:
            return canvas.picture_reply(painted)
        return disturbances.disturbed_reply(painted, name, turn)
