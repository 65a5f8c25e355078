"""Depth RMSE: root mean squared error in metres, per picture, then averaged.

>>> aggregate({"rmse_m": [0.5, 1.5]})
1.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "depth_fit"
HIGHER_IS_BETTER = False
UNIT = "metres"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the RMSE of one picture in metres."""
    return parts.get("rmse_m")


aggregate = mean_of(value)
