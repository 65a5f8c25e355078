"""SSIM: structural similarity of a grid and its source, averaged (`gensight.measures.likeness`).

Over all answers; a failed one has 0.

>>> aggregate({"ssim": [0.5, 0.25]})
0.375
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "likeness"
HIGHER_IS_BETTER = True
UNIT = "SSIM"
BOUNDS = (-1.0, 1.0)
INTERVAL = "mean"

value = part_of("ssim")
aggregate = mean_of(value)
