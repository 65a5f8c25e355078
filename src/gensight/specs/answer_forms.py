"""The form of answer a prompt asks for: what an oracle paints and what a fit may assume."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gensight.specs.base import Spec

Level = Annotated[int, Field(ge=0, le=255)]
Colour = Annotated[list[Level], Field(min_length=3, max_length=3)]


class MaskForm(Spec):
    """A picture with the target in one colour and everything else in another (RGB, 0-255)."""

    kind: Literal["mask"]
    foreground: Colour = Field(default=[255, 255, 255])
    background: Colour = Field(default=[0, 0, 0])


class DepthForm(Spec):
    """A grey depth map; `near` says which end of the grey scale is close, if the prompt does."""

    kind: Literal["depth"]
    near: Literal["bright", "dark", "unspecified"]


class DotsForm(Spec):
    """The input picture with one solid dot of this colour (RGB, 0-255) on every counted object."""

    kind: Literal["dots"]
    colour: Colour = Field(default=[255, 0, 0])


class NormalsForm(Spec):
    """A picture whose channels hold the surface normal, each axis mapped from -1..1 to 0..255."""

    kind: Literal["normals"]
    red: Literal["right", "left"] = "right"
    green: Literal["up", "down"] = "up"
    blue: Literal["viewer", "away"] = "viewer"


class TextForm(Spec):
    """A text: a whole number, a bounding box in per mille of the picture, or anything."""

    kind: Literal["text"]
    content: Literal["integer", "bounding_box", "free"]


AnswerForm = Annotated[
    MaskForm | DepthForm | DotsForm | NormalsForm | TextForm, Field(discriminator="kind")
]
