"""What the priors are fitted to: cluster-weighted means and medians over held-out samples.

A fit is made once; for each sample that is asked about, the held-out samples of its own cluster are
left out of it (PROTOCOLS 1.1), since real data sets have recordings and scenes on both sides. If
they are all of one cluster, that of the asked sample, only those with its very picture are left
out. A map's mean without a cluster is the total less the cluster's own part.

Who sees no picture still reads the question: where at least `ASSUMED_LEAST_SAME_QUERY` of the rest
were asked the very same query, they alone answer (PROTOCOLS 1.2: floors per class). So each class
has a floor of its own where queries name classes, and nothing changes where no query comes twice.

Maps are averaged on one fixed grid in relative picture coordinates, whatever the samples' sizes,
one sample in memory at a time.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.models.reference import paint
from gensight.truths import known_normals, true_count, truth_of, valid_depth

if TYPE_CHECKING:
    from gensight.records import Sample

GRID_PX = 256
#: Fewer samples of a query tell less of it than all samples do (assumed).
ASSUMED_LEAST_SAME_QUERY = 5
#: Parts of clusters that are kept: a data set has few large clusters, or many small ones.
PARTS_KEPT = 32
#: Weight below which nothing but the rounding of a subtraction is left of a pixel.
LEAST_WEIGHT = 1e-6

Read = Callable[["Sample"], float]
ReadMap = Callable[["Sample"], tuple[np.ndarray, np.ndarray]]


class Average(NamedTuple):
    """Maps summed on the grid: weighted values (GRID_PX, GRID_PX, channels), and their weights."""

    total: np.ndarray
    weight: np.ndarray


class Choice(NamedTuple):
    """Who answers about a sample: all with a query (None: all), less those who are left out."""

    query: str | None
    left_out: tuple[str, ...]


class Fit:
    """The held-out samples that have a truth (`truth_of`), by query, and who is left out.

    Among those who answer, every cluster has one vote, shared by its samples.

    Raises:
        SpecError: none of the samples has the truth.
    """

    def __init__(self, held_out: Sequence[Sample], field: str) -> None:
        self.usable = [sample for sample in held_out if truth_of(sample, field) is not None]
        if not self.usable:
            raise SpecError(
                f"none of the {len(held_out)} held-out samples has a {field} to fit a prior on; "
                "set `tasks` in the model's YAML"
            )
        self._by_query: dict[str | None, list[Sample]] = defaultdict(list)
        for sample in self.usable:
            self._by_query[sample.query].append(sample)

    def pool(self, query: str | None) -> list[Sample]:
        """Return the samples with a query, all where it is None."""
        return self.usable if query is None else self._by_query[query]

    def choice(self, asked: Sample | None) -> Choice:
        """Return who answers about a sample; without one, all do.

        Raises:
            SpecError: nobody remains: all held-out samples show the asked sample's picture.
        """
        out = set(self.left_out(asked))
        query = None if asked is None or asked.query not in self._by_query else asked.query
        if sum(s.sample_id not in out for s in self.pool(query)) < ASSUMED_LEAST_SAME_QUERY:
            query = None
        return Choice(query, tuple(s.sample_id for s in self.pool(query) if s.sample_id in out))

    def left_out(self, asked: Sample | None) -> tuple[str, ...]:
        """Return the ids of the samples that take no part in the answer about a sample.

        Without a sample to ask about nobody is left out.

        Raises:
            SpecError: nobody remains: all held-out samples show the asked sample's picture.
        """
        if asked is None:
            return ()
        own = [s.sample_id for s in self.usable if s.cluster_id == asked.cluster_id]
        if len(own) == len(self.usable):
            own = [
                s.sample_id for s in self.usable if self._pictures[s.sample_id] == _picture(asked)
            ]
        if len(own) == len(self.usable):
            raise SpecError(
                f"sample '{asked.sample_id}': every held-out sample shows its own picture, so "
                "nothing is left to fit a prior on; raise `held_out.n` in the benchmark's YAML"
            )
        return tuple(own)

    @cached_property
    def _pictures(self) -> dict[str, bytes]:
        return {sample.sample_id: _picture(sample) for sample in self.usable}


class ValueFit(Fit):
    """Means and medians of one number for each sample."""

    def __init__(self, held_out: Sequence[Sample], field: str, read: Read) -> None:
        super().__init__(held_out, field)
        self._values = {sample.sample_id: read(sample) for sample in self.usable}

    def median(self, asked: Sample | None = None) -> float:
        """Return the weighted median of those who are not left out."""
        return weighted_median(*self._kept(asked))

    def mean(self, asked: Sample | None = None) -> float:
        """Return the weighted mean of those who are not left out."""
        values, weights = self._kept(asked)
        total = math.fsum(value * weight for value, weight in zip(values, weights, strict=True))
        return total / math.fsum(weights)

    def _kept(self, asked: Sample | None) -> tuple[list[float], list[float]]:
        query, out = self.choice(asked)
        pool = self.pool(query)
        weights, kept = votes(pool), [s.sample_id for s in pool if s.sample_id not in out]
        return [self._values[name] for name in kept], [weights[name] for name in kept]


class MapFit(Fit):
    """The mean of one map for each sample, pixel by pixel."""

    def __init__(self, held_out: Sequence[Sample], field: str, read: ReadMap) -> None:
        super().__init__(held_out, field)
        self._read = read
        self._whole = lru_cache(maxsize=PARTS_KEPT)(self._sum)
        self._part = lru_cache(maxsize=PARTS_KEPT)(self._sum)

    def mean(self, asked: Sample | None = None) -> np.ndarray:
        """Return the weighted mean (GRID_PX, GRID_PX, channels) of those who are not left out.

        Invalid pixels have no weight; grid pixels that no map covers take the nearest covered
        value.

        Raises:
            SpecError: no map has a valid pixel.
        """
        query, out = self.choice(asked)
        total, weight = self._whole(query)
        if out:
            part = self._part(query, out)
            total, weight = total - part.total, weight - part.weight
        known = weight[..., 0] > LEAST_WEIGHT
        if not known.any():
            raise SpecError("no held-out sample has a valid pixel to fit prior_mean on")
        mean = np.divide(total, weight, out=np.zeros_like(total), where=known[..., None])
        return paint.fill_from_nearest(mean, known)

    def _sum(self, query: str | None, ids: tuple[str, ...] | None = None) -> Average:
        """Return the sum of some samples with a query, of all of them without `ids`."""
        weights = votes(self.pool(query))
        total: np.ndarray | float = 0.0
        weight: np.ndarray | float = 0.0
        for sample in self.pool(query):
            if ids is not None and sample.sample_id not in ids:
                continue
            values, valid = self._read(sample)
            share, seen = weights[sample.sample_id], valid[..., None].astype(np.float64)
            total = total + share * paint.resize_channels(values * seen, GRID_PX, GRID_PX)
            weight = weight + share * paint.resize_channels(seen, GRID_PX, GRID_PX)
        return Average(np.asarray(total), np.asarray(weight))


def votes(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the weight of each sample by its id: one for each cluster, shared by its samples."""
    sizes = Counter(sample.cluster_id for sample in samples)
    return {s.sample_id: 1.0 / sizes[s.cluster_id] for s in samples}


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the value at half of the total weight, the mean of two where it falls between them.

    With equal weights this is the ordinary median.
    """
    pairs = sorted(zip(values, weights, strict=True))
    half = math.fsum(weights) / 2
    below = 0.0
    for index, (value, weight) in enumerate(pairs):
        below += weight
        if math.isclose(below, half) and index + 1 < len(pairs):
            return (value + pairs[index + 1][0]) / 2
        if below > half:
            return value
    return pairs[-1][0]


def area_shares(held_out: Sequence[Sample]) -> ValueFit:
    """Return the fit of the shares of their pictures that the targets cover."""
    return ValueFit(
        held_out, "target_mask", lambda s: float(images.decode_mask(s.target_mask).mean())
    )


def counts(held_out: Sequence[Sample]) -> ValueFit:
    """Return the fit of the true counts."""
    return ValueFit(held_out, "target_count", lambda s: float(true_count(s)))


def log_depths(held_out: Sequence[Sample]) -> MapFit:
    """Return the fit of the logarithms of depth in metres: one channel."""
    return MapFit(held_out, "target_depth_m", _log_depth)


def normal_maps(held_out: Sequence[Sample]) -> MapFit:
    """Return the fit of the normals: three channels, means not of unit length."""
    return MapFit(held_out, "target_normals", _normals)


def whole(value: float) -> int:
    """Return a mean or median as a count: halves rounded up."""
    return math.floor(round(value, 9) + 0.5)


def _log_depth(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    depth_m = images.decode_array(sample.target_depth_m)
    valid = valid_depth(sample, depth_m)
    log_depth = np.log(np.where(valid, depth_m, 1.0).astype(np.float64))
    return log_depth[..., None], valid


def _normals(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    normals = images.decode_array(sample.target_normals).astype(np.float64)
    valid = known_normals(sample, normals)
    return np.where(valid[..., None], normals, 0.0), valid


def _picture(sample: Sample) -> bytes:
    return hashlib.sha256(sample.image["bytes"]).digest()
