"""The typed parts of a table: what a cell is, before any renderer decides how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gensight.records import Summary
from gensight.specs.tables import ColumnSpec

# Rows of every other role (floor, ceiling, disturbed, published) never compete.
COMPETING_ROLES = frozenset({"measured"})
# Reference rows never print x: a blind model may well ignore the asked format on purpose.
FAILING_ROLES = frozenset({"measured", "published"})


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """How a model is named and placed, and when its cells print x.

    `failed_above` is the share of format-invalid answers beyond which a cell is a failure; None
    never prints x. `severity_unit` follows the severity in the label of a disturbed row. `hosted`
    models answer through an API, and may do so under the ids of `answered_as`; the adapter of a
    `proven` one has met the real model. `cited_as` is the name under which each paper prints it.
    """

    label: str
    group: str = "models"
    order: int = 100
    role: str = "measured"
    failed_above: float | None = 0.5
    note: str | None = None
    severity_unit: str = ""
    hosted: bool = False
    proven: bool = True
    answered_as: tuple[str, ...] = ()
    cited_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def competes(self) -> bool:
        """Whether the row may be best: measured here, under the same protocol."""
        return self.role in COMPETING_ROLES


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The run a table belongs to: its name, the table's mark, and the protocol in words.

    The mark begins with `gensight-digest:<hex>`; what follows (`gensight-inputs:<hex>`) is carried
    along unread.
    """

    name: str
    mark: str
    protocol: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Return the hexadecimal digest that the mark begins with."""
        return self.mark.split()[0].removeprefix("gensight-digest:")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell.

    `kind` is `number`, `failed` (x: the format was not followed), `incomplete` (answers that
    never arrived: no number is shown), `undefined` (summarised, but the statistic has no value),
    `not_applicable` (the model does not do this), `words` (answers read / answers scored, ranks) or
    `text` (an entry of a listing).
    `number` is unrounded and unscaled; `printed` is that number rounded, or the words. `marks`
    holds `floor` and `ceiling` where this row sets that of its column, and the signs of `SIGNS`.
    `best` cells may be best, `leading` is the best number among them. `shade` in [0, 1] is the
    colour behind it, from white to blue; None: none.
    """

    kind: str
    number: float | None = None
    printed: str = ""
    interval: tuple[str, str] | None = None
    best: bool = False
    leading: bool = False
    shade: float | None = None
    marks: tuple[str, ...] = ()
    summary: Summary | None = None


NOT_APPLICABLE = Cell(kind="not_applicable")

API_TIME, OTHER_PROTOCOL, NOT_PRINTED = "†", "‡", "¶"
#: Signs after a number, and what they say.
SIGNS = {
    API_TIME: "timed end to end through an API: network, queue, other requests in flight",
    OTHER_PROTOCOL: "reported under another protocol; not comparable with the other rows",
    NOT_PRINTED: "follows from what the paper prints, and is not printed itself",
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column as printed.

    A `readable` column counts the answers of the columns before it, a `rank` column holds the
    interval of ranks of the number before it; both hold words. A `text` column is one of a listing.
    `judged_by` names who judged the answers behind its numbers; it stands in the header.
    """

    spec: ColumnSpec
    group: str
    header: str
    judged_by: str = ""
    higher_is_better: bool | None = None
    kind: Literal["number", "readable", "rank", "text"] = "number"

    @property
    def has_words(self) -> bool:
        """Whether the column holds words about the numbers before it."""
        return self.kind in ("readable", "rank")

    @property
    def block(self) -> str:
        """What stands over it: its group, and who judged."""
        words = [self.group, f"by {self.judged_by}" if self.judged_by else ""]
        return ", ".join(word for word in words if word)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row: a model (at one severity), or the floor or ceiling of every column."""

    model: str
    label: str
    group: str
    role: str
    severity: float | None = None
    note: str | None = None
    highlight: bool = False
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Group:
    """A block of rows under one printed label."""

    name: str
    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A whole table, ready for any renderer; `notes` are plain text, in printing order."""

    title: str
    caption: str
    label: str
    run: str
    mark: str
    heading: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...]
