"""Depth RMSE: root mean squared error in metres, per picture, then averaged.

>>> aggregate({"rmse_m": [0.5, 1.5]})
1.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "depth_fit"
HIGHER_IS_BETTER = False
UNIT = "metres"
BOUNDS = (0.0, None)
INTERVAL = "mean"

value = part_of("rmse_m")
aggregate = mean_of(value)
