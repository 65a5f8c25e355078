"""gIoU: the mean over samples of the intersection over union, in percent (ProbeGen 4.1).

The name is that of referring segmentation, not of the box loss. Empty masks and failures: see
`gensight.measures.overlap`.

>>> aggregate({"iou": [1.0, 0.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "overlap"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("iou", scale=100)
aggregate = mean_of(value)
