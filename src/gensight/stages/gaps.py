"""Gaps: questions of a cell that got no answer; they fail the job, unless the config keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from gensight import doorway
from gensight.errors import UnresolvedError
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES, Outcome
from gensight.records import Generation, Notes

RowT = TypeVar("RowT")

#: So many questions without an answer are named; the log or the book has all of them.
NAMED = 10


def is_gap(row: Generation) -> bool:
    """Say whether a row stands for a question without an answer."""
    return row.outcome in INFRASTRUCTURE_OUTCOMES


def note(row: Generation, notes: Notes) -> None:
    """Write down what a file of generations says of one of its rows."""
    if is_gap(row):
        notes.gaps[row.outcome] += 1
    elif row.answered_model is not None:
        notes.answered.add(row.answered_model)


def _itself(row: Any) -> Generation:
    return row


def without_gaps(
    rows: Iterable[RowT],
    cell: str,
    *,
    keeps: bool,
    row_of: Callable[[RowT], Generation] = _itself,
) -> Iterator[RowT]:
    """Yield the rows of a cell; name those that got no answer, and fail after the last row.

    `row_of` returns the runner's row of what is yielded.

    Raises:
        UnresolvedError: there are gaps, and they are not kept.
    """
    counts: Counter[str] = Counter()
    for one in rows:
        row = row_of(one)
        if is_gap(row):
            if counts.total() < NAMED:
                detail = f" ({row.detail})" if row.detail else ""
                doorway.say(f"no answer: {row.sample_ids[0]}: {row.outcome}{detail}")
            counts[row.outcome] += 1
        yield one
    if counts and not keeps:
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
        raise UnresolvedError(
            f"{cell}: {counts.total()} questions have no answer ({told}); {_advice(counts)}; "
            f"unresolved: keep in the config writes the cell without them"
        )


def _advice(counts: Mapping[str, int]) -> str:
    if Outcome.IN_DOUBT in counts:
        return (
            "those in doubt may have been billed (gensight ledger list --in-doubt); "
            "hosted.in_doubt: resend asks them again"
        )
    if Outcome.MODEL_GONE in counts:
        return "the model is gone: lay in cached generations, or leave it out of the run"
    if counts.keys() == {Outcome.PENDING}:
        return "they are paid for: run the same again soon to fetch them"
    return "run the same again to ask them again"
