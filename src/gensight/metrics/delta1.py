"""Delta1: share of pixels with max(aligned / true, true / aligned) < 1.25, in percent.

Per picture, then averaged (the threshold accuracy of Eigen et al., NeurIPS 2014).

>>> value({"delta1": 0.75})
75.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "depth_fit"
HIGHER_IS_BETTER = True
UNIT = "percent"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the share of one picture in percent."""
    return 100 * parts["delta1"] if "delta1" in parts else None


aggregate = mean_of(value)
