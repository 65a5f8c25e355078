"""gIoU: the mean over samples of the intersection over union, in percent (ProbeGen 4.1).

The name is that of referring segmentation, not of the box loss. Empty masks and failures: see
`gensight.measures.overlap`.

>>> aggregate({"iou": [1.0, 0.0]})
50.0
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "overlap"
HIGHER_IS_BETTER = True
UNIT = "percent"
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the IoU of one sample in percent."""
    return 100 * parts["iou"] if "iou" in parts else None


aggregate = mean_of(value)
