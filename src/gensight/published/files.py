"""Where the published numbers lie, and how their CSV files are read."""

from __future__ import annotations

import csv
from decimal import Decimal, InvalidOperation
from pathlib import Path

from gensight.errors import GensightError

FOLDER = Path("resources/published")


def folder(root: Path | None = None) -> Path:
    """Return the folder of published numbers, below `root` or below the checkout we stand in.

    Without `root`, the current directory and every folder above it are tried, nearest first.

    Raises:
        GensightError: there is none.
    """
    here = Path.cwd()
    for place in [root] if root is not None else [here, *here.parents]:
        if (place / FOLDER).is_dir():
            return place / FOLDER
    raise GensightError(
        f"{root or here}: no {FOLDER} here; run this inside a checkout, or name its root"
    )


def read(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the rows of a CSV file that must have exactly these columns.

    Raises:
        GensightError: the file is missing, or its columns are others.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            rows = list(reader)
    except FileNotFoundError:
        raise GensightError(f"{path}: this file does not exist; restore it") from None
    except (OSError, ValueError, csv.Error) as error:
        raise GensightError(f"{path}: cannot be read: {error}") from None
    if tuple(reader.fieldnames or ()) != columns:
        raise GensightError(f"{path}: the columns must be {', '.join(columns)}")
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise GensightError(f"{path}: row {line}: must have {len(columns)} cells")
    return rows


def number(path: Path, line: int, text: str) -> Decimal:
    """Return a number as it is printed, trailing zeros and all.

    Raises:
        GensightError: the text is no finite number; the message names file and row.
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise GensightError(f"{path}: row {line}: '{text}' is not a number")
    return value
