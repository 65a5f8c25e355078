"""Median distance of a thing to its nearest other thing, in pixels at the work size, averaged.

ProbeGen A.3 names crowded things, whose dots merge, as a source of counting errors. A fact of the
benchmark, not of a model; pictures of fewer than two things have none.

>>> aggregate({"nearest_neighbour_px": [10.0, 30.0]})
20.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "count_loss"
HIGHER_IS_BETTER = True
UNIT = "pixels"
INTERVAL = "mean"

value = part_of("nearest_neighbour_px")
aggregate = mean_of(value)
