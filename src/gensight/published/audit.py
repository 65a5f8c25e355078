"""Every derived number in print, recomputed, against the differences that are known.

`audit` finds what changed: a number that no longer follows from the others, or a known difference
that is gone. Either means that the data here, or a formula, was edited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gensight.errors import GensightError
from gensight.published import (
    audit_genius,
    audit_pixelbench,
    audit_probegen,
    audit_tuning,
    files,
)
from gensight.published.cells import PAPERS
from gensight.published.comparison import DIFFERS, RESULTS, Check

_EXPECTED_COLUMNS = ("paper", "place", "name", "printed", "recomputed", "remark")
_SOURCES: dict[str, tuple[Callable[[Path | None], Iterator[Check]], ...]] = {
    "probegen": (audit_probegen.checks,),
    "genius": (audit_genius.checks,),
    "pixelbench": (audit_pixelbench.checks, audit_tuning.checks),
}


@dataclass(frozen=True)
class Expected:
    """A printed number that is known not to follow from the others, and what may explain it."""

    paper: str
    place: str
    name: str
    printed: str
    recomputed: str
    remark: str


@dataclass(frozen=True)
class Audit:
    """All checks; the known differences that were found, and those that were not; the new ones."""

    checks: list[Check]
    expected: list[Expected]
    vanished: list[Expected]
    new: list[Check]

    @property
    def totals(self) -> dict[str, int]:
        """Return the number of checks of each result, in the order of `RESULTS`."""
        counted = Counter(check.result for check in self.checks)
        return {result: counted[result] for result in RESULTS}


def audit(papers: Sequence[str] = PAPERS, root: Path | None = None) -> Audit:
    """Recompute every derived number of these papers.

    A known difference counts as found only with the same two numbers.

    Raises:
        GensightError: no such paper, or a file of numbers that is missing or damaged.
    """
    checks = [check for paper in papers for check in _checks(paper, root)]
    known = {_key(one): one for one in expected_differences(root) if one.paper in papers}
    differing = {_key(check): check for check in checks if check.result == DIFFERS}
    return Audit(
        checks=checks,
        expected=[one for key, one in known.items() if key in differing],
        vanished=[one for key, one in known.items() if key not in differing],
        new=[check for key, check in differing.items() if key not in known],
    )


def expected_differences(root: Path | None = None) -> list[Expected]:
    """Return the known differences of all papers, in the order of print."""
    path = files.folder(root) / "expected_differences.csv"
    return [Expected(**row) for row in files.read(path, _EXPECTED_COLUMNS)]


def _key(one: Check | Expected) -> tuple[str, ...]:
    return one.paper, one.place, one.name, one.printed, one.recomputed


def _checks(paper: str, root: Path | None) -> list[Check]:
    """Return the checks of a paper; numbers that fit no formula are a damaged file."""
    if paper not in _SOURCES:
        raise GensightError(f"paper '{paper}' is not known; allowed: {', '.join(PAPERS)}")
    try:
        return [check for source in _SOURCES[paper] for check in source(root)]
    except (ValueError, LookupError) as error:
        raise GensightError(
            f"{files.FOLDER}: the numbers of {paper} cannot be recomputed ({error}); restore them"
        ) from None
