"""Two models on the same samples: difference, interval, sign-flip test, McNemar, power.

PROTOCOLS 2.3 and 2.5. Failed answers enter by the measures' policies, so no pair is lost. The
difference of a cluster is what its samples add to the difference of the two statistics; where the
two models' denominators differ (cIoU, a metric that some sample does not define), that is the
difference of the linearised values. The sign-flip test asks how often random signs of these
differences give as large a sum; it needs no assumption on the tail of the errors, only that a
cluster's difference is as likely to be positive as negative where the models are equal.

The interval is the t interval of those differences. It is always printed with p, never p alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.cells import (
    HEAVY_TAIL,
    MIN_CLUSTERS,
    Cell,
    ColumnParts,
    cell_of,
    is_heavy_tailed,
)
from gensight.statistics.estimates import (
    ClusterSums,
    estimate,
    kind_of,
    standard_error_of,
    t_quantile,
)
from gensight.statistics.resampling import bit_stream, exact_product

FLIPS = 9999
#: z(97.5 %) + z(80 %): an effect of that many standard errors is found four times in five.
POWER_FACTOR = 2.80


class Comparison(NamedTuple):
    """The difference first - second on the metric's scale, its interval and the test's p."""

    difference: float | None
    interval: Interval
    p: float | None
    test: str
    clusters: int
    minimum_detectable_effect: float | None


NO_COMPARISON = Comparison(None, NO_INTERVAL, None, "none", 0, None)


@dataclass(frozen=True)
class Pair:
    """Two models' differences by unit, sorted by name; `sums` (units,) are what is tested."""

    difference: float
    standard_error: float
    degrees_of_freedom: int
    units: tuple[str, ...]
    sums: np.ndarray


def compare(
    metric: Any, first: ColumnParts, second: ColumnParts, benchmark: str = ""
) -> Comparison:
    """Compare two models under a metric module on one benchmark.

    Rates whose clusters hold one sample each are tested by McNemar's exact mid-p, all else by sign
    flips. Fewer than ten clusters: samples are the units, and the interval says "fixed scenes".
    Two RMSEs of which one has no interval (`HEAVY_TAIL`) have a difference but no test. A metric
    that has no interval, or is not defined for either model, gives no comparison.
    """
    if kind_of(metric) == "none":
        return NO_COMPARISON
    fixed = len({*first.cluster_ids, *second.cluster_ids}) < MIN_CLUSTERS
    cells = [cell_of(metric, model, fixed) for model in (first, second)]
    if cells[0].units is None or cells[1].units is None:
        return NO_COMPARISON
    pair = pair_of(cells[0].units, cells[1].units)
    effect = minimum_detectable_effect(pair.standard_error)
    if any(is_heavy_tailed(cell) for cell in cells):
        without = Interval(None, None, HEAVY_TAIL)
        return Comparison(pair.difference, without, None, HEAVY_TAIL, len(pair.units), effect)
    found = _interval(pair, fixed)
    p, test = (None, "none") if found.low is None else _tested(cells, pair, benchmark)
    return Comparison(pair.difference, found, p, test, len(pair.units), effect)


def pair_of(first: ClusterSums, second: ClusterSums) -> Pair:
    """Return the differences of two models' sums, over the units of either."""
    strata = dict(zip(first.clusters, first.strata, strict=True))
    strata |= dict(zip(second.clusters, second.strata, strict=True))
    names = tuple(sorted(strata))
    one, two = first.on(names), second.on(names)
    a, b = estimate(one), estimate(two)
    difference, found = a.value - b.value, a.contributions - b.contributions
    error, freedom = standard_error_of(found, [strata[name] for name in names])
    sums = found + difference
    if (one.below == two.below).all():
        slopes = np.array(one.form.weights) / one.below.sum(axis=0)
        products = (one.above - two.above) * slopes
        sums = sum((products[:, m] for m in range(products.shape[1])), np.zeros(len(names)))
    return Pair(difference, error, freedom, names, sums)


def _interval(pair: Pair, fixed_scenes: bool) -> Interval:
    if pair.degrees_of_freedom < 1:
        return NO_INTERVAL
    half_width = t_quantile(pair.degrees_of_freedom) * pair.standard_error
    method = "paired cluster-t, fixed scenes" if fixed_scenes else "paired cluster-t"
    return Interval(pair.difference - half_width, pair.difference + half_width, method)


def _tested(cells: Sequence[Cell], pair: Pair, benchmark: str) -> tuple[float, str]:
    only, wrong = _discordant(cells, pair)
    if only is not None and wrong is not None:
        return mcnemar(only, wrong), "McNemar, exact mid-p"
    return sign_flip(pair.sums, benchmark), "sign flips by cluster"


def _discordant(cells: Sequence[Cell], pair: Pair) -> tuple[int | None, int | None]:
    """Return how many units only the first and only the second model has right, if units are 0/1.

    Both None where a unit holds more than one sample, or a sample that is not right or wrong.
    """
    sums = [cell.units for cell in cells if cell.units is not None]
    single = all((part.below == 1).all() and part.clusters == pair.units for part in sums)
    if cells[0].kind != "rate" or not single:
        return None, None
    first, second = (part.above[:, 0] for part in sums)
    if not all(np.isin(hits, (0.0, 100.0)).all() for hits in (first, second)):
        return None, None
    return int((first > second).sum()), int((second > first).sum())


def mcnemar(only_first: int, only_second: int) -> float:
    """Return McNemar's exact mid-p of two discordant counts; 1 where there are none.

    >>> mcnemar(1, 9), mcnemar(4, 4)
    (0.01171875, 1.0)
    """
    from scipy.special import bdtr, comb

    total, fewer = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    below = float(bdtr(fewer - 1, total, 0.5)) if fewer else 0.0
    return 2 * below + float(comb(total, fewer)) * 0.5**total


def sign_flip(differences: ArrayLike, benchmark: str = "", flips: int = FLIPS) -> float:
    """Return the two-sided p of the sum of the clusters' differences (G,), sorted by cluster.

    p = (1 + those of the flips whose sum is at least as large) / (1 + flips). The signs belong to
    the benchmark, so p does not change from run to run; equal models have p = 1.

    >>> sign_flip([0.0, 0.0, 0.0])
    1.0
    """
    found = np.asarray(differences, np.float64)
    signs = _signs(benchmark, len(found), flips)
    observed = abs(math.fsum(found.tolist()))
    # Flips that restore the same sum must count as equal, whatever rounding did.
    slack = 1e-12 * math.fsum(np.abs(found).tolist())
    sums = np.abs(exact_product(signs, found[:, None])[:, 0])
    return float((1 + (sums >= observed - slack).sum()) / (1 + flips))


@functools.lru_cache(maxsize=8)
def _signs(benchmark: str, size: int, flips: int) -> np.ndarray:
    raw = bit_stream(f"{benchmark}\0sign flips").random_raw(-(-flips * size // 64))
    bits = np.unpackbits(raw.astype("<u8").view(np.uint8))[: flips * size]
    signs = bits.reshape(flips, size).astype(np.int8) * 2 - 1
    signs.flags.writeable = False
    return signs


def minimum_detectable_effect(sd_of_differences: float, n_eff: float | None = None) -> float | None:
    """Return 2.80 sd / sqrt(n_eff): the difference that is found with a power of 80 % at 5 %.

    Without `n_eff`, the standard error itself is given. None where it is infinite. From one
    model's sd and the correlation of two models, sd_of_differences = sd sqrt(2 (1 - correlation)).

    >>> round(minimum_detectable_effect(38.0, 500), 1)
    4.8
    """
    error = sd_of_differences / math.sqrt(1 if n_eff is None else n_eff)
    return POWER_FACTOR * error if math.isfinite(error) else None
