"""Median angular error of surface normals in degrees, per picture, then averaged.

>>> value({"median_angle_deg": 8.5})
8.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "normal_angle"
HIGHER_IS_BETTER = False
UNIT = "degrees"
BOUNDS = (0.0, None)
INTERVAL = "mean"

value = part_of("median_angle_deg")
aggregate = mean_of(value)
