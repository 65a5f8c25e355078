"""Size consistency: cosine of a grid with the same model's grids of the same sample at other sizes.

Averaged over valid grids that have such companions (`measures.size_consistency`).

>>> aggregate({"companion_cosine": [0.5, 1.0]})
0.75
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "size_consistency"
HIGHER_IS_BETTER = True
UNIT = "cosine"
BOUNDS = (-1.0, 1.0)
INTERVAL = "mean"
# A model that draws the same blob of everything is consistent: read it beside the strangers.
RANKED = False

value = part_of("companion_cosine")
aggregate = mean_of(value)
