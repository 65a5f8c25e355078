"""Aggregates of several component scores on one scale, by anchors (PROTOCOLS 2.6).

PixelBench's Agg rescales each component between the least and greatest value of the rows printed
beside it, averages and multiplies by 100, so that adding a row changes all others. The value is
kept; its interval resamples the samples of all components jointly with the anchors *frozen*, for
extremes have no valid bootstrap (the top row would always be 100). With a floor and a ceiling as
anchors the same function gives Agg_fix, in which no model changes another, and which is the one
that is ranked (`gensight.statistics.ranks.rank_intervals` of `value` and `replicates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.bootstrap import NO_INTERVAL, Interval, expanded_interval
from gensight.statistics.cells import MIN_CLUSTERS
from gensight.statistics.estimates import Form, Terms, cluster_sums, estimate
from gensight.statistics.resampling import Design

#: Component: (value that counts 0, value that counts 100).
Anchors = Mapping[str, tuple[float, float]]


class Aggregate(NamedTuple):
    """An aggregate in percent of the anchors' range, its interval and its replicates (b,)."""

    value: float | None
    interval: Interval
    replicates: np.ndarray | None
    clusters: int


NO_AGGREGATE = Aggregate(None, NO_INTERVAL, None, 0)


def anchors_of(rows: Mapping[str, Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Return least and greatest of every component over printed rows {row: {component: value}}.

    >>> anchors_of({"a": {"top1": 30.7}, "b": {"top1": 56.0}})
    {'top1': (30.7, 56.0)}
    """
    components = next(iter(rows.values())) if rows else {}
    found = {name: [row[name] for row in rows.values()] for name in components}
    return {name: (min(values), max(values)) for name, values in found.items()}


def aggregate(
    components: Mapping[str, ArrayLike],
    cluster_ids: Sequence[str],
    anchors: Anchors,
    benchmark: str | Design = "",
) -> Aggregate:
    """Return the anchored aggregate of one model's components, arrays (n,) by name.

    100 times the mean over components of (mean - low) / (high - low); samples that lack a component
    (NaN) are left out of it alone. No value where a component has no sample; fewer than ten
    clusters give no interval.

    Raises:
        GensightError: a component has no anchors, or two equal ones.
    """
    spans = [_span(name, anchors) for name in components]
    weights = tuple(100 / (len(spans) * (high - low)) for low, high in spans)
    offset = -sum(weight * low for weight, (low, _) in zip(weights, spans, strict=True))
    above = np.column_stack([np.asarray(values, np.float64) for values in components.values()])
    sums = cluster_sums(Terms(above, np.ones_like(above), Form(weights, offset)), cluster_ids)
    if sums is None:
        return NO_AGGREGATE
    value, clusters = estimate(sums).value, len(sums.clusters)
    design = benchmark if isinstance(benchmark, Design) else Design.of(benchmark, sums.clusters)
    drawn = sums.replicates(design.matrix())
    if clusters < MIN_CLUSTERS:
        return Aggregate(value, NO_INTERVAL, drawn, clusters)
    method = "joint percentile, anchors frozen"
    return Aggregate(
        value, expanded_interval(drawn, clusters - 1, clusters, method), drawn, clusters
    )


def _span(name: str, anchors: Anchors) -> tuple[float, float]:
    if name not in anchors or anchors[name][0] == anchors[name][1]:
        raise GensightError(
            f"component '{name}': its anchors are missing or equal; give (low, high), from "
            f"anchors_of over at least two rows or from a floor and a ceiling"
        )
    return anchors[name]
