"""Character error rate: edited characters over true ones, pooled over texts, in percent.

More than 100 where more was written than asked for (`gensight.measures.text_match`).

>>> aggregate({"character_edits": [1.0, 4.0], "true_characters": [5.0, 5.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "text_match"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, None)
INTERVAL = "ratio"
NUMERATOR = ("character_edits",)
DENOMINATOR = ("true_characters",)

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
