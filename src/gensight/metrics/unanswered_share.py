"""Share of things in pictures without an answer that could be read, in percent of all.

PROTOCOLS 5.1: the last step of the losses of `gensight.measures.count_loss`.

>>> aggregate({"unanswered": [1.0, 0.0], "places": [3.0, 1.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "count_loss"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "ratio"
RANKED = False
NUMERATOR = ("unanswered",)
DENOMINATOR = ("places",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
