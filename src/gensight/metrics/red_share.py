"""Share of the input's own pixels that look like red marks, in percent: how cluttered it is.

ProbeGen A.3 names red scenes as a source of counting errors. A fact of the benchmark, not of a
model.

>>> aggregate({"input_red_share": [0.5, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "count_loss"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"
RANKED = False

value = part_of("input_red_share", scale=100)
aggregate = mean_of(value)
