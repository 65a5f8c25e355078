"""Prompts: lists of turns, each a list of parts, with the form of answer each turn asks for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from gensight.specs.answer_forms import AnswerForm
from gensight.specs.base import Spec
from gensight.specs.placeholders import pieces

Task = Literal["segmentation", "depth", "counting", "normals", "detection", "keypoints", "reading"]


class PartSpec(Spec):
    """Exactly one of: a text (with {query}), the input picture, or the reply to an earlier turn."""

    text: str | None = None
    image: Literal["input"] | None = None
    reply: int | None = Field(default=None, ge=0)

    @field_validator("text")
    @classmethod
    def _has_known_placeholders(cls, text: str | None) -> str | None:
        pieces(text or "")
        return text

    @model_validator(mode="after")
    def _exactly_one(self) -> PartSpec:
        if sum(value is not None for value in (self.text, self.image, self.reply)) != 1:
            raise ValueError("a part holds exactly one of text, image and reply")
        return self


class TurnSpec(Spec):
    """What is said in one turn, in order, and the form of the answer."""

    parts: list[PartSpec] = Field(min_length=1)
    answer_form: AnswerForm


class PromptSpec(Spec):
    """A named way to ask for a task; the last turn's answer is the one that is extracted."""

    task: Task
    turns: list[TurnSpec] = Field(min_length=1)

    @model_validator(mode="after")
    def _replies_are_earlier(self) -> PromptSpec:
        for index, turn in enumerate(self.turns):
            for part in turn.parts:
                if part.reply is not None and part.reply >= index:
                    raise ValueError(f"turn {index} cites the reply to turn {part.reply}")
        return self
