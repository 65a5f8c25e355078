"""Mean angular error of surface normals in degrees, per picture, then averaged.

>>> aggregate({"mean_angle_deg": [10.0, 30.0]})
20.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "normal_angle"
HIGHER_IS_BETTER = False
UNIT = "degrees"
BOUNDS = (0.0, None)
INTERVAL = "mean"

value = part_of("mean_angle_deg")
aggregate = mean_of(value)
