"""Log-count error: mean |ln((p + 1) / (c + 1))| of predicted p and true c (PROTOCOLS 1.4).

Relative, so that a few crowded pictures do not own it; in nats (0.69 is a factor of two).

>>> aggregate({"log_error": [0.5, 0.25]})
0.375
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = False
UNIT = "nats"
BOUNDS = (0.0, None)
INTERVAL = "percentile"

value = part_of("log_error")
aggregate = mean_of(value)
