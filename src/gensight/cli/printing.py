"""What the commands print: one JSON object, or aligned lines for people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print exactly one JSON object."
)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, keys sorted; numbers that are not finite become null."""
    click.echo(json.dumps(_plain(content), sort_keys=True, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def print_table(rows: Iterable[Sequence[Any]], *, indent: str = "") -> None:
    """Print rows of cells with aligned columns, the last one ragged."""
    texts = [[as_text(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in texts), default=0)
    widths = [
        max((len(row[i]) for row in texts if i < len(row)), default=0) for i in range(columns)
    ]
    for row in texts:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        click.echo((indent + "  ".join(cells)).rstrip())


def as_text(value: Any) -> str:
    """Return a value as people read it: six significant digits, yes and no, - for missing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
