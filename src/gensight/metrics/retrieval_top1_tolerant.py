"""Top-1 where a kind of the target is a hit too, in percent (PROTOCOLS 1.6).

Over all answers, a failed one is a miss. Never below `retrieval_top1`.

>>> aggregate({"tolerant_hit": [1.0, 0.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "retrieval"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"

value = part_of("tolerant_hit", scale=100)
aggregate = mean_of(value)
