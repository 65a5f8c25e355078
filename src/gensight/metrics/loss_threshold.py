"""gIoU lost because the picture was cut at Otsu's threshold and not at the best one, in points.

PROTOCOLS 5.1. With `loss_alignment`, `loss_semantic` and `loss_failed` it adds up to 100 - gIoU.

>>> aggregate({"lost_threshold": [0.5, 0.0]})
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

value = part_of("lost_threshold", scale=100)
aggregate = mean_of(value)
