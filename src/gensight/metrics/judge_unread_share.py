"""Share of a judge's runs that gave no points after all re-asks, in percent.

>>> aggregate({"unread_runs": [1.0, 0.0], "runs": [3.0, 1.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "ratio"
RANKED = False
NUMERATOR = ("unread_runs",)
DENOMINATOR = ("runs",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
