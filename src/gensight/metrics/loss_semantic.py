"""gIoU lost because something else is painted: neither threshold nor move helps, in points.

PROTOCOLS 5.1.

>>> aggregate({"lost_semantic": [0.5, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "mask_loss"
HIGHER_IS_BETTER = False
UNIT = "percentage points"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"
RANKED = False

value = part_of("lost_semantic", scale=100)
aggregate = mean_of(value)
