"""Share of texts that equal the true one once folded, in percent (`measures.text_match`).

>>> aggregate({"exact": [1.0, 0.0, 0.0, 1.0]})
50.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "text_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"

value = part_of("exact", scale=100)
aggregate = mean_of(value)
