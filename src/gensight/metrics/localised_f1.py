"""Localised F1: do the counted marks lie on the counted things? In percent.

Per picture 2 matched / (marks + truths), then averaged; a picture without truths has 100 if it has
no marks and 0 otherwise (PROTOCOLS 1.4; matching: `gensight.measures.count_match`).

>>> aggregate({"localised_f1": [1.0, 0.5]})
75.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the F1 of one picture in percent, None where places are unknown."""
    return 100 * parts["localised_f1"] if "localised_f1" in parts else None


aggregate = mean_of(value)
