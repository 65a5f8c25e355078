"""Recall of the counted things: matched things over all things.

Pooled over pictures, in percent (PROTOCOLS 1.4; matching: `gensight.measures.count_match`). The
things of a failed answer are all missed.

>>> aggregate({"matched": [3.0, 0.0], "missed": [0.0, 1.0]})
75.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
INTERVAL = "ratio"
NUMERATOR = ("matched",)
DENOMINATOR = ("matched", "missed")

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
