"""Share of grids that repeat a pattern of their own, in percent of grids.

By the rules of `gensight.measures.grid_failures`.

>>> aggregate({"repeated": [0.0, 0.0, 1.0, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "grid_failures"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"
RANKED = False

value = part_of("repeated", scale=100)
aggregate = mean_of(value)
