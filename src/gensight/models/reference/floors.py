"""Floors without a fit: models that cannot see (constant, ramp) or cannot understand (echoes)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas, paint

if TYPE_CHECKING:
    from gensight.records import Sample


def require_form(method: str, turn: Turn, allowed: tuple[str, ...]) -> str:
    """Return the kind of answer a turn asks for.

    Raises:
        GensightError: the method has no answer of that kind.
    """
    kind = turn.answer_form["kind"]
    if kind not in allowed:
        raise GensightError(
            f"reference method '{method}' has no answer of the form '{kind}' "
            f"(it has: {', '.join(allowed)}); set `tasks` in the model's YAML"
        )
    return kind


class Echo:
    """Returns the input picture, byte for byte."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the first picture of the turn unchanged."""
        return Reply(outcome=Outcome.OK, images=(canvas.input_bytes(turn),))


class EchoGrey:
    """Returns the input picture in grey (Rec. 601), at its own size, as PNG."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the first picture of the turn in grey."""
        grey = images.decode_grey(canvas.input_bytes(turn), matte=canvas.WHITE)
        return canvas.picture_reply(grey)


class Constant:
    """Returns a uniform grey picture at the work size, whatever is asked."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        self.level = settings["level"]

    def answer(self, turn: Turn) -> Reply:
        """Return the uniform picture."""
        width, height = canvas.work_size(turn)
        return canvas.picture_reply(np.full((height, width), self.level, dtype=np.uint8))


class Ramp:
    """Paints depth as the row index, nearer towards the bottom, in the declared polarity."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        self.bit_depth = settings["bit_depth"]

    def answer(self, turn: Turn) -> Reply:
        """Return the ramp at the work size."""
        require_form("prior_ramp", turn, ("depth",))
        width, height = canvas.work_size(turn)
        nearness = np.repeat(np.linspace(0.0, 1.0, height)[:, None], width, axis=1)
        return canvas.picture_reply(
            paint.paint_nearness(nearness, turn.answer_form["near"], self.bit_depth)
        )
