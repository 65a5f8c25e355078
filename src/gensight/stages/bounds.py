"""Floors and ceilings: what a number is to be read against (PROTOCOLS 1.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gensight.records import Summary


def with_bounds(
    rows: Sequence[Summary], roles: Mapping[str, str], native: Mapping[str, str]
) -> Iterator[Summary]:
    """Yield the rows with their floor and ceiling: those of the same prompt, else of any prompt.

    The floor is the best row that cannot see the sample or cannot understand the task; the
    ceiling paints the truth through the same interface. A row in its native space is bounded by
    what reference models reach in that space: it costs a blind one more or less than another.
    """
    best: dict[tuple[Any, ...], Summary] = {}
    for row in rows:
        role = roles[row.model]
        complete = row.severity is None and row.value is not None and not row.infrastructure
        if role in ("floor", "ceiling") and complete:
            for prompt in (row.prompt, None):
                key = (role, prompt, *_comparable(row))
                if key not in best or _is_better(row, best[key]):
                    best[key] = row
    for row in rows:
        bounds = {}
        for role in ("floor", "ceiling"):
            place = _comparable(row, native[row.model])
            bound = best.get((role, row.prompt, *place))
            # A prompt without a bound of its own (planning first) borrows that of the others.
            bound = bound or best.get((role, None, *place))
            bounds[role] = bound.value if bound else None
            bounds[f"{role}_model"] = bound.model if bound else None
        yield replace(row, **bounds)


def _comparable(row: Summary, native: str | None = None) -> tuple[Any, ...]:
    fit = native if native is not None and row.fit == "native" else row.fit
    return (row.scorer, row.variant, fit, row.stratum, row.metric)


def _is_better(row: Summary, other: Summary) -> bool:
    sign = 1 if row.higher_is_better else -1
    return sign * (row.value or 0.0) > sign * (other.value or 0.0)
