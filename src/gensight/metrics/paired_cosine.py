"""Paired cosine: of an answer and its own target, averaged (PixelBench, "Image-to-Pixel metrics").

Over all answers, a failed one counts 0. A cosine has no zero of its own: read it beside
`mismatched_cosine`.

>>> aggregate({"paired_cosine": [0.75, 0.25, 0.0, 1.0]})
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

value = part_of("paired_cosine")
aggregate = mean_of(value)
