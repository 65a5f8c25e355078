"""What an answer took: seconds from request to answer, and peak GPU memory.

Protocol. ProbeGen 4.1 and Appendix B: full time per image at batch 1 after warm-up, and the peak of
GPU memory. Both come from the generation by way of the prediction; warm-up generations never get
here. Latency of hosted models includes network and queues and is not comparable with that of local
ones; their memory is unknown, so the part is left out.

There is no truth, so every sample can be measured. A failed answer has no parts: how long a refusal
took says nothing of the speed of pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.measures import PartsByFit, complete
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("left_out",)
DEFAULTS: dict[str, Any] = {"failure": "left_out"}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return latency_s and peak_memory_gb, those that are known."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    known = {"latency_s": prediction.latency_s, "peak_memory_gb": prediction.peak_memory_gb}
    return {None: {name: float(value) for name, value in known.items() if value is not None}}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Return no parts."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: {}}
