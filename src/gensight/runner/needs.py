"""Turns that are still to be asked, and what they take: pictures, tokens, money, time."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gensight.images import LONG_SIDE
from gensight.providers.prices import BYTES_PER_TOKEN, Price, Room, TurnFacts, returns_picture
from gensight.runner.pace import MINUTE_S, STRETCH
from gensight.specs.model import LimitsSpec
from gensight.specs.placeholders import GRIDS

#: What a placeholder of a prompt is filled with, where nobody has looked yet: bytes (assumed).
ASSUMED_FILLED_BYTES = 400
#: The words and the picture of a reply that a later turn cites (assumed).
ASSUMED_REPLY_TOKENS = 4096
ASSUMED_REPLY_SIDES = (2 * LONG_SIDE, 2 * LONG_SIDE)
HOUR_S = 3600.0


class Need(NamedTuple):
    """A turn that is still to be asked; `max_tokens` is a rung of the ladder of lengths."""

    facts: TurnFacts
    max_tokens: int | None = None


@dataclass(frozen=True)
class Lookup:
    """What the ledger has of one file: turns answered, held in doubt, and still to be asked.

    A turn that equals one of another row is counted there, for it is asked once. `strangers` are
    the models, with numbers, that answered and were not asked for: while there is one, nothing of
    the file is asked. `unanswered` turns have no answer, and the run keeps such gaps. `assumed`
    needs are those of samples that are not made yet.
    """

    answered: int = 0
    in_doubt: int = 0
    unanswered: int = 0
    needs: Mapping[Need, int] = field(default_factory=Counter)
    strangers: Mapping[str, int] = field(default_factory=Counter)
    assumed: bool = False


def taken(needs: Mapping[Need, int], price: Price, room: Room) -> tuple[int, int, float]:
    """Return the most pictures, tokens and US dollars that turns can take."""
    images, tokens, amounts = 0, 0, []
    for need, number in needs.items():
        most = price.most(need.facts, room.with_limit(need.max_tokens))
        images += number * most.images
        tokens += number * most.tokens
        amounts.append(number * price.cost_usd(most))
    return images, tokens, math.fsum(amounts)


def seconds_needed(limits: LimitsSpec, requests: int, images: int, tokens: int) -> float | None:
    """Return how long requests take at the allowed rate; None where nothing limits it.

    The slowest of what is allowed per minute and, where the model's spec says how long an answer
    takes, of what fits into the requests in flight.
    """
    times = [
        amount * MINUTE_S * STRETCH / per_minute
        for amount, per_minute in (
            (requests, limits.requests_per_minute),
            (images, limits.images_per_minute),
            (tokens, limits.tokens_per_minute),
        )
        if per_minute is not None
    ]
    if limits.seconds_per_answer is not None:
        times.append(math.ceil(requests / limits.in_flight) * limits.seconds_per_answer)
    return max(times) if times else None


def gpu_hours(gpus: int, limits: LimitsSpec, answers: int, shards: int) -> float:
    """Return the GPU hours of answers, one after another, of jobs with so many GPUs, at most.

    Where nobody says how long an answer takes, each of the jobs takes all the time it may.
    """
    if limits.seconds_per_answer is not None:
        return gpus * answers * limits.seconds_per_answer / HOUR_S
    return gpus * shards * limits.runtime_minutes * MINUTE_S / HOUR_S


def expected_facts(
    turns: Sequence[Mapping[str, Any]],
    index: int,
    sides: tuple[int, int],
    adapter: str,
    generation: Mapping[str, Any],
    size: int | None = None,
) -> TurnFacts:
    """Return the facts of a turn that cannot be rendered yet: as in a prompt, or as in a request.

    `sides` are those of the input picture as it is sent, `size` the cells of a side of a grid that
    is asked about. A cited reply is taken at its largest.
    """
    text_bytes, shown = 0, []
    for part in turns[index]["parts"]:
        if part.get("image") or part.get("kind") == "image":
            shown.append(sides)
        elif part.get("text") is not None:
            filled = _filled_bytes(part["text"], size) if "kind" not in part else 0
            text_bytes += len(part["text"].encode()) + filled
        else:
            cited = part["turn"] if "kind" in part else part["reply"]
            limit = Room.of(adapter, generation).max_tokens
            text_bytes += BYTES_PER_TOKEN * min(limit or ASSUMED_REPLY_TOKENS, ASSUMED_REPLY_TOKENS)
            if returns_picture(adapter, generation, form_of(turns[cited])):
                shown.append(ASSUMED_REPLY_SIDES)
    pictured = returns_picture(adapter, generation, form_of(turns[index]))
    return TurnFacts(text_bytes, tuple(shown), pictured)


def _filled_bytes(text: str, size: int | None) -> int:
    """Return what the placeholders of a prompt's text are filled with, at most."""
    grids = sum(text.count(f"{{{name}}}") for name in GRIDS)
    # A row is as many digits in quotes and a comma; the palette and the keys stand before them.
    grid = 0 if size is None else size * (size + 3) + ASSUMED_FILLED_BYTES
    return text.count("{") * ASSUMED_FILLED_BYTES + grids * grid


def form_of(turn: Mapping[str, Any]) -> str:
    """Return the kind of answer that a turn asks for, in a prompt or in a rendered request."""
    form = turn["answer_form"]
    return str((json.loads(form) if isinstance(form, str) else form)["kind"])
