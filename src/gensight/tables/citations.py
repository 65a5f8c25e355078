"""The numbers that a paper prints, as cells: marked as published, never ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gensight.errors import RecordError
from gensight.published import PublishedCell
from gensight.specs.tables import ColumnSpec, EntrySpec, PublishedSpec
from gensight.tables.cells import (
    API_TIME,
    NOT_APPLICABLE,
    NOT_PRINTED,
    OTHER_PROTOCOL,
    Cell,
    ModelInfo,
)

_MARKS = {"api_time": (API_TIME,), "other_protocol": (OTHER_PROTOCOL,)}


class Citations:
    """One table of one paper; without cells it cites nothing."""

    def __init__(self, paper: str, table: int, cells: Sequence[PublishedCell]) -> None:
        self.paper, self.table = paper, table
        self._cells = tuple(cells)

    def of_model(self, info: ModelInfo, columns: Sequence[ColumnSpec]) -> tuple[Cell, ...] | None:
        """Return the printed cells of a model, None where the paper does not print it."""
        name = info.cited_as.get(self.paper)
        if name is None or not any(cell.model == name for cell in self._cells):
            return None
        return tuple(self._cell(column.published, column, name, {}) for column in columns)

    def of_entry(
        self, entry: EntrySpec, columns: Sequence[ColumnSpec], infos: Mapping[str, ModelInfo]
    ) -> tuple[Cell, ...] | None:
        """Return the printed cells of a setting, None where the paper prints none of them."""
        cells = tuple(self._of_entry(entry, column, infos) for column in columns)
        return cells if any(cell.kind != "not_applicable" for cell in cells) else None

    def _of_entry(
        self, entry: EntrySpec, column: ColumnSpec, infos: Mapping[str, ModelInfo]
    ) -> Cell:
        info = infos.get(column.model or "")
        name = info.cited_as.get(self.paper) if info else None
        cited = column.published
        if cited is None or (info is not None and name is None and cited.model is None):
            return NOT_APPLICABLE  # a model that the paper does not print
        of_row = {"metric": entry.published_metric, "benchmark": entry.published_benchmark}
        update = {key: value for key, value in of_row.items() if value is not None}
        return self._cell(cited.model_copy(update=update), column, name, entry.published)

    def _cell(
        self,
        cited: PublishedSpec | None,
        column: ColumnSpec,
        model: str | None,
        setting: Mapping[str, str],
    ) -> Cell:
        if cited is None:
            return NOT_APPLICABLE
        found = [
            cell
            for cell in self._cells
            if cell.metric == cited.metric
            and cited.benchmark in (None, cell.benchmark)
            and (cited.model or model) in (None, cell.model)
        ]
        # A key that none of these numbers has cannot tell them apart.
        keys = {key for cell in found for key in cell.setting}
        wanted = {k: v for k, v in {**cited.setting, **setting}.items() if k in keys}
        found = [c for c in found if all(c.setting.get(k) == v for k, v in wanted.items())]
        if len(found) > 1:
            raise RecordError(
                f"{self.paper} table {self.table} prints {len(found)} numbers for the column "
                f"'{column.header}' of {model or 'this row'}; add what tells them apart to its "
                f"published.setting"
            )
        return cell_of(found[0]) if found else NOT_APPLICABLE


def cell_of(published: PublishedCell) -> Cell:
    """Return a printed number as a cell, with the digits that the paper prints."""
    if published.status == "failed":
        return Cell(kind="failed")
    if published.status == "unavailable" or published.value is None:
        return NOT_APPLICABLE
    derived = published.derived == "not_printed"
    return Cell(
        kind="number",
        number=float(published.value),
        printed=published.printed,
        marks=(NOT_PRINTED,) if derived else _MARKS.get(published.status, ()),
    )
