"""The blind classifier: what an answer shows, judged beside its input and without any truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.errors import SpecError
from gensight.failures.classes import Verdict
from gensight.failures.evidence import Evidence
from gensight.failures.pictures import Pair
from gensight.failures.rules import RULES, first_finding
from gensight.failures.thresholds import THRESHOLDS
from gensight.specs.words import unknown

TASKS = tuple(RULES)


def blind(
    input_rgb: np.ndarray,
    output_rgb: np.ndarray,
    task: str,
    settings: Mapping[str, Any] | None = None,
    *,
    every_feature: bool = False,
) -> Verdict:
    """Classify an answer by its input picture (PROTOCOLS 3.2 and 3.3); both uint8 (H, W, 3) RGB.

    `task` is segmentation, depth or counting. `settings` are thresholds to use instead of those of
    `gensight.failures.thresholds`. The answer is stretched to the input's shape. The verdict holds
    the features that the rules asked for, or `every_feature`.

    Raises:
        SpecError: the task has no rules, or a threshold is not known.
        ValueError: an array is no uint8 RGB picture.
    """
    if task not in RULES:
        allowed = ", ".join(TASKS)
        raise SpecError(f"task: '{task}' has no failure classes; allowed: {allowed}")
    limits = dict(THRESHOLDS)
    for name, value in (settings or {}).items():
        if name not in limits:
            raise unknown("failures", "settings", name, THRESHOLDS)
        limits[name] = value
    evidence = Evidence(Pair(input_rgb, output_rgb, limits))
    failure_class, detail = first_finding(RULES[task], evidence, limits)
    if every_feature:
        evidence.measure_all()
    return Verdict(failure_class=failure_class, detail=detail, features=evidence.measured)
