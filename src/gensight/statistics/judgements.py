"""What few known truths say about many judgements: corrected mean and confusion (PROTOCOLS 2.6).

Intervals of judged scores hold the noise of samples and runs, never the judge's bias. Where n
samples have a known truth (from people, or from a rule), prediction-powered inference removes the
bias: mean = mean of the judge over N + mean of (truth - judge) over n, and the variance is the sum
of both (Angelopoulos et al. 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.errors import GensightError
from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.estimates import cluster_sums, estimate, mean_terms, t_quantile


class CorrectedMean(NamedTuple):
    """The judge's mean with its bias removed; variance None below two clusters of either kind."""

    value: float
    bias: float
    variance: float | None
    interval: Interval


def corrected_mean(
    judged: ArrayLike,
    judged_known: ArrayLike,
    truth: ArrayLike,
    cluster_ids: Sequence[str] | None = None,
    known_cluster_ids: Sequence[str] | None = None,
) -> CorrectedMean:
    """Return the prediction-powered mean of judged scores (N,), given truths of some samples (n,).

    `judged_known` are the judge's scores of the samples whose truth is known; these are assumed
    independent of the N (other samples, or a small share of them). Without names of clusters every
    sample is its own. `bias` is the mean of judge - truth. A judge that equals the truth leaves the
    plain mean, to the last bit.

    Raises:
        GensightError: no sample is judged, or none has a known truth.
    """
    known = np.asarray(judged_known, np.float64)
    differences = np.asarray(truth, np.float64) - known
    parts = []
    for values, names in (
        (np.asarray(judged, np.float64), cluster_ids),
        (differences, known_cluster_ids),
    ):
        clusters = [f"{place:09}" for place in range(len(values))] if names is None else names
        sums = cluster_sums(mean_terms(values), clusters)
        if sums is None:
            raise GensightError(
                "a corrected mean needs judged samples and some whose truth is known; "
                "give at least one of each"
            )
        parts.append(estimate(sums))
    value = parts[0].value + parts[1].value
    freedom = min(part.degrees_of_freedom for part in parts)
    if freedom < 1:
        return CorrectedMean(value, -parts[1].value, None, NO_INTERVAL)
    variance = parts[0].standard_error ** 2 + parts[1].standard_error ** 2
    half = t_quantile(freedom) * math.sqrt(variance)
    found = Interval(value - half, value + half, "prediction-powered t")
    return CorrectedMean(value, -parts[1].value, variance, found)


def confusion(
    truth: Sequence[object], judged: Sequence[object], levels: Sequence[object] = (0, 1, 2)
) -> np.ndarray:
    """Return how often each true level (rows) was judged as each level (columns), int64.

    >>> confusion([0, 2, 2], [0, 1, 2]).tolist()
    [[1, 0, 0], [0, 0, 0], [0, 1, 1]]

    Raises:
        GensightError: a score is none of the levels.
    """
    places = {level: place for place, level in enumerate(levels)}
    counts = np.zeros((len(places), len(places)), np.int64)
    for pair in zip(truth, judged, strict=True):
        if not set(pair) <= set(places):
            raise GensightError(f"scores {pair} are not among the levels {tuple(levels)}")
        counts[places[pair[0]], places[pair[1]]] += 1
    return counts
