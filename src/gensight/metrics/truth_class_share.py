"""Share of masks of one truth-aware failure class, in percent; the `fit` names the class.

PROTOCOLS 3.3, last paragraph. Lower is better; for the share of right masks use
`truth_right_share`. These classes never share a table with those of `class_share`.

>>> aggregate({"hit": [1.0, 0.0, 0.0, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "failure_truth"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"
RANKED = False

value = part_of("hit", scale=100)
aggregate = mean_of(value)
