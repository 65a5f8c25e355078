"""Share of things that the model did not mark, in percent of all.

PROTOCOLS 5.1: missed, and neither the decoder nor their distance explains it.

>>> aggregate({"unmarked": [1.0, 0.0], "places": [3.0, 1.0]})
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
NUMERATOR = ("unmarked",)
DENOMINATOR = ("places",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
