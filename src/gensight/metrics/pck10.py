"""PCK at 0.1: labelled points marked within a tenth of the reference length, pooled, in percent.

Which length: `gensight.measures.keypoint_match` (its setting `pck_share` is 0.1).

>>> aggregate({"correct": [1.0, 2.0], "labelled": [4.0, 2.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "keypoint_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "ratio"
NUMERATOR = ("correct",)
DENOMINATOR = ("labelled",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
