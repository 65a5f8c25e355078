"""Mismatched cosine: of an answer with the targets of all others, averaged (PROTOCOLS 1.6).

The floor of `paired_cosine`, off the diagonal of the same matrix: what an encoder says of any two
pictures of this kind. A diagnosis: no model is better for a lower one.

>>> aggregate({"mismatched_cosine": [0.25, 0.75]})
0.5
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "retrieval"
HIGHER_IS_BETTER = False
UNIT = "cosine"
BOUNDS = (-1.0, 1.0)
INTERVAL = "mean"
RANKED = False

value = part_of("mismatched_cosine")
aggregate = mean_of(value)
