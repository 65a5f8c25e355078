"""Rubrics: what a judge is shown and told, what it scores, and how its reply must look."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from gensight.specs.base import Name, Spec, each_once
from gensight.specs.placeholders import pieces
from gensight.specs.prompt import Task

#: Of a rubric's text, filled per question: what was asked for, its name, the number of cells of a
#: side of a judged grid, and what a reference is to be compared in.
PLACEHOLDERS = ("query", "label", "size", "hint")
#: The pictures that a question can show: what the judged model answered, what it was shown, and one
#: of the sample's reference pictures.
PICTURES = ("answer", "input", "reference")
#: A score line begins with words of these, so that neither case nor script is ever in question.
LINE_PATTERN = r"^[A-Za-z]+( [A-Za-z]+)*$"


class DimensionSpec(Spec):
    """What is scored in whole points from `least` to `most`; `line` is its name in a score line."""

    name: Name
    least: int = Field(default=0, ge=0)
    most: int = Field(ge=1, le=1000)
    line: str | None = Field(default=None, pattern=LINE_PATTERN)

    @model_validator(mode="after")
    def _has_room(self) -> DimensionSpec:
        if self.least >= self.most:
            raise ValueError(f"least is {self.least}, and most must be above it")
        return self


class RubricPartSpec(Spec):
    """Exactly one of: a text with placeholders, or a picture by its name.

    The name of a dimension is a placeholder too, and stands for its points: `{detail}` for 0-20.
    """

    text: str | None = None
    picture: Literal["answer", "input", "reference"] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> RubricPartSpec:
        if (self.text is None) == (self.picture is None):
            raise ValueError("a part holds exactly one of text and picture")
        return self


class PicturesSpec(Spec):
    """How an answer becomes the picture that is judged.

    Cells of a palette grid are enlarged, all by the same whole number, until a side has at least
    `assumed_enlarged_to_px` (the paper's number is lost). A picture stays as it is.
    """

    assumed_enlarged_to_px: int = Field(default=512, ge=1, le=4096)


class RubricSpec(Spec):
    """One rubric.

    A reply in `json` is one object that holds, for every dimension, an object with its `score`
    (with `reasons: false` the number itself), and besides them at most `notes`, which are kept,
    and `ignored` keys, which are not: a judge's own total counts for nothing. A `score_line` is
    `Name of the dimension: points` on a line of its own.

    One question is asked for each answer, or for each of the sample's reference pictures.
    """

    task: Task
    reply: Literal["json", "score_line"]
    dimensions: list[DimensionSpec] = Field(min_length=1)
    reasons: bool = True
    notes: Annotated[list[Name], AfterValidator(each_once)] = Field(default_factory=list)
    ignored: Annotated[list[Name], AfterValidator(each_once)] = Field(default_factory=list)
    per: Literal["answer", "reference"] = "answer"
    pictures: PicturesSpec = PicturesSpec()
    parts: list[RubricPartSpec] = Field(min_length=1)

    @property
    def most(self) -> int:
        """Return the points of a perfect answer."""
        return sum(dimension.most for dimension in self.dimensions)

    @property
    def least(self) -> int:
        """Return the points of the worst answer that can be judged."""
        return sum(dimension.least for dimension in self.dimensions)

    @property
    def ranges(self) -> dict[str, list[int]]:
        """Return the least and the most points of each dimension, as `measures.judged` reads it."""
        return {one.name: [one.least, one.most] for one in self.dimensions}

    @property
    def shown(self) -> list[str]:
        """Return the names of the pictures that a question shows, in their order."""
        return [part.picture for part in self.parts if part.picture is not None]

    @property
    def placeholders(self) -> set[str]:
        """Return the placeholders of all its texts, those of dimensions too."""
        known = (*PLACEHOLDERS, *(dimension.name for dimension in self.dimensions))
        texts = [part.text or "" for part in self.parts]
        return {name for text in texts for _, name in pieces(text, known) if name is not None}

    @model_validator(mode="after")
    def _fits_together(self) -> RubricSpec:
        names = [dimension.name for dimension in self.dimensions]
        each_once([*names, *self.notes, *self.ignored])
        taken = set(names) & set(PLACEHOLDERS)
        if taken:
            raise ValueError(f"'{min(taken)}' is a placeholder, and no name of a dimension")
        self._check_reply()
        self._check_pictures()
        unknown = {name for name in self.placeholders if name == "hint" and self.per == "answer"}
        if unknown:
            raise ValueError("{hint} belongs to a reference; set per: reference")
        return self

    def _check_reply(self) -> None:
        if self.reply == "json":
            return
        if len(self.dimensions) > 1 or self.dimensions[0].line is None:
            raise ValueError("a score_line has one dimension, whose `line` names it")
        if self.notes or self.ignored:
            raise ValueError("notes and ignored keys belong to reply: json")

    def _check_pictures(self) -> None:
        each_once(self.shown)
        if "answer" not in self.shown:
            raise ValueError("parts show no picture: answer, so nothing would be judged")
        if ("reference" in self.shown) != (self.per == "reference"):
            raise ValueError("picture: reference and per: reference go together")
