"""Share of things so close together that their dots would be one blob, in percent of all.

PROTOCOLS 5.1: hidden in the blob of a neighbour; see `gensight.measures.count_loss`.

>>> aggregate({"merged": [1.0, 0.0], "places": [3.0, 1.0]})
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
NUMERATOR = ("merged",)
DENOMINATOR = ("places",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
