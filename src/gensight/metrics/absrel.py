"""AbsRel: |aligned - true| / true, averaged over pixels, then over pictures, in percent.

ProbeGen 4.1; the mean of per-picture means, never of pooled pixels (PROTOCOLS DEP-4). One number
per fit of `gensight.measures.depth_fit`.

>>> aggregate({"absrel": [0.1, 0.3], "n_valid": [100, 10_000]})
20.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "depth_fit"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, None)
INTERVAL = "mean"

value = part_of("absrel", scale=100)
aggregate = mean_of(value)
