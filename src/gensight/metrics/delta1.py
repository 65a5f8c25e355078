"""Delta1: share of pixels with max(aligned / true, true / aligned) < 1.25, in percent.

Per picture, then averaged (the threshold accuracy of Eigen et al., NeurIPS 2014).

>>> value({"delta1": 0.75})
75.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "depth_fit"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("delta1", scale=100)
aggregate = mean_of(value)
