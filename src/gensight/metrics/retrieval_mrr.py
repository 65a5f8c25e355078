"""MRR: mean reciprocal rank of the target, over the answers that could be read.

PixelBench, "SigLIP Retrieval Scores": a diagnosis over the valid answers alone, unlike
`retrieval_top1`. Models are not ranked by it, since leaving hard targets out would raise it.

>>> aggregate({"rank": [1.0, 4.0, float("nan")]})
0.625
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "retrieval"
HIGHER_IS_BETTER = True
UNIT = "reciprocal rank"
BOUNDS = (0.0, 1.0)
INTERVAL = "mean"
RANKED = False


def value(parts: Mapping[str, float]) -> float | None:
    """Return 1 / rank of one sample, None where the answer could not be read."""
    return 1 / parts["rank"] if "rank" in parts else None


aggregate = mean_of(value)
