"""AP at IoU 0.5 of one class: the mean over pictures of each picture's average precision, percent.

COCO's 101-point precision, never pooled over pictures: see `gensight.measures.box_match`.

>>> aggregate({"average_precision": [1.0, 0.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "box_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("average_precision", scale=100)
aggregate = mean_of(value)
