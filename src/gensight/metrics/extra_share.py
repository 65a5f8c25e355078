"""Marks that belong to nothing and stand for nothing missed, in percent of all things.

PROTOCOLS 5.1. It may exceed 100.

>>> aggregate({"extra": [1.0, 0.0], "places": [3.0, 1.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "count_loss"
HIGHER_IS_BETTER = False
UNIT = "percent"
INTERVAL = "ratio"
RANKED = False
NUMERATOR = ("extra",)
DENOMINATOR = ("places",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
