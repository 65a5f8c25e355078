"""Mean side, in cells, of the blocks that grids are made of (`gensight.measures.grid_failures`).

1 is a grid that uses every cell; flat grids have no factor.

>>> aggregate({"collapse_factor": [1.0, 8.0]})
4.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "grid_failures"
HIGHER_IS_BETTER = False
UNIT = "cells"
BOUNDS = (1.0, None)
INTERVAL = "mean"
RANKED = False

value = part_of("collapse_factor")
aggregate = mean_of(value)
