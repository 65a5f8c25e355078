"""Numbers that the papers print outside tables, and what can be inferred from their digits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from gensight.errors import GensightError
from gensight.published import files
from gensight.published.cells import PAPERS

_FACT_COLUMNS = ("paper", "key", "value", "unit", "agrees_with_table")
_COUNT_COLUMNS = ("model", "task", "metric", "n_full", "n", "score_sum")


@dataclass(frozen=True)
class Fact:
    """One number of a paper's text: its value as printed, and the unit it stands in."""

    paper: str
    key: str
    value: Decimal
    printed: str
    unit: str


@dataclass(frozen=True)
class UnitCount:
    """The whole numbers behind one percentage of GENIUS Table 2, inferred from its digits.

    A score is 0, 1 or 2, so a percentage over n units is one of 2 n + 1 values. `n` and
    `score_sum` are the pair nearest to the full number of units `n_full` that prints these digits;
    both are None where no pair does.
    """

    model: str
    task: str
    metric: str
    n_full: int
    n: int | None
    score_sum: int | None


def facts(paper: str, root: Path | None = None) -> dict[str, Fact]:
    """Return the numbers of a paper's text by their keys.

    Raises:
        GensightError: no such paper, or a file that is damaged.
    """
    if paper not in PAPERS:
        raise GensightError(f"paper '{paper}' is not known; allowed: {', '.join(PAPERS)}")
    path = files.folder(root) / f"{paper}_text.csv"
    found = {}
    for line, row in enumerate(files.read(path, _FACT_COLUMNS), 2):
        value = files.number(path, line, row["value"])
        found[row["key"]] = Fact(paper, row["key"], value, row["value"], row["unit"])
    return found


def genius_counts(root: Path | None = None) -> list[UnitCount]:
    """Return the inferred counts of every percentage of GENIUS Table 2, in the order of print.

    Raises:
        GensightError: the file is missing or damaged.
    """
    path = files.folder(root) / "genius_counts.csv"
    return [_count(path, line, row) for line, row in enumerate(files.read(path, _COUNT_COLUMNS), 2)]


def _count(path: Path, line: int, row: dict[str, str]) -> UnitCount:
    def whole(column: str) -> int:
        value = files.number(path, line, row[column])
        if value != int(value):
            raise GensightError(f"{path}: row {line}: {column} must be a whole number")
        return int(value)

    inferred = [whole(column) if row[column] else None for column in ("n", "score_sum")]
    return UnitCount(row["model"], row["task"], row["metric"], whole("n_full"), *inferred)
