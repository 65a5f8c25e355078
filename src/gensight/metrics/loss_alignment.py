"""gIoU lost because the mask lies beside its target, in points, at the best threshold.

PROTOCOLS 5.1: what a shift of at most 10 % of the long side and a scale of 0.9 to 1.1 bring back.

>>> aggregate({"lost_alignment": [0.5, 0.0]})
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

value = part_of("lost_alignment", scale=100)
aggregate = mean_of(value)
