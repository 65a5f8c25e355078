"""RMSE: root mean squared error of the counts (ProbeGen 4.1, PROTOCOLS CNT-4).

The value of one sample is its absolute error.

>>> round(aggregate({"squared_error": [4.0, 0.0, 9.0]}), 4)
2.0817
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from numpy.typing import ArrayLike

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = False
UNIT = "objects"
BOUNDS = (0.0, None)
INTERVAL = "log_mean_square"
NUMERATOR = ("squared_error",)


def value(parts: Mapping[str, float]) -> float | None:
    """Return the absolute error of one count."""
    return math.sqrt(parts["squared_error"]) if "squared_error" in parts else None


def aggregate(parts: Mapping[str, ArrayLike]) -> float | None:
    """Return the root of the mean squared error, None without samples."""
    mean = mean_of(lambda sample: sample.get("squared_error"))(parts)
    return None if mean is None else math.sqrt(mean)
