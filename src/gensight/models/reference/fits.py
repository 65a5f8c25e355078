"""What the priors are fitted to: cluster-weighted means and medians over held-out samples.

Maps are averaged on one fixed grid in relative picture coordinates, whatever the samples' sizes,
one sample in memory at a time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.models.reference import paint
from gensight.truths import known_normals, true_count, truth_of, valid_depth

if TYPE_CHECKING:
    from gensight.records import Sample

GRID_PX = 256


def with_truth(held_out: Sequence[Sample], field: str) -> list[tuple[Sample, float]]:
    """Return the samples that have a truth (`truth_of`), each with its weight.

    Clusters weigh the same.

    Raises:
        SpecError: none of the samples has it.
    """
    usable = [sample for sample in held_out if truth_of(sample, field) is not None]
    if not usable:
        raise SpecError(
            f"none of the {len(held_out)} held-out samples has a {field} to fit a prior on; "
            "set `tasks` in the model's YAML"
        )
    sizes = Counter(sample.cluster_id for sample in usable)
    share = 1.0 / len(sizes)
    return [(sample, share / sizes[sample.cluster_id]) for sample in usable]


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


def median_area_share(held_out: Sequence[Sample]) -> float:
    """Return the median share of the picture that the targets cover."""
    weighted = with_truth(held_out, "target_mask")
    shares = [float(images.decode_mask(sample.target_mask).mean()) for sample, _ in weighted]
    return weighted_median(shares, [weight for _, weight in weighted])


def median_count(held_out: Sequence[Sample]) -> int:
    """Return the median count, halves rounded up."""
    weighted = with_truth(held_out, "target_count")
    counts = [float(true_count(sample)) for sample, _ in weighted]
    return math.floor(weighted_median(counts, [weight for _, weight in weighted]) + 0.5)


def mean_count(held_out: Sequence[Sample]) -> int:
    """Return the mean count, halves rounded up."""
    weighted = with_truth(held_out, "target_count")
    mean = math.fsum(true_count(sample) * weight for sample, weight in weighted)
    return math.floor(round(mean, 9) + 0.5)


def mean_depth_m(held_out: Sequence[Sample]) -> np.ndarray:
    """Return exp(mean log depth) in metres: float64 (GRID_PX, GRID_PX)."""
    return np.exp(_mean_map(_log_depths(held_out))[..., 0])


def mean_normals(held_out: Sequence[Sample]) -> np.ndarray:
    """Return the mean normals: float64 (GRID_PX, GRID_PX, 3), not of unit length."""
    return _mean_map(_normal_maps(held_out))


Weighted = tuple[np.ndarray, np.ndarray, float]


def _log_depths(held_out: Sequence[Sample]) -> Iterable[Weighted]:
    for sample, weight in with_truth(held_out, "target_depth_m"):
        depth_m = images.decode_array(sample.target_depth_m)
        valid = valid_depth(sample, depth_m)
        log_depth = np.log(np.where(valid, depth_m, 1.0).astype(np.float64))
        yield log_depth[..., None], valid, weight


def _normal_maps(held_out: Sequence[Sample]) -> Iterable[Weighted]:
    for sample, weight in with_truth(held_out, "target_normals"):
        normals = images.decode_array(sample.target_normals).astype(np.float64)
        valid = known_normals(sample, normals)
        yield np.where(valid[..., None], normals, 0.0), valid, weight


def _mean_map(maps: Iterable[Weighted]) -> np.ndarray:
    """Return the weighted mean of maps (H, W, channels) on the grid, pixel by pixel.

    Invalid pixels have no weight; grid pixels that no map covers take the nearest covered value.

    Raises:
        SpecError: no map has a valid pixel.
    """
    total: np.ndarray | float = 0.0
    covered: np.ndarray | float = 0.0
    for values, valid, weight in maps:
        seen = valid[..., None].astype(np.float64)
        total = total + weight * paint.resize_channels(values * seen, GRID_PX, GRID_PX)
        covered = covered + weight * paint.resize_channels(seen, GRID_PX, GRID_PX)
    known = np.asarray(covered)[..., 0] > 1e-6
    if not known.any():
        raise SpecError("no held-out sample has a valid pixel to fit prior_mean on")
    mean = np.divide(total, covered, out=np.zeros_like(total), where=known[..., None])
    return paint.fill_from_nearest(mean, known)
