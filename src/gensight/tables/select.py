"""Finding the one summary row behind a cell."""

from __future__ import annotations

from collections.abc import Iterable

from gensight.errors import RecordError
from gensight.records import Summary
from gensight.specs.tables import ColumnSpec
from gensight.variants import only_variant

Key = tuple[str, float | None, str, str, str, str, str | None, str | None, str]


class SummaryIndex:
    """Summary rows by everything that identifies them."""

    def __init__(self, summaries: Iterable[Summary]) -> None:
        """Index the rows.

        Raises:
            RecordError: two rows are the same cell, so the table could not say which is right.
        """
        self._rows: dict[Key, Summary] = {}
        self._variants: dict[tuple[str, str, str], set[str]] = {}
        for row in summaries:
            key = _key(row)
            if key in self._rows:
                named = "/".join(str(part) for part in key if part is not None)
                raise RecordError(f"summaries hold two rows for {named}; rebuild the summaries")
            self._rows[key] = row
            scorer = (row.benchmark, row.prompt, row.scorer)
            self._variants.setdefault(scorer, set()).add(row.variant)

    @property
    def has_rows(self) -> bool:
        """Whether anything was measured: a table of printed numbers alone has no rows here."""
        return bool(self._rows)

    @property
    def has_ranks(self) -> bool:
        """Whether any model was ranked: reference rows alone never are."""
        return any(row.group_rank_low is not None for row in self._rows.values())

    def find(
        self, model: str, severity: float | None, column: ColumnSpec, fit: str | None
    ) -> Summary | None:
        """Return the row of a model in a column under a fit, or None where there is none."""
        variant = self.variant(column)
        if variant is None:
            return None
        place = (column.benchmark, column.prompt, column.scorer, variant)
        return self._rows.get((model, severity, *place, fit, column.stratum, column.metric))

    def column_rows(self, column: ColumnSpec) -> list[Summary]:
        """Return the rows of every model in a column, in a fixed order."""
        variant = self.variant(column)
        place = (column.benchmark, column.prompt, column.scorer, variant)
        tail = (column.fit, column.stratum, column.metric)
        found = [row for key, row in self._rows.items() if key[2:6] == place and key[6:] == tail]
        return sorted(found, key=lambda row: (row.model, row.severity is not None, row.severity))

    def severities(self, model: str, columns: Iterable[ColumnSpec]) -> list[float | None]:
        """Return the severities at which a model has a row in some column, missing first."""
        found = {
            row.severity
            for column in columns
            for row in self.column_rows(column)
            if row.model == model
        }
        return sorted(found, key=lambda severity: (severity is not None, severity or 0.0))

    def variant(self, column: ColumnSpec) -> str | None:
        """Return the column's variant, or the scorer's only one; None where nothing was scored.

        Raises:
            SpecError: the column names no variant and the scorer has several.
        """
        if column.variant is not None:
            return column.variant
        place = (column.benchmark, column.prompt, column.scorer)
        where = f"column '{column.header}' of {column.benchmark}"
        return only_variant(where, column.scorer, self._variants.get(place, ()))


def _key(row: Summary) -> Key:
    place = (row.benchmark, row.prompt, row.scorer, row.variant)
    return (row.model, row.severity, *place, row.fit, row.stratum, row.metric)
