"""Throughput: answers per minute at one request at a time, 60 n over the summed seconds.

ProbeGen Appendix B, Table 9. The value of one sample is 60 over its own seconds; their mean would
be ruled by the fastest. Without interval: one machine and one hour are no sample of machines.

>>> aggregate({"latency_s": [10.0, 50.0]})
2.0
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

VERSION = 1
MEASURE = "efficiency"
HIGHER_IS_BETTER = True
UNIT = "images per minute"
BOUNDS = (0.0, None)
INTERVAL = "none"
RANKED = False


def value(parts: Mapping[str, float]) -> float | None:
    """Return 60 over the seconds of one answer, None where they are not known."""
    seconds = parts.get("latency_s", 0.0)
    return 60 / seconds if seconds > 0 else None


def aggregate(parts: Mapping[str, ArrayLike]) -> float | None:
    """Return 60 n over the summed seconds of the n answers whose seconds are known."""
    seconds = np.asarray(parts.get("latency_s", ()), np.float64)
    known = seconds[~np.isnan(seconds)].tolist()
    total = math.fsum(known)
    return 60 * len(known) / total if total > 0 else None
