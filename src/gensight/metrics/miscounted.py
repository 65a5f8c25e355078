"""Share of counts that are wrong at all, in percent; for an oracle, what its own dots cost.

PROTOCOLS 1.4: even perfect marks are miscounted where they touch, so the ceiling is not 0.

>>> aggregate({"absolute_error": [0.0, 2.0, 0.0, 1.0]})
50.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = False
UNIT = "percent"
INTERVAL = "rate"


def value(parts: Mapping[str, float]) -> float | None:
    """Return 100 for a wrong count, 0 for a right one."""
    return 100.0 * (parts["absolute_error"] > 0) if "absolute_error" in parts else None


aggregate = mean_of(value)
