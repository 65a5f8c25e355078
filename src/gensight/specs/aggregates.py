"""Aggregate specs: averages, differences, anchored scores and correlations of other numbers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gensight.specs.base import NAME_PATTERN, Name, Names, NumberSpec, Spec, each_once

#: What is told of a correlation; a coefficient never stands without its p and the number of models.
CORRELATED = (
    "models",
    "pearson",
    "pearson_p",
    "spearman",
    "spearman_p",
    "kendall",
    "kendall_p",
    "models_needed",
)


class ModelNumberSpec(Spec):
    """What one model reads under a number or an earlier row: an anchor that all models share."""

    of: Name
    model: Name


Anchor = float | ModelNumberSpec


class AnchorsSpec(Spec):
    """What counts 0 and what counts 100: a constant, or the number of a reference model."""

    low: Anchor
    high: Anchor


class NormalisedSpec(Spec):
    """Min-max over a set of rows: 0 is the worst of them, 100 the best (PixelBench, Table 2).

    `row_set` lists the models, or is every measured model of the run. `rounding: paper` rounds each
    component first, to its `decimals`, as if it were read from the printed table.
    """

    row_set: Literal["run"] | Names = "run"
    rounding: Literal["paper", "none"] = "none"
    decimals: dict[Name, Annotated[int, Field(ge=0, le=6)]] = Field(default_factory=dict)


class AggregateRowSpec(Spec):
    """One aggregate: the mean, or the difference, of numbers and earlier rows, by their names.

    The components of a mean may be rescaled first, times 100: by `anchored`, what counts 0 and 100
    of each component; or by `normalised`, between the extremes of a set of rows. A normalised row
    is relative to its set, so it is never ranked and no other row is made from it.
    """

    name: Name
    mean_of: Names | None = None
    difference: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    anchored: dict[Name, AnchorsSpec] | None = None
    normalised: NormalisedSpec | None = None
    ranked: bool = True

    @property
    def components(self) -> list[str]:
        """Return the names of the numbers and rows that this one is made from."""
        return list(self.mean_of or self.difference or ())

    @property
    def needs(self) -> list[str]:
        """Return the names of the numbers and rows behind it, those of its anchors as well."""
        ends = [end for pair in (self.anchored or {}).values() for end in (pair.low, pair.high)]
        return [*self.components, *(end.of for end in ends if isinstance(end, ModelNumberSpec))]

    @property
    def is_ranked(self) -> bool:
        """Whether models are ranked on it."""
        return self.ranked and self.normalised is None

    @model_validator(mode="after")
    def _is_one_thing(self) -> AggregateRowSpec:
        if bool(self.mean_of) == bool(self.difference):
            raise ValueError("a row needs either mean_of or difference")
        if self.anchored is not None and self.normalised is not None:
            raise ValueError("a row is anchored or normalised, not both")
        if self.difference and (self.anchored is not None or self.normalised is not None):
            raise ValueError("a difference is not rescaled; anchored and normalised go with means")
        if self.anchored is not None and set(self.anchored) != set(self.components):
            raise ValueError("anchored: give low and high of every component, and of no other")
        if self.normalised is not None:
            wanted = set(self.components) if self.normalised.rounding == "paper" else set()
            if set(self.normalised.decimals) != wanted:
                raise ValueError(
                    "normalised.decimals: with rounding: paper give those of every component, "
                    "else none"
                )
        return self


class SideSpec(Spec):
    """One side of a correlation: a row of this aggregate or of another one.

    `decimals` rounds it first, as a paper does that correlates its printed numbers.
    """

    row: Name
    aggregate: str | None = Field(default=None, pattern=NAME_PATTERN)
    decimals: Annotated[int, Field(ge=0, le=6)] | None = None


class CorrelationSpec(Spec):
    """How two rows go together over models: all measured ones that have both, or those listed."""

    name: Name
    x: SideSpec
    y: SideSpec
    models: Literal["measured"] | Names = "measured"


class AggregateSpec(Spec):
    """One file of aggregates: numbers whose samples share clusters, and what is made from them."""

    numbers: dict[Name, NumberSpec] = Field(default_factory=dict)
    rows: list[AggregateRowSpec] = Field(default_factory=list)
    correlations: list[CorrelationSpec] = Field(default_factory=list)

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks that the numbers are of, each once."""
        return list(dict.fromkeys(number.benchmark for number in self.numbers.values()))

    @property
    def aggregates(self) -> list[str]:
        """Return the other aggregates whose rows are correlated, each once."""
        sides = [side for found in self.correlations for side in (found.x, found.y)]
        return list(dict.fromkeys(side.aggregate for side in sides if side.aggregate is not None))

    @property
    def metrics(self) -> list[str]:
        """Return what a table may show of the file: its rows, and what is told of correlations."""
        return [*(row.name for row in self.rows), *(CORRELATED if self.correlations else ())]

    @property
    def named_models(self) -> dict[str, list[str]]:
        """Return the models that the spec names, by the key that names them."""
        found: dict[str, list[str]] = {}
        for place, row in enumerate(self.rows):
            for component, anchors in (row.anchored or {}).items():
                for end, anchor in (("low", anchors.low), ("high", anchors.high)):
                    if isinstance(anchor, ModelNumberSpec):
                        key = f"rows.{place}.anchored.{component}.{end}.model"
                        found[key] = [anchor.model]
            if row.normalised is not None and not isinstance(row.normalised.row_set, str):
                found[f"rows.{place}.normalised.row_set"] = list(row.normalised.row_set)
        for place, correlation in enumerate(self.correlations):
            if not isinstance(correlation.models, str):
                found[f"correlations.{place}.models"] = list(correlation.models)
        return found

    @model_validator(mode="after")
    def _rows_are_made_from_what_is_there(self) -> AggregateSpec:
        if not self.rows and not self.correlations:
            raise ValueError("give rows or correlations")
        known, relative = set(self.numbers), set[str]()
        for row in self.rows:
            if row.name in known | relative:
                raise ValueError(f"rows: '{row.name}' is the name of a number or row already")
            for name in row.needs:
                if name in relative:
                    raise ValueError(
                        f"rows: '{row.name}' is made from '{name}', which is relative to a set of "
                        f"rows; make it from the components of '{name}'"
                    )
                if name not in known:
                    raise ValueError(
                        f"rows: '{row.name}' is made from '{name}', which is no number and no "
                        f"earlier row; known here: {', '.join(sorted(known))}"
                    )
            (relative if row.normalised is not None else known).add(row.name)
        return self

    @model_validator(mode="after")
    def _correlations_have_their_rows(self) -> AggregateSpec:
        own = {row.name for row in self.rows}
        each_once([correlation.name for correlation in self.correlations])
        for correlation in self.correlations:
            for side in (correlation.x, correlation.y):
                if side.aggregate is None and side.row not in own:
                    raise ValueError(
                        f"correlations: '{correlation.name}' is about '{side.row}', which is no "
                        f"row here; name the aggregate that has it"
                    )
        return self
