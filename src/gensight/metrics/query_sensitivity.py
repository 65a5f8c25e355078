"""Query sensitivity: how much better a mask fits its own target than its query twin's.

IoU with the asked target minus IoU with the target of another query on the same picture, in
percentage points, averaged (PROTOCOLS 4.1). A model that sees but does not understand scores 0.

>>> value({"iou": 0.75, "iou_twin": 0.25})
50.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "overlap"
HIGHER_IS_BETTER = True
UNIT = "percentage points"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the difference for one sample, None where it has no query twin."""
    if "iou" not in parts or "iou_twin" not in parts:
        return None
    return 100 * (parts["iou"] - parts["iou_twin"])


aggregate = mean_of(value)
