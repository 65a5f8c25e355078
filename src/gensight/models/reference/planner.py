"""The two-turn oracle: names the target's box, then paints what the earlier reply says.

In a turn that asks for a bounding box it answers with the truth's. In a turn that asks for a mask
it never looks at the truth: it paints the box it finds among the texts of the turn, where the
runner puts the reply that the prompt cites. So it proves that replies travel between turns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas, paint
from gensight.models.reference.floors import require_form
from gensight.models.reference.told import truth_as_text

if TYPE_CHECKING:
    from gensight.records import Sample

_NUMBER = r"(\d+(?:\.\d+)?)"
_BOX = re.compile(r"(?<![\d.])" + r"[\s,]+".join([_NUMBER] * 4) + r"(?!\.?\d)")

Box = tuple[float, float, float, float]


class Planner:
    """Answers a box in text, and later paints the box it is shown."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the box as text or the shown box as a mask; without a box the text alone."""
        if require_form("planner", turn, ("text", "mask")) == "text":
            text = truth_as_text(canvas.known_truth(turn), turn.answer_form["content"])
            return Reply(outcome=Outcome.OK, text=text)
        box = shown_box(turn)
        if box is None:
            return Reply(outcome=Outcome.TEXT_ONLY, text="I was shown no bounding box.")
        mask = box_mask(box, *canvas.work_size(turn))
        return canvas.picture_reply(paint.paint_mask(mask, turn.answer_form))


def shown_box(turn: Turn) -> Box | None:
    """Return the box of the last text of the turn that holds one, or None."""
    for part in reversed(turn.parts):
        box = find_box(part.text) if part.kind == "text" and part.text else None
        if box is not None:
            return box
    return None


def find_box(text: str) -> Box | None:
    """Return the first "left, top, right, bottom" in per mille in a text, or None.

    Four numbers from 0 to 1000 parted by blanks or commas, left < right and top < bottom.
    """
    for match in _BOX.finditer(text):
        left, top, right, bottom = (float(number) for number in match.groups())
        if left < right <= 1000 and top < bottom <= 1000:
            return left, top, right, bottom
    return None


def box_mask(box: Box, width: int, height: int) -> np.ndarray:
    """Return the bool (height, width) mask of the pixels whose centres lie in a per mille box."""
    left, top, right, bottom = box
    x = (np.arange(width) + 0.5) * 1000.0 / width
    y = (np.arange(height) + 0.5) * 1000.0 / height
    return ((y >= top) & (y < bottom))[:, None] & ((x >= left) & (x < right))[None, :]
