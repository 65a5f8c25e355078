"""Table specs: one YAML is one table, written as .tex, .csv and .md."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from gensight.specs.base import NAME_PATTERN, Names, Spec

Statistic = Literal["value", "valid_only", "common_valid", "coverage", "format_valid", "gain"]


class ColumnSpec(Spec):
    """One column: which summary rows it shows, and how.

    `variant: null` takes the scorer's only variant. `statistic` is the number under the failure
    policy (`value`), the number over readable answers alone (`valid_only`), a share, or the gain
    (value - floor) / (ceiling - floor). `minus_fit` subtracts the value under another fit (the
    code loss of a depth map). The printed number is `scale` times the number, rounded once to
    `decimals`. `group: null` heads the column with its benchmark's label.
    """

    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    variant: str | None = None
    fit: str | None = None
    stratum: str | None = None
    metric: str = Field(pattern=NAME_PATTERN)
    statistic: Statistic = "value"
    minus_fit: str | None = None
    header: str = Field(min_length=1)
    group: str | None = None
    decimals: int = Field(default=1, ge=0, le=6)
    scale: float = Field(default=1.0, gt=0)
    show_interval: bool | None = None

    @model_validator(mode="after")
    def _differences_are_between_fits(self) -> ColumnSpec:
        if self.minus_fit is not None and (self.fit is None or self.statistic != "value"):
            raise ValueError("minus_fit needs a fit to subtract from, and statistic: value")
        return self


class GroupSpec(Spec):
    """A block of rows: the models whose display group has this name, under a printed label."""

    name: str
    label: str


class RowsSpec(Spec):
    """Which models are rows. `run`: every model of the run that has a number in this table."""

    models: Literal["run"] | Names = "run"
    groups: list[GroupSpec] = Field(default_factory=list)


class TableOptionsSpec(Spec):
    """What is printed beside the numbers.

    `failed_above` overrides, for every measured row, the share of format-invalid answers beyond
    which a cell prints x; null keeps each model's own. Reference rows never print x.
    """

    show_floor_ceiling: bool = True
    show_interval: bool = False
    show_coverage: bool = True
    show_gain: bool = False
    bold: Literal["best_per_group", "none"] = "best_per_group"
    severity: Literal["rows", "hide"] = "rows"
    failed_above: float | None = Field(default=None, gt=0, le=1)


class TableSpec(Spec):
    """One table: its words, its rows, its columns and its options."""

    title: str
    caption: str
    label: str
    rows: RowsSpec = RowsSpec()
    columns: list[ColumnSpec] = Field(min_length=1)
    options: TableOptionsSpec = TableOptionsSpec()
    notes: list[str] = Field(default_factory=list)

    @property
    def numbers(self) -> dict[str, ColumnSpec]:
        """Return what names a number of a benchmark, by the start of its keys."""
        return {f"columns.{i}.": column for i, column in enumerate(self.columns)}

    @property
    def benchmarks(self) -> list[str]:
        """Return the benchmarks whose summaries the table needs, each once, in column order."""
        return list(dict.fromkeys(column.benchmark for column in self.columns))

    @property
    def model_names(self) -> list[str]:
        """Return the models the table names; none when its rows are the run's models."""
        return [] if self.rows.models == "run" else list(self.rows.models)
