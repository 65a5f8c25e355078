"""Table specs: one YAML is one table, written as .tex, .csv and .md."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from gensight.specs.base import NAME_PATTERN, Names, NumberSpec, Spec
from gensight.specs.model import Paper
from gensight.specs.prompt import Task

Statistic = Literal["value", "valid_only", "common_valid", "coverage", "format_valid", "gain"]


class PublishedSpec(Spec):
    """Where a paper prints a column's number: its benchmark, metric and setting (key: value)."""

    benchmark: str | None = None
    model: str | None = None
    metric: str
    setting: dict[str, str] = Field(default_factory=dict)


class PlaceSpec(Spec):
    """Another place of a column's number, for models that answer another prompt."""

    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    variant: str | None = None


class ColumnSpec(NumberSpec):
    """One column: which summary rows it shows, and how.

    `benchmark` names a benchmark, or a sweep. `variant: null` takes the scorer's only variant.
    `statistic` is the number under the failure policy (`value`), the number over readable answers
    alone (`valid_only`), a share, or the gain (value - floor) / (ceiling - floor). `minus_fit`
    subtracts the value under another fit (the code loss of a depth map). The printed number is
    `scale` times the number, rounded once to `decimals`. `group: null` heads the column with its
    benchmark's label. A model without a row here is looked for at `otherwise` (a number that one
    kind of model writes and another paints).

    Where rows are not models, the column says whose number it is: `model`, or the place `subject`
    in the table's subjects, whose label replaces `{model}` in the header; `subject: each` is a
    column for each of them. `average_of: row` is the plain mean of the row's other numbers. A
    number that is no score (a speed) is not `ranked`, and of one that bounds or controls another
    neither side is better (`has_direction: false`). A model that fails by its format prints ×
    (`prints_failure`) where numbers are ranked; a diagnosis of failures prints them. `hosted` says
    what models behind an API print: their number with a dagger (its time is that of the network as
    well), or nothing. `shade` names the family of columns whose numbers share one scale of shades.
    """

    model: str | None = None
    subject: Annotated[int, Field(ge=0)] | Literal["each"] | None = None
    average_of: Literal["row"] | None = None
    otherwise: PlaceSpec | None = None
    statistic: Statistic = "value"
    minus_fit: str | None = None
    header: str = Field(min_length=1)
    group: str | None = None
    decimals: int = Field(default=1, ge=0, le=6)
    scale: float = Field(default=1.0, gt=0)
    show_interval: bool | None = None
    ranked: bool = True
    has_direction: bool = True
    prints_failure: bool | None = None
    hosted: Literal["as_others", "dagger", "nothing"] = "as_others"
    shade: str | None = Field(default=None, min_length=1)
    published: PublishedSpec | None = None

    @property
    def crosses(self) -> bool:
        """Whether a model that fails by its format prints × here instead of its number."""
        return self.ranked if self.prints_failure is None else self.prints_failure

    @model_validator(mode="after")
    def _differences_are_between_fits(self) -> ColumnSpec:
        if self.minus_fit is not None and (self.fit is None or self.statistic != "value"):
            raise ValueError("minus_fit needs a fit to subtract from, and statistic: value")
        if self.model is not None and self.subject is not None:
            raise ValueError("a column names its model or the place of a subject, not both")
        return self


class GroupSpec(Spec):
    """A block of rows: the models whose display group has this name, under a printed label."""

    name: str
    label: str


class EntrySpec(Spec):
    """A row that is no model: the keys of every column that it replaces, and of their citation.

    `published` are keys of the citation's setting; its metric and benchmark are named as well where
    a row is about others than its columns. `highlight` marks the default setting of an ablation.
    """

    label: str
    group: str = "rows"
    select: dict[str, str | None] = Field(default_factory=dict)
    published: dict[str, str] = Field(default_factory=dict)
    published_metric: str | None = None
    published_benchmark: str | None = None
    decimals: int | None = Field(default=None, ge=0, le=6)
    highlight: bool = False

    @model_validator(mode="after")
    def _selects_what_a_column_has(self) -> EntrySpec:
        allowed = {"model", "prompt", "scorer", "variant", "fit", "stratum", "metric"}
        unknown = sorted(set(self.select) - allowed)
        if unknown:
            raise ValueError(
                f"select: '{unknown[0]}' is not known; allowed: {', '.join(sorted(allowed))}"
            )
        return self


class RowsSpec(Spec):
    """What the rows are: models, or settings compared on the same models (`entries`).

    `run`: every model of the run that has a number in this table; `subjects`: the table's.
    """

    models: Literal["run", "subjects"] | Names = "run"
    entries: list[EntrySpec] = Field(default_factory=list)
    heading: str = "Model"
    groups: list[GroupSpec] = Field(default_factory=list)


class ShadeSpec(Spec):
    """The ends of a scale of shades, in printed units: the numbers of white and of blue."""

    white: float = Field(allow_inf_nan=False)
    blue: float = Field(allow_inf_nan=False)

    @model_validator(mode="after")
    def _has_two_ends(self) -> ShadeSpec:
        if self.white == self.blue:
            raise ValueError("white and blue are the same number; a scale has two ends")
        return self


class TableOptionsSpec(Spec):
    """What is printed beside the numbers.

    `bold: best_set` prints every row that may be best, by its simultaneous rank interval within its
    group, in bold, and underlines the best number; `best_per_group` goes by the printed numbers
    alone, and so does `top_two`, which underlines the second, as papers do. `show_rank` prints the
    interval of ranks, `smallest_difference` what these samples can just tell between models of a
    group, or between variants or prompts of one model (in the notes). `failed_above` overrides, for
    every measured row, the share of format-invalid answers beyond which a cell prints x; null keeps
    each model's own. Reference rows never print x. `shades` are the ends of the scales of columns'
    `shade`; a family without goes from its worst to its best measured number.
    """

    show_floor_ceiling: bool = True
    show_interval: bool = False
    show_coverage: bool = True
    show_gain: bool = False
    show_rank: bool = False
    smallest_difference: Literal["none", "models", "variants", "prompts"] = "none"
    bold: Literal["best_set", "best_per_group", "top_two", "none"] = "best_per_group"
    severity: Literal["rows", "hide"] = "rows"
    failed_above: float | None = Field(default=None, gt=0, le=1)
    shades: dict[str, ShadeSpec] = Field(default_factory=dict)


class CitedTableSpec(Spec):
    """The table of a paper that prints the same numbers."""

    paper: Paper
    table: int = Field(ge=1)


class ListedColumnSpec(Spec):
    """A column of a listing: a field of its entries, and what stands above it."""

    field: str
    header: str


class ListingSpec(Spec):
    """Entries of a file of this checkout, printed as they stand: settings, or a list of labels.

    `file` is a CSV file, or null for the printed table that `published` names; then an entry is a
    model, its fields are the settings and metrics of its cells. `where` keeps the entries whose
    fields have these values, `order: length` sorts them by the length of `label`, and `group` is
    the field by which they form blocks. Each entry is a row that begins with `label` and has
    `columns`; or, with `across`, so many stand side by side, filled from top to bottom, as `entry`
    words them.

    With `sent`, tasks by the name of their block, the entries are the run's hosted models with what
    they are sent (`temperature`, `reasoning`, `max_output_tokens`, `longer`: the lengths that a cut
    answer is asked again with, `samples_per_item`), and beside it what the printed table says, as
    `printed_` and the field's name. A run that hides a paper's numbers leaves those out, and one
    that prints them alone the others.
    """

    sent: dict[str, Task] = Field(default_factory=dict)
    file: str | None = Field(default=None, pattern=r"^resources/[a-z0-9_/]+\.csv$")
    where: dict[str, str] = Field(default_factory=dict)
    order: Literal["file", "length"] = "file"
    label: str
    group: str | None = None
    columns: list[ListedColumnSpec] = Field(default_factory=list)
    across: int | None = Field(default=None, ge=1, le=12)
    entry: str = "{id} {label}"

    @model_validator(mode="after")
    def _has_one_layout(self) -> ListingSpec:
        if bool(self.columns) == (self.across is not None):
            raise ValueError("a listing has columns, or a number of entries across")
        return self


class TableSpec(Spec):
    """One table: its words, its rows, its columns and its options; or a listing in their place."""

    title: str
    caption: str
    label: str
    subjects: str | None = Field(default=None, pattern=NAME_PATTERN)
    published: CitedTableSpec | None = None
    rows: RowsSpec = RowsSpec()
    listing: ListingSpec | None = None
    columns: list[ColumnSpec] = Field(default_factory=list)
    options: TableOptionsSpec = TableOptionsSpec()
    notes: list[str] = Field(default_factory=list)

    @field_validator("columns")
    @classmethod
    def _has_columns_or_is_a_listing(
        cls, columns: list[ColumnSpec], info: ValidationInfo
    ) -> list[ColumnSpec]:
        if bool(columns) == (info.data.get("listing") is not None):
            raise ValueError("a table has columns, or it is a listing")
        return columns

    @model_validator(mode="after")
    def _shades_are_of_columns(self) -> TableSpec:
        shaded = {column.shade for column in self.columns}
        for name in self.options.shades:
            if name not in shaded:
                raise ValueError(f"options.shades: no column has shade: {name}")
        return self

    @model_validator(mode="after")
    def _a_listing_has_a_file(self) -> TableSpec:
        if not self.columns and self.listing is None:
            raise ValueError("a table has columns, or it is a listing")
        if self.listing is not None and self.listed_file is None:
            raise ValueError("listing: name its file, or the printed table under `published`")
        return self

    @property
    def listed_file(self) -> str | None:
        """Return the file that a listing prints, None where the table is none."""
        if self.listing is None or self.listing.file is not None or self.published is None:
            return self.listing.file if self.listing is not None else None
        return f"resources/published/{self.published.paper}_table_{self.published.table}.csv"

    @model_validator(mode="after")
    def _subjects_are_named(self) -> TableSpec:
        uses = self.rows.models == "subjects" or any(c.subject is not None for c in self.columns)
        if uses and self.subjects is None:
            raise ValueError("rows or columns are about subjects: name them under `subjects`")
        return self

    @property
    def numbers(self) -> dict[str, ColumnSpec]:
        """Return what names a number of a benchmark, by the start of its keys."""
        found = {}
        for place, column in enumerate(self.columns):
            key = f"columns.{place}."
            if column.average_of is not None:
                continue
            if not self.rows.entries:
                found[key] = column
            for row, entry in enumerate(self.rows.entries):
                found[f"rows.entries.{row} x {key}"] = selected(column, entry)
            if column.otherwise is not None:
                found[f"{key}otherwise."] = elsewhere(column, column.otherwise)
        return found

    @property
    def benchmarks(self) -> list[str]:
        """Return what the table needs summaries of, each once, in column order."""
        return list(dict.fromkeys(column.benchmark for column in self.columns))

    @property
    def model_names(self) -> list[str]:
        """Return the models the table names; none when its rows are the run's models."""
        return list(dict.fromkeys(name for some in self.named_models.values() for name in some))

    @property
    def named_models(self) -> dict[str, list[str]]:
        """Return the models the table names, by the key that names them."""
        named: dict[str, str | None] = {}
        named |= {f"columns.{i}.model": column.model for i, column in enumerate(self.columns)}
        for i, entry in enumerate(self.rows.entries):
            named[f"rows.entries.{i}.select.model"] = entry.select.get("model")
        found = {key: [model] for key, model in named.items() if model is not None}
        if not isinstance(self.rows.models, str):
            found["rows.models"] = list(self.rows.models)
        return found


def selected(column: ColumnSpec, entry: EntrySpec) -> ColumnSpec:
    """Return a column with the keys that a row replaces."""
    update: dict[str, Any] = dict(entry.select)
    if "model" in update:
        update["subject"] = None
    if entry.decimals is not None:
        update["decimals"] = entry.decimals
    return column.model_copy(update=update)


def elsewhere(column: ColumnSpec, place: PlaceSpec) -> ColumnSpec:
    """Return a column that looks for its number at another place."""
    update = {"prompt": place.prompt, "scorer": place.scorer, "variant": place.variant}
    return column.model_copy(update={**update, "otherwise": None})
