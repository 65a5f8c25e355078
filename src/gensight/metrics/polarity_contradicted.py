"""Share of pictures whose fitted sign contradicts the promised polarity, in percent.

The free sign of Eq. 3 hides inverted polarity (PROTOCOLS DEP-3); this share shows it and changes no
score. Not defined where the prompt promised no polarity; a picture without slope contradicts
nothing.

>>> aggregate({"polarity_contradicts": [1.0, 0.0, float("nan")]})
50.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "depth_fit"
HIGHER_IS_BETTER = False
UNIT = "percent"
INTERVAL = "rate"

value = part_of("polarity_contradicts", scale=100)
aggregate = mean_of(value)
