"""The paper's hundred concepts with category and emoji, in its order; and which of them are drawn.

`code_points.csv` holds one code point for each concept that has an emoji in Unicode 15; its notes
say where the emoji shows something else beside or a special kind.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gensight.datasets.icons.drawings import LABELS

FILE = Path(__file__).resolve().parent / "code_points.csv"


@dataclass(frozen=True)
class Concept:
    """A label with its category; `character` is None where Unicode 15 has no emoji of it."""

    label: str
    category: str
    character: str | None


@cache
def concepts() -> dict[str, Concept]:
    """Return all hundred concepts by label."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["label"]: _concept(row) for row in rows}


def labels(drawings: str) -> tuple[str, ...]:
    """Return the labels that a set of drawings (`own` or `emoji`) has, in the paper's order."""
    if drawings == "own":
        return LABELS
    return tuple(one.label for one in concepts().values() if one.character is not None)


def _concept(row: dict[str, str]) -> Concept:
    code_point = row["code_point"]
    character = chr(int(code_point, 16)) if code_point else None
    return Concept(row["label"], row["category"], character)
