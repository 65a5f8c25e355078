"""Localised F1: do the counted marks lie on the counted things? In percent.

Per picture 2 matched / (marks + truths), then averaged; a picture without truths has 100 if it has
no marks and 0 otherwise (PROTOCOLS 1.4; matching: `gensight.measures.count_match`).

>>> aggregate({"localised_f1": [1.0, 0.5]})
75.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "mean"

value = part_of("localised_f1", scale=100)
aggregate = mean_of(value)
