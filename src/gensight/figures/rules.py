"""The rules by which a gallery chooses among the answers of a cell.

Source: ProbeGen's appendix C asks for examples chosen by an automatic criterion, typically from the
middle of the ranking; the criterion itself is lost. The default takes the lower median of the raw
metric (half of the answers are at least as poor), so what is shown is neither flattering nor
damning; `quantile_40` and `quantile_60` are its neighbours. `failed` takes the commonest class of
failure of a model, and of that the first by rank: the usual failure, not the most striking one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from gensight.failures import CLASSES, class_of
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import Score
from gensight.specs.figures import quantile_of

Answer = tuple[str, int]

RULES = {
    "median": "lower median of the raw {metric} among a cell's readable answers, ties by rank",
    "best": "best raw {metric} among a cell's readable answers, ties by rank",
    "worst": "worst raw {metric} among a cell's readable answers, ties by rank",
    "failed": "first by rank of the commonest class of failure among a cell's answers",
}
QUANTILE = (
    "quantile_K lies K % of the way from the poorest to the best raw {metric} among a cell's "
    "readable answers, ties by rank"
)
#: Right, undecided, or a suspicion that many sound masks and depth maps raise: no failures.
NOT_FAILED = (None, "ok", "ambiguous", "drift:possible")


def rule_text(rule: str, metric: str) -> str:
    """Return what a rule says of a metric; all quantiles share one text."""
    return RULES.get(rule, QUANTILE).format(metric=metric)


def pool_of(rule: str, rows: Iterable[Score], higher_is_better: bool) -> list[Score]:
    """Return the answers that a rule chooses from: readable ones, the poorest first, or failures.

    `rows` hold one metric of one cell. The failures are those of the commonest class, by rank.
    """
    return _failures(rows) if rule == "failed" else _ordered(rows, higher_is_better)


def pick(rule: str, pool: Sequence[Score], taken: Collection[Answer] = ()) -> Score | None:
    """Return what a rule chooses from its pool, which must not be empty: of equals the first.

    What was `taken` by another rule is not chosen again: the next of its equals is, or nothing.
    """
    if rule == "failed":
        equal = list(pool)
    else:
        share = {"worst": 0, "median": 50, "best": 100}.get(rule, quantile_of(rule))
        place = share * (len(pool) - 1) // 100
        equal = [row for row in pool if row.raw == pool[place].raw]
    free = [row for row in equal if answer_of(row) not in taken]
    return min(free, key=lambda row: (row.rank, row.repeat), default=None)


def answer_of(row: Score) -> Answer:
    """Return what tells one answer of a cell from the others."""
    return row.sample_id, row.repeat


def _ordered(rows: Iterable[Score], higher_is_better: bool) -> list[Score]:
    readable = [row for row in rows if row.raw is not None and math.isfinite(row.raw)]
    sign = 1.0 if higher_is_better else -1.0
    return sorted(readable, key=lambda row: (sign * row.raw, row.rank, row.repeat))


def _failures(rows: Iterable[Score]) -> list[Score]:
    """Of classes that are equally common the one that failure tables list first."""
    failed = [row for row in rows if _has_failed(row)]
    order = {name: place for place, name in enumerate(CLASSES)}
    found = Counter(_class(row) for row in failed)
    commonest = min(found, key=lambda c: (-found[c], order.get(c, len(order)), c), default=None)
    kept = [row for row in failed if _class(row) == commonest]
    return sorted(kept, key=lambda row: (row.rank, row.repeat))


def _has_failed(row: Score) -> bool:
    # An answer that never arrived is nobody's failure.
    arrived = row.outcome not in INFRASTRUCTURE_OUTCOMES
    return arrived and (row.raw is None or row.failure_blind not in NOT_FAILED)


def _class(row: Score) -> str:
    """Return the class of a failed answer, or in its place why it could not be read."""
    if row.failure_blind in NOT_FAILED:
        return row.reason or row.status
    return class_of(row.failure_blind)
