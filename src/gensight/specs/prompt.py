"""Prompts: lists of turns, each a list of parts, with the form of answer each turn asks for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from gensight.specs.answer_forms import AnswerForm
from gensight.specs.base import Spec, each_once
from gensight.specs.placeholders import GRIDS, pieces

Task = Literal[
    "segmentation",
    "depth",
    "counting",
    "normals",
    "detection",
    "keypoints",
    "reading",
    "text_to_pixel",
    "image_to_pixel",
    "pixel_understanding",
]
#: Cells of a side.
Size = Annotated[int, Field(ge=1, le=512)]


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
    """A named way to ask for a task; the last turn's answer is the one that is extracted.

    A prompt about grids is one prompt for each of its `sizes`, named `{file}_{size}`; such a one
    has a `size`.
    """

    task: Task
    turns: list[TurnSpec] = Field(min_length=1)
    sizes: Annotated[list[Size], AfterValidator(each_once)] | None = Field(
        default=None, min_length=1
    )
    size: Size | None = None

    @property
    def placeholders(self) -> set[str]:
        """Return the placeholders of all its texts."""
        parts = [part for turn in self.turns for part in turn.parts]
        return {name for part in parts for _, name in pieces(part.text or "") if name is not None}

    @property
    def shows_a_grid(self) -> bool:
        """Whether it asks about a grid, which then has a source."""
        return not self.placeholders.isdisjoint(GRIDS)

    @property
    def answers(self) -> Literal["image", "text"]:
        """Return what the last turn asks for."""
        return "text" if self.turns[-1].answer_form.kind == "text" else "image"

    @property
    def shows_the_input(self) -> bool:
        """Whether the input picture is part of what is asked."""
        return any(part.image == "input" for turn in self.turns for part in turn.parts)

    def at(self, size: int) -> PromptSpec:
        """Return the prompt at one of its sizes; grids that it asks for have that size."""
        turns = [
            turn.model_copy(
                update={"answer_form": turn.answer_form.model_copy(update={"size": size})}
            )
            if getattr(turn.answer_form, "content", None) == "palette_grid"
            else turn
            for turn in self.turns
        ]
        return self.model_copy(update={"turns": turns, "sizes": None, "size": size})

    @model_validator(mode="after")
    def _has_sizes_where_it_needs_one(self) -> PromptSpec:
        if self.size is not None:
            raise ValueError("name the sizes under `sizes`, even if there is one")
        forms = [turn.answer_form for turn in self.turns]
        grids = any(getattr(form, "content", None) == "palette_grid" for form in forms)
        needs = grids or not self.placeholders.isdisjoint({"size", *GRIDS})
        if needs and self.sizes is None:
            raise ValueError("a prompt about grids lists its `sizes`, in cells of a side")
        if self.sizes is not None and not needs:
            raise ValueError("sizes belong to a prompt that asks for a grid or about one")
        return self

    @model_validator(mode="after")
    def _replies_are_earlier(self) -> PromptSpec:
        for index, turn in enumerate(self.turns):
            for part in turn.parts:
                if part.reply is not None and part.reply >= index:
                    raise ValueError(f"turn {index} cites the reply to turn {part.reply}")
        return self
