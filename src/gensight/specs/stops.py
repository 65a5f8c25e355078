"""How far the spending on a benchmark of `stop_when` has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Decision = Literal["told_apart", "narrow", "all"]


@dataclass(frozen=True)
class Stop:
    """The first ranks that are asked so far, and why no more are asked; None while that is open.

    `low` and `high` bound the mean difference of the two models after `after` clusters, as shares
    of the rule's scale. `all` ranks may be asked without the models being told apart.
    """

    n: int
    decided: Decision | None = None
    after: int | None = None
    low: float | None = None
    high: float | None = None
