"""Tables that print a file as it stands: settings of models, lists of labels."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gensight import published
from gensight.errors import RecordError
from gensight.specs.tables import ColumnSpec, ListingSpec, TableSpec
from gensight.tables.cells import Cell, Column, Group, Row, RunFacts, Table
from gensight.tables.notes import table_notes

Entry = Mapping[str, str]
EMPTY = Cell(kind="text")
#: Before the name of a field: what the paper prints of it.
PRINTED = "printed_"


def read_entries(
    spec: TableSpec, root: Path, sent: Sequence[Entry] | None = None
) -> list[dict[str, str]]:
    """Return the entries of a table's listing: rows of a CSV file, or models of a printed table.

    `sent` are the run's own models with what they are sent; then the print stands beside each, and
    a model that is not in print has none.

    Raises:
        RecordError: the file cannot be read.
        GensightError: there is no such printed table.
    """
    assert spec.listing is not None
    if spec.listing.file is None:
        assert spec.published is not None
        printed = _of_print(published.load(spec.published.paper, spec.published.table, root))
        return printed if sent is None else _beside_print(sent, printed)
    path = root / spec.listing.file
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise RecordError(
            f"{spec.listing.file}: cannot be read ({error.strerror}); restore it"
        ) from None


def _of_print(cells: Iterable[published.PublishedCell]) -> list[dict[str, str]]:
    """Return one entry for each model of a block, with its settings and its numbers as printed."""
    entries: dict[tuple[str, str], dict[str, str]] = {}
    for cell in cells:
        names = {"row_group": cell.row_group, "model": cell.model}
        entry = entries.setdefault((cell.row_group, cell.model), names)
        entry |= {**cell.setting, cell.metric: cell.printed}
    return list(entries.values())


def _beside_print(sent: Sequence[Entry], printed: Sequence[Entry]) -> list[dict[str, str]]:
    known = {(entry["row_group"], entry["model"]): entry for entry in printed}
    fields = dict.fromkeys(field for entry in printed for field in entry)
    found = []
    for entry in sent:
        cited = known.get((entry["row_group"], entry["cited_as"]), {})
        found.append({**entry, **{f"{PRINTED}{field}": cited.get(field, "–") for field in fields}})
    return found


def build_listing(spec: TableSpec, entries: Sequence[Entry], facts: RunFacts) -> Table:
    """Set entries into a table of text, in blocks where the listing has a field for them.

    Raises:
        RecordError: an entry lacks a field that the listing names.
    """
    assert spec.listing is not None
    listing = spec.listing
    kept = [entry for entry in entries if all(_of(entry, k) == v for k, v in listing.where.items())]
    if listing.order == "length":
        kept.sort(key=lambda e: (len(_of(e, listing.label)), _of(e, listing.label).casefold()))
    headers = [column.header for column in listing.columns]
    if listing.across is not None:
        headers = [""] * (listing.across - 1)
    columns = tuple(_column(header) for header in headers)
    groups = [
        Group(name=name, label=label, rows=tuple(_rows(listing, name, members)))
        for name, label, members in _blocks(spec, listing, kept)
    ]
    return Table(
        title=spec.title,
        caption=spec.caption,
        label=spec.label,
        run=facts.name,
        mark=facts.mark,
        heading=spec.rows.heading if listing.across is None else "",
        columns=columns,
        groups=tuple(groups),
        notes=tuple(table_notes(spec, columns, groups, {}, {}, facts)),
    )


def _blocks(
    spec: TableSpec, listing: ListingSpec, entries: Sequence[Entry]
) -> list[tuple[str, str, list[Entry]]]:
    """Return name, label and entries of each block, in the spec's order and then as they come."""
    if listing.group is None:
        return [("rows", "", list(entries))]
    labels = {group.name: group.label for group in spec.rows.groups}
    found: dict[str, list[Entry]] = {name: [] for name in labels}
    for entry in entries:
        found.setdefault(_of(entry, listing.group), []).append(entry)
    return [(name, labels.get(name, name), members) for name, members in found.items() if members]


def _rows(listing: ListingSpec, group: str, entries: Sequence[Entry]) -> list[Row]:
    if listing.across is None:
        lines = [
            [_of(entry, name) for name in (listing.label, *(c.field for c in listing.columns))]
            for entry in entries
        ]
    else:
        lines = _side_by_side([_worded(listing, entry) for entry in entries], listing.across)
    return [
        Row(
            model=first,
            label=first,
            group=group,
            role="listed",
            cells=tuple(Cell(kind="text", printed=text) if text else EMPTY for text in others),
        )
        for first, *others in lines
    ]


def _side_by_side(texts: Sequence[str], across: int) -> list[list[str]]:
    """Set texts side by side, from top to bottom and then from left to right.

    >>> _side_by_side(["a", "b", "c", "d", "e"], 2)
    [['a', 'd'], ['b', 'e'], ['c', '']]
    """
    deep = math.ceil(len(texts) / across)
    padded = [*texts, *[""] * (deep * across - len(texts))]
    return [padded[place::deep] for place in range(deep)]


def _worded(listing: ListingSpec, entry: Entry) -> str:
    try:
        return listing.entry.format_map(entry)
    except (KeyError, ValueError, IndexError, AttributeError):
        known = ", ".join(sorted(entry))
        raise RecordError(
            f"listing.entry: '{listing.entry}' names a field that is not there; allowed: {known}"
        ) from None


def _of(entry: Entry, field: str) -> str:
    if field not in entry:
        raise RecordError(
            f"listing: an entry has no field '{field}'; allowed: {', '.join(sorted(entry))}"
        )
    return entry[field]


def _column(header: str) -> Column:
    # A column spec names what a number is; of a listing only the text beside it is told.
    spec = ColumnSpec(benchmark="listing", scorer="listing", metric="text", header=header or "text")
    return Column(spec=spec, group="", header=header, kind="text")
