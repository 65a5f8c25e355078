"""Gain: where a value lies between its floor (0) and its ceiling (1), with its interval.

PROTOCOLS 1.7: (value - floor) / (ceiling - floor). Model, floor and ceiling are resampled jointly,
cluster by cluster, so what they share cancels; the interval is the expanded percentile interval.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gensight.statistics.bootstrap import NO_INTERVAL, Interval, expanded_interval
from gensight.statistics.cells import MIN_CLUSTERS, ColumnParts, cell_of, design_for
from gensight.statistics.estimates import estimate, kind_of, replicates_of
from gensight.statistics.resampling import Design


class Gain(NamedTuple):
    """The gain of a model, 1 at the ceiling, and its interval."""

    value: float | None
    interval: Interval


def gain(
    metric: Any,
    model: ColumnParts,
    floor: ColumnParts,
    ceiling: ColumnParts,
    benchmark: str | Design = "",
) -> Gain:
    """Return the gain of a model under a metric module, with its 95 % interval.

    No value where floor and ceiling are equal or one is not defined; no interval where the interval
    of ceiling - floor holds 0, for then the gain may be anything. Fewer than ten clusters: samples
    are the units, and the method says "fixed scenes".
    """
    rows = (model, floor, ceiling)
    if kind_of(metric) == "none":
        return Gain(None, NO_INTERVAL)
    fixed = len({name for row in rows for name in row.cluster_ids}) < MIN_CLUSTERS
    sums = [cell_of(metric, row, fixed).units for row in rows]
    defined = [part for part in sums if part is not None]
    if len(defined) < len(rows):
        return Gain(None, NO_INTERVAL)
    value, low, high = (estimate(part).value for part in defined)
    if high == low:
        return Gain(None, NO_INTERVAL)
    drawn = replicates_of(defined, design_for(defined, benchmark, fixed).matrix())
    units = len({name for part in defined for name in part.clusters})
    method = "joint percentile, fixed scenes" if fixed else "joint percentile"
    return Gain((value - low) / (high - low), _interval(drawn, units, method))


def _interval(drawn: np.ndarray, units: int, method: str) -> Interval:
    """Return the interval of the gain from replicates of model, floor and ceiling, (b, 3)."""
    value, low, high = drawn.T
    room = expanded_interval(high - low, units - 1, units, method)
    if room.low is None or room.high is None or room.low <= 0 <= room.high:
        return NO_INTERVAL
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(high != low, (value - low) / (high - low), np.nan)
    return expanded_interval(gains, units - 1, units, method)
