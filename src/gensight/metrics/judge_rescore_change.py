"""How far a second look of the judge lies from the first, in points of the total, on average.

PixelBench Appendix G.2 judges a tenth of the answers again, and says that it is below 2. Only
answers that were read both times take part.

>>> aggregate({"rescored_change": [1.0, float("nan"), 3.0]})
2.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "judged"
HIGHER_IS_BETTER = False
UNIT = "points"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"
RANKED = False

value = part_of("rescored_change")
aggregate = mean_of(value)
