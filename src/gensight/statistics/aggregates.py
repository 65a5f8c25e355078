"""Aggregates of several component scores on one scale, by anchors (PROTOCOLS 2.6).

PixelBench's Agg rescales each component between the least and greatest value of the rows printed
beside it, averages and multiplies by 100, so that adding a row changes all others. The value is
kept; its interval resamples the samples of all components jointly with the anchors *frozen*, for
extremes have no valid bootstrap (the top row would always be 100). With a floor and a ceiling as
anchors the same function gives Agg_fix, in which no model changes another, and which is the one
that is ranked (`gensight.statistics.ranks.rank_intervals` of `value` and `replicates`).

Components that were measured on other answers (another size, another scorer) of the same clusters
are first combined as a `LinearForm` and then summed by `joint_sums`, so that one resampling of the
clusters moves all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.bootstrap import NO_INTERVAL, Interval, expanded_interval
from gensight.statistics.cells import MIN_CLUSTERS
from gensight.statistics.estimates import ClusterSums, Form, Terms, cluster_sums, estimate
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


class LinearForm(NamedTuple):
    """offset + the sum of weight times number, over numbers by name."""

    weights: Mapping[str, float]
    offset: float = 0.0

    @classmethod
    def mean(cls, forms: Sequence[LinearForm]) -> LinearForm:
        """Return the plain mean of some forms.

        >>> a, b = LinearForm({"a": 1.0}), LinearForm({"a": 1.0, "b": 1.0})
        >>> LinearForm.mean([a, b])
        LinearForm(weights={'a': 1.0, 'b': 0.5}, offset=0.0)
        """
        return cls.total([form.times(1 / len(forms)) for form in forms])

    @classmethod
    def total(cls, forms: Sequence[LinearForm]) -> LinearForm:
        """Return the sum of some forms."""
        names = dict.fromkeys(name for form in forms for name in form.weights)
        weights = {n: math.fsum(form.weights.get(n, 0.0) for form in forms) for n in names}
        return cls(weights, math.fsum(form.offset for form in forms))

    def times(self, factor: float) -> LinearForm:
        """Return the form times a factor."""
        return LinearForm({n: factor * w for n, w in self.weights.items()}, factor * self.offset)

    def between(self, low: float, high: float) -> LinearForm:
        """Return the form rescaled so that `low` counts 0 and `high` counts 100.

        Raises:
            GensightError: the two are equal.
        """
        if low == high:
            raise GensightError(f"an aggregate cannot be anchored at {low} and {high}: no range")
        scaled = self.times(100 / (high - low))
        return scaled._replace(offset=scaled.offset - 100 * low / (high - low))

    def of(self, numbers: Mapping[str, float]) -> float:
        """Return its value at some numbers, correctly rounded but for one rounding a product."""
        return math.fsum([self.offset, *(w * numbers[name] for name, w in self.weights.items())])


class Measured(NamedTuple):
    """One number of one model: what every answer adds to it, (n, pools), and their clusters (n)."""

    terms: Terms
    cluster_ids: Sequence[str]


def joint_sums(form: LinearForm, numbers: Mapping[str, Measured]) -> ClusterSums | None:
    """Return a linear form of several numbers as sums over their common clusters.

    The answers behind two numbers may be other ones, as long as they belong to the same clusters.
    None where a number has no answer that defines it.

    Raises:
        GensightError: a number is the root of a mean, which no linear form holds.
    """
    used = [(name, weight) for name, weight in form.weights.items()]
    found = [numbers[name] for name, _ in used]
    weights, offset = [], form.offset
    for (name, weight), number in zip(used, found, strict=True):
        inner = number.terms.form
        if inner.root:
            raise GensightError(f"'{name}' is the root of a mean: it cannot be averaged by answers")
        weights += [weight * part for part in inner.weights]
        offset += weight * inner.offset
    joined = Terms(
        _block_diagonal([number.terms.above for number in found]),
        _block_diagonal([number.terms.below for number in found]),
        Form(tuple(weights), offset),
    )
    return cluster_sums(joined, [name for number in found for name in number.cluster_ids])


def _block_diagonal(blocks: Sequence[np.ndarray]) -> np.ndarray:
    """Set blocks (n_i, k_i) corner to corner; elsewhere nothing is added, which NaN says."""
    rows, columns = (sum(block.shape[axis] for block in blocks) for axis in (0, 1))
    whole = np.full((rows, columns), np.nan)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole
