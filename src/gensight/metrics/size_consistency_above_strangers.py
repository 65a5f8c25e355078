"""Size consistency beyond what any two grids of the model share, in units of cosine.

At each other size, the cosine with the same sample's grid minus the mean cosine with other samples'
grids there, averaged over sizes and samples (`measures.size_consistency`). A model that draws the
same of everything scores 0, whatever it fails at.

>>> aggregate({"above_strangers": [0.25, 0.75]})
0.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "size_consistency"
HIGHER_IS_BETTER = True
UNIT = "cosine"
BOUNDS = (-2.0, 2.0)
INTERVAL = "mean"

value = part_of("above_strangers")
aggregate = mean_of(value)
