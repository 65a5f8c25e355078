"""The form of answer a prompt asks for: what an oracle paints and what a fit may assume."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

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
    """One solid dot of this colour (RGB, 0-255) on every counted object.

    With `alternate`, neighbours take turns between the two colours. `canvas` is what the dots lie
    on: the input picture, or one flat colour of the input's size.
    """

    kind: Literal["dots"]
    colour: Colour = Field(default=[255, 0, 0])
    alternate: Colour | None = None
    canvas: Literal["input", "flat"] = "input"


class NormalsForm(Spec):
    """A picture whose channels hold the surface normal, each axis mapped from -1..1 to 0..255."""

    kind: Literal["normals"]
    red: Literal["right", "left"] = "right"
    green: Literal["up", "down"] = "up"
    blue: Literal["viewer", "away"] = "viewer"


class OverlayForm(Spec):
    """The input picture with the target tinted in one colour (RGB, 0-255), nothing else changed."""

    kind: Literal["overlay"]
    colour: Colour = Field(default=[255, 0, 0])


class BoxesForm(Spec):
    """The input picture with one rectangle outlined in this colour around every target object."""

    kind: Literal["boxes"]
    colour: Colour = Field(default=[255, 0, 0])


class KeypointsForm(Spec):
    """The input picture with one dot for each named keypoint, each name in its own colour."""

    kind: Literal["keypoints"]
    colours: dict[str, Colour]


class WritingForm(Spec):
    """A picture on which the answer is written as text."""

    kind: Literal["writing"]


class TextForm(Spec):
    """A text: a whole number, a bounding box in per mille of the picture, or anything.

    A `palette_grid` is JSON of `size` x `size` cells, alone (`shape: grid`) or in a list of icons
    (`shape: images`); a `letter` names one of so many `options`.
    """

    kind: Literal["text"]
    content: Literal["integer", "bounding_box", "free", "palette_grid", "letter"]
    size: int | None = Field(default=None, ge=1)
    shape: Literal["grid", "images"] | None = None
    options: int | None = Field(default=None, ge=2, le=26)

    @model_validator(mode="after")
    def _says_what_its_content_needs(self) -> TextForm:
        if (self.content == "palette_grid") != (self.shape is not None):
            raise ValueError("shape belongs to content: palette_grid, which needs it")
        if (self.content == "letter") != (self.options is not None):
            raise ValueError("options belongs to content: letter, which needs it")
        if self.size is not None and self.content != "palette_grid":
            raise ValueError("size belongs to content: palette_grid")
        return self


AnswerForm = Annotated[
    MaskForm
    | DepthForm
    | DotsForm
    | NormalsForm
    | OverlayForm
    | BoxesForm
    | KeypointsForm
    | WritingForm
    | TextForm,
    Field(discriminator="kind"),
]
