"""Paired minus mismatched cosine: how much nearer an answer is to its own target than to others'.

PROTOCOLS 1.6: the same encoder's floor taken off, so that 0 is an answer which says nothing of its
target. Over all answers; a failed one has 0 for both and so 0 here.

>>> aggregate({"paired_cosine": [0.75, 0.5], "mismatched_cosine": [0.5, 0.25]})
0.25
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "retrieval"
HIGHER_IS_BETTER = True
UNIT = "cosine"
BOUNDS = (-2.0, 2.0)
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the difference for one sample, None where there is nothing to mismatch."""
    if "paired_cosine" not in parts or "mismatched_cosine" not in parts:
        return None
    return parts["paired_cosine"] - parts["mismatched_cosine"]


aggregate = mean_of(value)
