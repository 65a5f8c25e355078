"""What an agent with a segmenter for a tool is told, and how its replies are read.

The paper names neither prompts nor rounds (ProbeGen 4.1 only names the two models), so the words
are this project's own. A reply is one JSON object, alone or in one fenced block; keys beyond those
asked for are not looked at. Boxes are in thousandths of the picture's sides: what the viewer is
shown may have been resized on its way to it, and Qwen3-VL points in these units by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SCALE = 1000
PROPOSALS = ("propose", "retry")
ACTIONS = (*PROPOSALS, "accept", "give_up")
#: One proposal asks the tool for no more than this (assumed).
ASSUMED_MOST_ASKED = 8
#: What is quoted of a reply or a phrase in an error.
LONGEST_QUOTED = 60
END_OF_THOUGHTS = "</think>"
FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)

TASK = """\
Your job is to point out exactly those pixels of the first picture that belong to this:

{query}

You cannot draw. You work through a tool that segments pictures, and you judge what it finds.
The tool takes phrases and boxes.
- A phrase is a short noun phrase for something that can be seen, like "striped cat" or "left shoe".
  The tool outlines every instance of it. It does not reason and knows no negation: work out for
  yourself what is meant, then say what it looks like.
- A box [left, top, right, bottom] is drawn tightly around one example of the thing, in whole
  numbers from 0 to 1000: thousandths of the picture's width and height, from its top left corner.
  Boxes are examples for every phrase given with them; without a phrase they stand by themselves."""
SHOWN = """\
The second picture is the first with numbered outlines around what the tool found for your last
try ({tried}). Look at each one. Is all that is meant outlined, and nothing else, once the wrong
numbers are left out?"""
PROPOSE = """\
{{"action": "{action}", "phrases": ["..."], "boxes": [[0, 0, 1000, 1000]]}}
    to have the tool try this; either list may be empty or left out, at most {most} in both."""
ACCEPT = """\
{"action": "accept", "masks": [1, 2]}
    if these outlines together are what is meant; this ends the job."""
GIVE_UP = """\
{"action": "give_up"}
    if the picture shows nothing that is meant; this ends the job with an empty answer."""


class ReplyError(ValueError):
    """A reply is none of the actions that it may be; the message is told to whoever replied."""


@dataclass(frozen=True)
class Action:
    """What was replied: an action, with phrases and boxes (0 to 1000), or the numbers of masks."""

    name: str
    phrases: tuple[str, ...] = ()
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    masks: tuple[int, ...] = ()

    @property
    def is_proposal(self) -> bool:
        """Say whether the tool is to be asked."""
        return self.name in PROPOSALS

    def told(self) -> str:
        """Return what the tool was asked for, in a few words."""
        words = [f'"{phrase}"' for phrase in self.phrases]
        words += [f"box [{', '.join(f'{side:g}' for side in box)}]" for box in self.boxes]
        return ", ".join(words)

    def as_json(self) -> dict[str, Any]:
        """Return it as it could have been replied."""
        told: dict[str, Any] = {"action": self.name}
        if self.is_proposal:
            told |= {"phrases": list(self.phrases), "boxes": [list(box) for box in self.boxes]}
        if self.masks:
            told["masks"] = list(self.masks)
        return told


def instructions(
    query: str,
    tries: Sequence[str],
    shown: str | None,
    problem: str | None,
    answers_left: int,
) -> str:
    """Return the text that goes with the pictures of one call.

    `tries` says what was tried before and what came of it, `shown` what the second picture shows
    (None: there is none), `problem` what was wrong with the last reply.
    """
    told = [TASK.format(query=query)]
    if tries:
        lines = (f"{number}. {line}" for number, line in enumerate(tries, 1))
        told.append("\n".join(["So far the tool was asked for:", *lines]))
    if shown is not None:
        told.append(SHOWN.format(tried=shown))
    if problem is not None:
        told.append(f"Your last reply could not be used: {problem}.")
    propose = PROPOSE.format(action="retry" if tries else "propose", most=ASSUMED_MOST_ASKED)
    choices = [ACCEPT, propose, GIVE_UP] if shown is not None else [propose, GIVE_UP]
    told.append("\n".join(["Reply with one JSON object and not a word more, one of:", *choices]))
    if answers_left == 1:
        told.append("This is your last reply: it cannot be followed by another.")
    else:
        told.append(f"You have {answers_left} replies left, this one among them.")
    return "\n\n".join(told)


def read_reply(text: str, masks_shown: int) -> Action:
    """Return the action that a reply holds; `masks_shown` outlines may be accepted.

    Raises:
        ReplyError: it holds none.
    """
    told = _object(text)
    name = told.get("action")
    if not isinstance(name, str) or name not in ACTIONS:
        raise ReplyError(f'"action" is {_quoted(name)}, not one of {", ".join(ACTIONS)}')
    if name in PROPOSALS:
        return _proposal(name, told)
    if name == "accept":
        return Action(name, masks=_numbers(told, masks_shown))
    return Action(name)


def _object(text: str) -> dict[str, Any]:
    # Where the server does not take thoughts out of a reply, they stand before it.
    inner = text.rpartition(END_OF_THOUGHTS)[2].strip()
    fenced = FENCED.fullmatch(inner)
    try:
        told = json.loads(fenced[1] if fenced else inner)
    except (ValueError, RecursionError):
        raise ReplyError("it is not one JSON object alone") from None
    if not isinstance(told, dict):
        raise ReplyError("it is not one JSON object alone")
    return told


def _proposal(name: str, told: dict[str, Any]) -> Action:
    phrases, boxes = (_list(told, key) for key in ("phrases", "boxes"))
    if not phrases and not boxes:
        raise ReplyError(f'"{name}" has neither phrases nor boxes')
    if len(phrases) + len(boxes) > ASSUMED_MOST_ASKED:
        raise ReplyError(f'"{name}" has more than {ASSUMED_MOST_ASKED} phrases and boxes')
    return Action(name, tuple(map(_phrase, phrases)), tuple(map(_box, boxes)))


def _list(told: dict[str, Any], key: str) -> list[Any]:
    value = told.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ReplyError(f'"{key}" is {_quoted(value)}, not a list')
    return value


def _phrase(value: Any) -> str:
    # Half a surrogate pair, which JSON can spell, is no text.
    if not isinstance(value, str) or not value.encode("utf-8", "ignore").split():
        raise ReplyError(f"{_quoted(value)} is no phrase")
    return " ".join(value.encode("utf-8", "replace").decode().split())


def _box(value: Any) -> tuple[float, float, float, float]:
    if isinstance(value, list) and len(value) == 4 and all(map(_is_number, value)):
        left, top, right, bottom = value
        # Of numbers that are no numbers, nothing of this is true.
        if 0 <= left < right <= SCALE and 0 <= top < bottom <= SCALE:
            return float(left), float(top), float(right), float(bottom)
    raise ReplyError(
        f"{_quoted(value)} is no box: [left, top, right, bottom] from 0 to {SCALE}, left before "
        f"right and top before bottom"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(told: dict[str, Any], masks_shown: int) -> tuple[int, ...]:
    if not masks_shown:
        raise ReplyError('"accept" needs outlines to accept, and none are shown')
    numbers = _list(told, "masks")
    if not numbers:
        raise ReplyError('"accept" names no masks; to accept none, give up or retry')
    for number in numbers:
        is_whole = isinstance(number, int) and not isinstance(number, bool)
        if not is_whole or not 1 <= number <= masks_shown:
            raise ReplyError(f"mask {_quoted(number)} is not one of 1 to {masks_shown}")
    return tuple(sorted(set(numbers)))


def _quoted(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= LONGEST_QUOTED else text[: LONGEST_QUOTED - 3] + "..."
