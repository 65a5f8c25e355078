"""MAE: mean absolute error of the counts (ProbeGen 4.1, PROTOCOLS CNT-4).

>>> round(aggregate({"absolute_error": [2.0, 0.0, 3.0]}), 4)
1.6667
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = False
UNIT = "objects"
BOUNDS = (0.0, None)
INTERVAL = "log_mean"

value = part_of("absolute_error")
aggregate = mean_of(value)
