"""Share of pixels whose normal is off by less than 30 degrees, in percent.

Per picture, then averaged.

>>> value({"within_30": 0.25})
25.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "normal_angle"
HIGHER_IS_BETTER = True
UNIT = "percent"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the share of one picture in percent."""
    return 100 * parts["within_30"] if "within_30" in parts else None


aggregate = mean_of(value)
