"""Judged points of 0 to 5: do its few colours serve it (PixelBench, Table 24).

An answer that is none has 0 points; one whose judge cannot be read takes no part.

>>> aggregate({"points_palette_contrast": [5.0, 0.0, float("nan")]})
2.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = True
UNIT = "points"
BOUNDS = (0.0, 5.0)
INTERVAL = "mean"

value = part_of("points_palette_contrast")
aggregate = mean_of(value)
