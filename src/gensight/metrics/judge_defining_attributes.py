"""Judged points of 0 to 25: are its telling parts there and right (PixelBench, Table 24).

An answer that is none has 0 points; one whose judge cannot be read takes no part.

>>> aggregate({"points_defining_attributes": [25.0, 0.0, float("nan")]})
12.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = True
UNIT = "points"
BOUNDS = (0.0, 25.0)
INTERVAL = "mean"

value = part_of("points_defining_attributes")
aggregate = mean_of(value)
