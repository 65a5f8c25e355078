"""Averages and differences, as the tables of all three papers form them.

Every function takes unrounded numbers and rounds nothing: a printed number is rounded once, at the
end (`gensight.rounding`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def plain_mean(values: Sequence[float]) -> float:
    """Return the unweighted mean (ProbeGen Tables 5 and 7; PixelBench averages of three sizes).

    Raises:
        ValueError: there are no values.

    >>> round(plain_mean([72.7, 55.7, 76.7, 72.8, 77.5, 53.5]), 6)
    68.15
    """
    if not values:
        raise ValueError("a mean needs at least one value")
    return math.fsum(values) / len(values)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return sum(weight * value) / sum(weight).

    Weighted by questions it is PixelBench's Example average (Tables 6, 12 and 14), weighted by runs
    its column over all quantities (Table 12).

    Raises:
        ValueError: the lengths differ, a weight is negative, or all are 0.

    >>> weighted_mean([1.0, 4.0], [2, 1])
    2.0
    """
    if len(values) != len(weights):
        raise ValueError(f"{len(values)} values have {len(weights)} weights")
    whole = math.fsum(weights)
    if whole <= 0 or min(weights) < 0:
        raise ValueError("weights must be 0 or more, and at least one above 0")
    return math.fsum(w * v for w, v in zip(weights, values, strict=True)) / whole


def total(values: Sequence[float]) -> float:
    """Return the sum; of no values it is 0 (PixelBench judge totals, numbers of questions).

    >>> total([18.83, 22.89, 18.16, 16.95, 8.94, 4.98])
    90.75
    """
    return math.fsum(values)


def difference(after: float, before: float) -> float:
    """Return after - before (PixelBench gains of training, Tables 6, 8 and 13).

    >>> difference(59.75, 58.25)
    1.5
    """
    return after - before


def percent_of(part: float, whole: float) -> float:
    """Return a part in per cent of the whole (PixelBench shares of valid and of flat answers).

    Raises:
        ValueError: the whole is 0 or less.

    >>> percent_of(3, 300)
    1.0
    """
    if whole <= 0:
        raise ValueError(f"a share needs a whole above 0, not {whole}")
    return 100 * part / whole


def optimizer_steps(examples: int, batch: int) -> int:
    """Return the steps of one pass in batches, the last one perhaps short.

    Source: PixelBench, set-up of the Qwen3-VL training.

    Raises:
        ValueError: the batch is below 1, or there are fewer than 0 examples.

    >>> optimizer_steps(67_000, 64)
    1047
    """
    if batch < 1 or examples < 0:
        raise ValueError("steps need a batch of 1 or more, and 0 or more examples")
    return -(-examples // batch)
