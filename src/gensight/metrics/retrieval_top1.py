"""Top-1: share of answers that are nearer to their target than to any other, in percent.

PixelBench, "SigLIP Retrieval Scores": over all answers, a failed one is a miss. Chance is 100 over
the number of candidates.

>>> aggregate({"hit": [1.0, 0.0, 1.0, 1.0]})
75.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "retrieval"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"

value = part_of("hit", scale=100)
aggregate = mean_of(value)
