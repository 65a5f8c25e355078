"""PSNR: peak signal-to-noise ratio of a grid and its source, in dB, averaged (`measures.likeness`).

Over all answers; a failed one has 0 dB.

>>> aggregate({"psnr_db": [20.0, 16.0]})
18.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "likeness"
HIGHER_IS_BETTER = True
UNIT = "dB"
BOUNDS = (0.0, None)
INTERVAL = "mean"

value = part_of("psnr_db")
aggregate = mean_of(value)
