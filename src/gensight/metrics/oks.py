"""Object keypoint similarity, averaged over pictures, in percent (`measures.keypoint_match`).

>>> aggregate({"oks": [1.0, 0.5, float("nan")]})
75.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "keypoint_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("oks", scale=100)
aggregate = mean_of(value)
