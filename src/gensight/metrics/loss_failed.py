"""gIoU lost because there was no answer that could be read, in points.

PROTOCOLS 5.1, and the policy of `overlap`: a failed answer has IoU 0.

>>> aggregate({"lost_failed": [0.5, 0.0]})
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

value = part_of("lost_failed", scale=100)
aggregate = mean_of(value)
