"""Share of grids made of blocks of several cells, in percent of grids (`measures.grid_failures`).

>>> aggregate({"collapsed": [1.0, 0.0]})
50.0
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

value = part_of("collapsed", scale=100)
aggregate = mean_of(value)
