"""Judged points of 0 to 100: the sum of its dimensions (PixelBench, Table 1).

A total that the judge writes counts for nothing. An answer that is none has 0 points; one whose
judge cannot be read takes no part, and `judge_total_least` and `judge_total_most` say what that may
hide.

>>> aggregate({"total": [80.0, 0.0, float("nan")]})
40.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = True
UNIT = "points"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("total")
aggregate = mean_of(value)
