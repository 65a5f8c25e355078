"""Mean IoU of boxes: over the true boxes of a picture, then over pictures, in percent.

A true box without a partner has 0 (matching: `gensight.measures.box_match`).

>>> aggregate({"box_iou": [1.0, 0.5]})
75.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "box_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("box_iou", scale=100)
aggregate = mean_of(value)
