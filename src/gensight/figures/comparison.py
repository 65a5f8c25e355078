"""Comparisons: one row per sample and one column per model, beside the input and the truth.

The usual layout of papers. What was asked stands above a row, the number of an answer below it,
with its class of failure if it has one. With several samples per row the columns repeat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from gensight.errors import GensightError
from gensight.figures import style
from gensight.figures.items import GalleryItem, Tile
from gensight.figures.layout import (
    CAPTION_LINE_IN,
    CAPTION_PT,
    LEFT_IN,
    Placed,
    Strip,
    names_strip,
    tiles_strip,
    wrapped,
    write_lines,
)
from gensight.figures.tiles import row_tiles
from gensight.specs.figures import ComparisonSpec

GAP_IN, GROUP_GAP_IN = 0.05, 0.2
# Narrower tiles show nothing.
MAX_COLUMNS = 12
NAME_PT, QUERY_LINES = 6.5, 2
NOT_ASKED = Tile(None, "no answer to this sample")

#: The answers about one sample by one rule, by model label.
Row = dict[str, GalleryItem]


def strips(spec: ComparisonSpec, items: Sequence[GalleryItem]) -> list[Strip]:
    """Return the names of the columns, then the rows in the order of the rules.

    Raises:
        GensightError: there are more than MAX_COLUMNS columns.
    """
    if not items:
        return []
    labels = list(dict.fromkeys(item.model_label for item in items))
    columns = _Columns(len(labels) + 2, spec.samples_per_row)
    if columns.n * columns.groups > MAX_COLUMNS:
        raise GensightError(
            f"comparison '{spec.title}': {columns.n * columns.groups} columns are too narrow to "
            f"see anything; name fewer models or fewer samples_per_row (at most {MAX_COLUMNS} "
            f"columns)"
        )
    rows = list(_rows(items))
    used = min(columns.groups, len(rows))
    names = [
        (name, columns.left(group, column), columns.tile_in)
        for group in range(used)
        for column, name in enumerate(("Input", "Truth", *labels))
    ]
    found = [names_strip(names, NAME_PT)]
    for first in range(0, len(rows), columns.groups):
        found += _lines(spec, rows[first : first + columns.groups], labels, columns)
    return found


class _Columns:
    """Where the columns of each group of a row lie."""

    def __init__(self, n: int, groups: int) -> None:
        self.n, self.groups = n, groups
        free_in = style.WIDTH_IN - 2 * LEFT_IN - (groups - 1) * GROUP_GAP_IN
        self.group_in = free_in / groups
        self.tile_in = (self.group_in - (n - 1) * GAP_IN) / n

    def left(self, group: int, column: int = 0) -> float:
        start_in = LEFT_IN + group * (self.group_in + GROUP_GAP_IN)
        return start_in + column * (self.tile_in + GAP_IN)


def _rows(items: Sequence[GalleryItem]) -> Iterator[Row]:
    """Yield the answers about each sample, in the order in which the first model has them."""
    keys = list(dict.fromkeys((item.rule, item.sample_id) for item in items))
    for key in keys:
        yield {i.model_label: i for i in items if (i.rule, i.sample_id) == key}


def _lines(
    spec: ComparisonSpec, rows: Sequence[Row], labels: Sequence[str], columns: _Columns
) -> list[Strip]:
    """Return the strip of what was asked and that of the pictures."""
    asked = [_asked(row, columns) for row in rows]
    placed = [
        placed
        for group, row in enumerate(rows)
        for placed in _placed(spec, row, labels, columns, group)
    ]
    return [_asked_strip(asked, columns), tiles_strip(placed, columns.tile_in)]


def _asked(row: Row, columns: _Columns) -> list[str]:
    item = next(iter(row.values()))
    query = f"“{item.query}”  ·  " if item.query else ""
    text = f"{query}{item.sample_id}, {item.rule}"
    return wrapped(text, style.characters(columns.group_in, CAPTION_PT), QUERY_LINES)


def _asked_strip(asked: Sequence[Sequence[str]], columns: _Columns) -> Strip:
    most = max(map(len, asked))
    height_in = CAPTION_LINE_IN * most + 0.04

    def draw(figure: Figure, top_in: float) -> None:
        for group, lines in enumerate(asked):
            first_in = top_in + CAPTION_LINE_IN * (most - len(lines))
            write_lines(figure, columns.left(group), first_in, lines, CAPTION_PT)

    return Strip(height_in, draw)


def _placed(
    spec: ComparisonSpec, row: Row, labels: Sequence[str], columns: _Columns, group: int
) -> Iterator[Placed]:
    tiles = {label: row_tiles(spec.task, item) for label, item in row.items()}
    source, _, _, truth = next(iter(tiles.values()))
    told = truth.picture is not None and spec.task in ("depth", "counting")
    yield Placed(source, columns.left(group))
    yield Placed(truth, columns.left(group, 1), _wrapped(truth.words, columns) if told else ())
    for column, label in enumerate(labels, start=2):
        left_in = columns.left(group, column)
        if label not in row:
            yield Placed(NOT_ASKED, left_in)
            continue
        output, extracted = tiles[label][1:3]
        tile = output if spec.show == "output" else extracted
        yield Placed(tile, left_in, _caption(spec, row[label], extracted, columns))


def _caption(
    spec: ComparisonSpec, item: GalleryItem, extracted: Tile, columns: _Columns
) -> list[str]:
    counted = spec.task == "counting" and extracted.picture is not None
    lines = [item.number, *([extracted.words] if counted else []), item.failure or ""]
    return [part for line in lines if line for part in _wrapped(line, columns)]


def _wrapped(text: str, columns: _Columns) -> list[str]:
    return wrapped(text, style.characters(columns.tile_in, CAPTION_PT))
