"""Share of answers that look right to the blind classifier, in percent (fit: ok).

PROTOCOLS 3.3. The complement of all failures of `class_share`; defined under the fit `ok` alone.

>>> aggregate({"right": [1.0, 0.0, 0.0, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "failure_class"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"
RANKED = False

value = part_of("right", scale=100)
aggregate = mean_of(value)
