"""Judged points of 0 to 100, had every unread judge given the most.

>>> aggregate({"total_most": [80.0, 100.0]})
90.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = True
UNIT = "points"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"
RANKED = False

value = part_of("total_most")
aggregate = mean_of(value)
