"""Mean angular error of surface normals in degrees, per picture, then averaged.

>>> aggregate({"mean_angle_deg": [10.0, 30.0]})
20.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "normal_angle"
HIGHER_IS_BETTER = False
UNIT = "degrees"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the mean angle of one picture."""
    return parts.get("mean_angle_deg")


aggregate = mean_of(value)
