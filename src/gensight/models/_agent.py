"""An agent that segments: a viewer proposes, a tool segments, the viewer looks and decides.

In each round the viewer (a VLM) is asked once, on its own: with the picture, what is wanted, what
was tried so far, and, once the tool has found something, the same picture with numbered outlines.
It replies with one action (`_agent_words`):

    propose, retry    the tool is asked for phrases and boxes; what it finds is shown next
    accept            the union of the named masks is the answer
    give_up           nothing in the picture is meant

There are `max_rounds` rounds; a reply that is no action uses one up, and is told what was wrong.
How it ends (`Verdict.status`), and what is scored:

    accepted        ok: the union of the accepted masks
    gave_up         ok: an empty mask, which is what was said
    not_accepted    ok: no acceptance within the rounds; the union of what was proposed last and
                    found, for a mask is scored and these are the agent's last idea of it
    no_mask         ok: proposals, and the tool found nothing for any of them; an empty mask
    malformed       no action in any round; no mask. If the viewer refused each time, its refusal

All of it is kept, as JSON can hold it: prompts (pictures by their sha256: they follow from the
sample and the masks), replies, phrases, boxes and masks (COCO RLE).

A game is played round by round (`Game.prompt`, `Game.take`). One that was broken off is taken up by
handing the replies that were given to another: the tool then finds the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gensight.digests import digest_of_bytes
from gensight.errors import AnswerError
from gensight.images import encode_mask, encode_png
from gensight.models import Outcome, Part, Reply
from gensight.models._agent_words import SCALE, Action, ReplyError, instructions, read_reply
from gensight.models._outlines import outlined
from gensight.outcomes import MODEL_OUTCOMES

#: No more masks are shown at once, the best ones (assumed: more cannot be told apart).
ASSUMED_MOST_SHOWN = 24
REFUSALS = (str(Outcome.REFUSED_INPUT), str(Outcome.REFUSED_OUTPUT))

Box = tuple[float, float, float, float]


class Found(Protocol):
    """What the tool found: masks bool (N, H, W), boxes (N, 4) in pixels, scores (N,)."""

    @property
    def masks(self) -> np.ndarray:
        """One mask an instance, at the size of the picture."""
        ...

    @property
    def boxes(self) -> np.ndarray:
        """x0, y0, x1, y1 of each instance."""
        ...

    @property
    def scores(self) -> np.ndarray:
        """How sure the tool is of each."""
        ...


Tool = Callable[[Sequence[str], Sequence[Box]], Found]


@dataclass(frozen=True)
class Verdict:
    """How a game ended; `mask` is bool (H, W), None where there is no answer to score."""

    outcome: str
    status: str
    mask: np.ndarray | None
    detail: str | None
    malformed: int


@dataclass(frozen=True)
class _Shown:
    """Masks that the viewer is shown, and what they were found for."""

    masks: list[np.ndarray]
    tried: str
    overlay: bytes

    def union(self, numbers: Sequence[int]) -> np.ndarray:
        return np.logical_or.reduce([self.masks[number - 1] for number in numbers])


class Game:
    """The rounds about one picture, uint8 (H, W, 3) RGB, whose bytes as sent are `image`.

    `rounds` is the record of what was asked, replied and found so far.
    """

    def __init__(
        self, tool: Tool, picture: np.ndarray, image: bytes, query: str, max_rounds: int
    ) -> None:
        self.rounds: list[dict[str, Any]] = []
        self._tool, self._query, self._left = tool, query, max_rounds
        self._picture, self._image = picture, image
        self._tries: list[str] = []
        self._problem: str | None = None
        self._shown: _Shown | None = None
        # What is shown is what was found last; a later try that finds nothing does not undo it.
        self._last_found: _Shown | None = None
        self._bad_outcomes: list[str] = []

    def take(self, reply: Reply) -> Verdict | None:
        """Take the viewer's reply to the prompt; return how the game ended, None if it goes on.

        Raises:
            AnswerError: the viewer could not be asked: nothing was decided.
        """
        self.rounds.append(_kept(self.prompt(), reply))
        self._left -= 1
        action, self._problem = self._read(reply)
        if action is None:
            self._bad_outcomes.append(str(reply.outcome))
            self.rounds[-1]["problem"] = self._problem
        else:
            self.rounds[-1]["action"] = action.as_json()
            if action.name == "accept":
                assert self._shown is not None
                return self._verdict("accepted", self._shown.union(action.masks))
            if not action.is_proposal:
                return self._verdict("gave_up", self._empty())
            self._try(action)
        return self._run_out() if self._left == 0 else None

    def prompt(self) -> tuple[Part, ...]:
        """Return what the viewer is asked in this round."""
        pictures = [Part("image", image=self._image)]
        tried = None
        if self._shown is not None:
            pictures.append(Part("image", image=self._shown.overlay))
            tried = self._shown.tried
        text = instructions(self._query, self._tries, tried, self._problem, self._left)
        return (*pictures, Part("text", text=text))

    def _read(self, reply: Reply) -> tuple[Action | None, str | None]:
        """Return the action of a reply, or None and what was wrong with it."""
        if reply.outcome not in MODEL_OUTCOMES:
            raise AnswerError(f"the agent's viewer gave no answer: {reply.outcome}: {reply.detail}")
        if reply.outcome != Outcome.OK:
            return None, f"it ended as {reply.outcome}"
        count = 0 if self._shown is None else len(self._shown.masks)
        try:
            return read_reply(reply.text or "", count), None
        except ReplyError as error:
            return None, str(error)

    def _try(self, action: Action) -> None:
        """Ask the tool, and have what it finds shown next."""
        height, width = self._picture.shape[:2]
        scales = np.array([width, height, width, height]) / SCALE
        boxes = [tuple((np.array(box) * scales).tolist()) for box in action.boxes]
        found = self._tool(action.phrases, boxes)
        order = [
            int(place)
            for place in np.argsort(-np.asarray(found.scores), kind="stable")
            if found.masks[place].any()
        ]
        self.rounds[-1]["boxes_px"] = [np.round(box, 2).tolist() for box in boxes]
        self.rounds[-1]["found"] = [_instance(found, place) for place in order]
        masks = [np.asarray(found.masks[place], np.bool_) for place in order[:ASSUMED_MOST_SHOWN]]
        self._shown = self._show(action, masks)
        self._last_found = self._shown or self._last_found
        count = "nothing was found" if not order else f"{len(order)} found"
        if len(order) > len(masks):
            count += f", the best {len(masks)} shown"
        self._tries.append(f"{action.told()}: {count}")

    def _show(self, action: Action, masks: list[np.ndarray]) -> _Shown | None:
        if not masks:
            return None
        return _Shown(masks, action.told(), encode_png(outlined(self._picture, masks)))

    def _run_out(self) -> Verdict:
        if self._last_found is not None:
            numbers = range(1, len(self._last_found.masks) + 1)
            return self._verdict("not_accepted", self._last_found.union(numbers))
        if self._tries:
            return self._verdict("no_mask", self._empty())
        if len(kinds := set(self._bad_outcomes)) == 1 and kinds <= {*REFUSALS}:
            return self._verdict("malformed", None, kinds.pop())
        return self._verdict("malformed", None, str(Outcome.MALFORMED))

    def _empty(self) -> np.ndarray:
        return np.zeros(self._picture.shape[:2], np.bool_)

    def _verdict(
        self, status: str, mask: np.ndarray | None, outcome: str = str(Outcome.OK)
    ) -> Verdict:
        bad = len(self._bad_outcomes)
        detail = None if status == "accepted" else status
        if mask is None:
            detail = f"no action in {bad} {'reply' if bad == 1 else 'replies'}"
        return Verdict(outcome, status, mask, detail, bad)


def _kept(parts: Sequence[Part], reply: Reply) -> dict[str, Any]:
    return {
        "prompt": [_kept_part(part) for part in parts],
        "outcome": str(reply.outcome),
        "reply": reply.text,
        "reply_detail": reply.detail,
        "action": None,
        "problem": None,
        "boxes_px": [],
        "found": [],
    }


def _kept_part(part: Part) -> dict[str, str]:
    if part.image is None:
        return {"text": part.text or ""}
    return {"image_sha256": digest_of_bytes(part.image)}


def _instance(found: Found, place: int) -> dict[str, Any]:
    return {
        "mask": encode_mask(np.asarray(found.masks[place], np.bool_)),
        "box_px": np.round(np.asarray(found.boxes[place], float), 2).tolist(),
        "score": round(float(found.scores[place]), 6),
    }
