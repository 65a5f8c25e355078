"""Ceiling cosine: of a target with its own picture in as many cells, averaged (PROTOCOLS 1.6).

The source reduced by area means without a limit of colours: what the size alone costs under this
encoder. The same for every model, so none is ranked by it.

>>> aggregate({"ceiling_cosine": [0.75, 0.25]})
0.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "retrieval"
HIGHER_IS_BETTER = True
UNIT = "cosine"
BOUNDS = (-1.0, 1.0)
INTERVAL = "mean"
RANKED = False

value = part_of("ceiling_cosine")
aggregate = mean_of(value)
