"""Judged points of 0 to 20: is the icon plainly what was asked for (PixelBench, Table 24).

An answer that is none has 0 points; one whose judge cannot be read takes no part.

>>> aggregate({"points_subject_identity": [20.0, 0.0, float("nan")]})
10.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = True
UNIT = "points"
BOUNDS = (0.0, 20.0)
INTERVAL = "mean"

value = part_of("points_subject_identity")
aggregate = mean_of(value)
