"""How many samples carry half of the summed squared count error (PROTOCOLS 1.4).

A small number says that RMSE is about a few crowded pictures. None where nothing is wrong.

>>> aggregate({"squared_error": [1.0, 1.0, 1.0, 100.0]})
1.0
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

VERSION = 1
MEASURE = "count_match"
HIGHER_IS_BETTER = True
UNIT = "samples"
INTERVAL = "none"


def value(parts: Mapping[str, float]) -> float | None:
    """Return nothing: the number belongs to a set of samples."""
    return None


def aggregate(parts: Mapping[str, ArrayLike]) -> float | None:
    """Return the least number of samples that hold at least half of the squared error."""
    errors = np.asarray(parts.get("squared_error", ()), np.float64)
    carried = np.cumsum(np.sort(errors[~np.isnan(errors)])[::-1])
    if not carried.size or carried[-1] == 0:
        return None
    return float(np.searchsorted(carried, carried[-1] / 2) + 1)
