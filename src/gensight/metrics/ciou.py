"""cIoU: summed intersections over summed unions, in percent (ProbeGen 4.1, PROTOCOLS SEG-1).

A sample whose target and prediction are both empty adds nothing to either sum. The value of one
sample is its own ratio; the mean of these is gIoU's business, never cIoU.

>>> parts = {"intersection": [100.0, 0.0], "union": [100.0, 10_000.0]}
>>> round(aggregate(parts), 6)
0.990099
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import ratio_of

VERSION = 1
MEASURE = "overlap"
HIGHER_IS_BETTER = True
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "ratio"
NUMERATOR = ("intersection",)
DENOMINATOR = ("union",)


def value(parts: Mapping[str, float]) -> float | None:
    """Return intersection over union of one sample in percent, None if both masks are empty."""
    union = parts.get("union", 0.0)
    return 100 * parts["intersection"] / union if union else None


aggregate = ratio_of(NUMERATOR, DENOMINATOR)
