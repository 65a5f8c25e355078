"""Share of pixels whose normal is off by less than 30 degrees, in percent.

Per picture, then averaged.

>>> value({"within_30": 0.25})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "normal_angle"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("within_30", scale=100)
aggregate = mean_of(value)
