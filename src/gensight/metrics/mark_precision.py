"""Precision of the counted marks: matched marks over all marks.

Pooled over pictures, in percent (PROTOCOLS 1.4; matching: `gensight.measures.count_match`). Failed
answers have no marks and do not enter; localised F1 counts them.

>>> aggregate({"matched": [3.0, 0.0], "false_points": [0.0, 1.0]})
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
DENOMINATOR = ("matched", "false_points")

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
