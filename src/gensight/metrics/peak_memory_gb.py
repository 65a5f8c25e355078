"""Peak GPU memory: the largest over the answers, in GB (ProbeGen Appendix B, Table 9).

>>> aggregate({"peak_memory_gb": [38.5, float("nan"), 39.25]})
39.25
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from gensight.metrics import part_of

VERSION = 1
MEASURE = "efficiency"
HIGHER_IS_BETTER = False
UNIT = "GB"
BOUNDS = (0.0, None)
INTERVAL = "none"
RANKED = False

value = part_of("peak_memory_gb")


def aggregate(parts: Mapping[str, ArrayLike]) -> float | None:
    """Return the largest of the known peaks, None where none is."""
    peaks = np.asarray(parts.get("peak_memory_gb", ()), np.float64)
    known = peaks[~np.isnan(peaks)]
    return float(known.max()) if known.size else None
