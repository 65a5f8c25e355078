"""F1 of boxes at IoU 0.5, pooled over pictures, in percent; it needs no scores.

Twice the matched boxes over all predicted and all true ones (`gensight.measures.box_match`). A
picture without any box adds nothing.

>>> aggregate({"matched": [2.0, 0.0], "false_boxes": [0.0, 1.0], "missed": [0.0, 3.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import ratio_of, share_of

VERSION = 1
MEASURE = "box_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "ratio"
NUMERATOR = ("matched", "matched")
DENOMINATOR = ("matched", "matched", "false_boxes", "missed")

value = share_of(NUMERATOR, DENOMINATOR)
aggregate = ratio_of(NUMERATOR, DENOMINATOR)
