"""Share of grids with next to nothing but background, in percent of grids.

By the rules of `gensight.measures.grid_failures`; flat grids are among them.

>>> aggregate({"missing_subject": [1.0, 0.0]})
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

value = part_of("missing_subject", scale=100)
aggregate = mean_of(value)
