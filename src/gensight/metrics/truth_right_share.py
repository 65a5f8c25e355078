"""Share of masks with an IoU of at least 0.7, in percent (fit: ok).

PROTOCOLS 3.3, last paragraph; defined under the fit `ok` alone.

>>> aggregate({"right": [1.0, 0.0, 0.0, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "failure_truth"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"
RANKED = False

value = part_of("right", scale=100)
aggregate = mean_of(value)
