"""Flat: share of answers that are a grid of a single colour, in percent of all (PixelBench).

>>> aggregate({"flat": [0.0, 1.0, 0.0, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "grid_format"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"
RANKED = False

value = part_of("flat", scale=100)
aggregate = mean_of(value)
