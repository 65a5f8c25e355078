"""Depth errors once more: Marigold's evaluation written down apart from ours, and brute force.

Least squares of [p, 1] on the valid pixels at full resolution in float64; the aligned map clipped
to the data set's range; AbsRel, delta1 and RMSE per picture, then the plain mean over pictures. The
variant in disparity fits 1/d and floors it at 1/max before it is inverted. The monotone fit is
compared with an exhaustive search over all ways to pool neighbouring grey levels.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gensight import images, metrics
from gensight.measures import depth_fit
from gensight.measures._monotone import monotone_fit
from gensight.records import Prediction, Sample

LOW_M, HIGH_M = 0.8, 9.0
FORM = {"answer_form": {"kind": "depth", "near": "bright"}}
SIZES = ((61, 83), (96, 128), (7, 300), (151, 50))


def evaluate(grey, depth_m, valid, space):
    """Return AbsRel, delta1 and RMSE of one picture, by the printed steps."""
    p, d = grey.astype(np.float64)[valid], depth_m.astype(np.float64)[valid]
    wanted = 1 / d if space == "disparity" else d
    scale, shift = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), wanted, rcond=None)[0]
    aligned = scale * p + shift
    if space == "disparity":
        aligned = 1 / np.maximum(aligned, 1 / HIGH_M)
    aligned = np.maximum(np.clip(aligned, LOW_M, HIGH_M), 1e-6)
    return {
        "absrel": 100 * np.mean(np.abs(aligned - d) / d),
        "delta1": 100 * np.mean(np.maximum(aligned / d, d / aligned) < 1.25),
        "rmse_m": np.sqrt(np.mean((aligned - d) ** 2)),
    }


def scene(random, height, width, share):
    """Return depth with a slope, discs, holes and impossible values, and where it counts."""
    rows, columns = np.mgrid[:height, :width]
    depth_m = 1 + 7 * rows / height + 0.8 * np.sin(columns / 9)
    for _ in range(4):
        x, y = random.uniform(0, (width, height))
        depth_m[np.hypot(columns - x, rows - y) < 12] = random.uniform(0.5, 12)
    for value in (0.0, -1.0, np.nan, np.inf):
        depth_m[random.random(depth_m.shape) < 0.02] = value
    return depth_m.astype(np.float32), random.random(depth_m.shape) < share


def answer_of(random, depth_m, bits):
    """Return a noisy, bent picture of it, brighter for nearer, in 8 or 16 bits.

    Single pixels are far too bright or too dark, so that both caps and the floor are reached.
    """
    safe_m = np.nan_to_num(depth_m, nan=5, posinf=12, neginf=0)
    bent = 0.15 + 0.45 / np.clip(safe_m, 0.8, 12) ** 0.8 + random.normal(0, 0.02, depth_m.shape)
    bent[random.random(depth_m.shape) < 0.005] = 1
    bent[random.random(depth_m.shape) < 0.005] = 0
    dtype = np.uint8 if bits == 8 else np.uint16
    return (np.clip(bent, 0, 1) * np.iinfo(dtype).max).astype(dtype)


def pair_of(grey, depth_m, mask):
    head = {"sample_id": "s", "rank": 0, "cluster_id": "c"}
    sample = Sample(
        **head,
        image={},
        width=depth_m.shape[1],
        height=depth_m.shape[0],
        target_depth_m=images.encode_array(depth_m),
        valid_mask=images.encode_mask(mask),
        min_depth_m=LOW_M,
        max_depth_m=HIGH_M,
    )
    stored = {"bytes": images.encode_png(grey), "path": None}
    return Prediction(**head, variant="grey", status="ok", outcome="ok", grey=stored), sample


def means(parts, fit):
    names = ("absrel", "delta1", "rmse_m")
    return {
        name: metrics.load(name).aggregate({name: [one[fit][name] for one in parts]})
        for name in names
    }


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("share", [1.0, 0.05], ids=["dense", "sparse"])
def test_marigolds_evaluator_gives_the_same_means(share, bits):
    random = np.random.default_rng(bits)
    parts, expected = [], {"depth": [], "disparity": []}
    for height, width in SIZES:
        depth_m, mask = scene(random, height, width, share)
        grey = answer_of(random, depth_m, bits)
        parts.append(depth_fit.measure(*pair_of(grey, depth_m, mask), FORM))
        valid = mask & np.isfinite(depth_m) & (depth_m >= LOW_M) & (depth_m <= HIGH_M)
        assert parts[-1]["depth"]["n_valid"] == np.count_nonzero(valid)
        for space, found in expected.items():
            found.append(evaluate(grey, depth_m, valid, space))
    for space, found in expected.items():
        mean = {name: np.mean([one[name] for one in found]) for name in found[0]}
        assert means(parts, space) == pytest.approx(mean, rel=2e-5)
        pooled = np.average(
            [one["absrel"] for one in found], weights=[one["depth"]["n_valid"] for one in parts]
        )
        assert pooled != pytest.approx(mean["absrel"], rel=2e-4)


def test_a_larger_answer_is_averaged_over_the_pixels_of_the_truth():
    random = np.random.default_rng(3)
    depth_m, mask = scene(random, 45, 70, 0.5)
    fine = np.kron(answer_of(random, depth_m, 8), np.ones((3, 3), np.uint8))
    noisy = np.clip(fine + random.normal(0, 9, fine.shape), 0, 255).astype(np.uint8)
    parts = depth_fit.measure(*pair_of(noisy, depth_m, mask), FORM)
    grey = noisy.reshape(45, 3, 70, 3).astype(float).mean(axis=(1, 3))
    valid = mask & np.isfinite(depth_m) & (depth_m >= LOW_M) & (depth_m <= HIGH_M)
    for space in ("depth", "disparity"):
        assert means([parts], space) == pytest.approx(
            evaluate(grey, depth_m, valid, space), rel=2e-5
        )


def test_a_wide_answer_is_interpolated_between_its_pixel_centres():
    """Enlarged by hand: weights of the two nearest centres, edges held; a truth is never moved."""
    random = np.random.default_rng(4)
    depth_m, mask = scene(random, 40, 66, 0.3)
    small = answer_of(random, depth_m, 8)[::2, ::3].copy()
    parts = depth_fit.measure(*pair_of(small, depth_m, mask), FORM)
    grey = small.astype(float)
    for axis, side in enumerate(depth_m.shape):
        source = grey.shape[axis]
        place = np.clip((np.arange(side) + 0.5) * source / side - 0.5, 0, source - 1)
        low = np.minimum(place.astype(int), source - 2)
        weight = (place - low).reshape([-1 if each == axis else 1 for each in (0, 1)])
        grey = grey.take(low, axis) * (1 - weight) + grey.take(low + 1, axis) * weight
    valid = mask & np.isfinite(depth_m) & (depth_m >= LOW_M) & (depth_m <= HIGH_M)
    for space in ("depth", "disparity"):
        assert means([parts], space) == pytest.approx(
            evaluate(grey, depth_m, valid, space), rel=1e-4
        )


def pooled_by_search(values, weights, rising):
    """Return the monotone sequence of least weighted squares, of all ways to pool neighbours."""
    best, least = None, np.inf
    n = len(values)
    for cuts in itertools.product([False, True], repeat=n - 1):
        block = np.concatenate([[0], np.cumsum(cuts)]).astype(int)
        total = np.bincount(block, weights)
        means_of = np.bincount(block, weights * values) / total
        steps = np.diff(means_of)
        if (steps < 0).any() if rising else (steps > 0).any():
            continue
        squared = float(np.sum(weights * (values - means_of[block]) ** 2))
        if squared < least - 1e-12:
            best, least = means_of[block], squared
    return best, least


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rising", [True, False])
def test_pooling_is_the_best_of_all_poolings(seed, rising):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 9))
    values, weights = random.normal(0, 1, n), random.uniform(0.1, 9, n)
    values[random.random(n) < 0.3] = 0.5
    expected, _ = pooled_by_search(values, weights, rising)
    found = monotone_fit(values, weights, increasing=rising)
    assert found == pytest.approx(expected, abs=1e-9)


def monotone_by_search(grey, depth_m, valid, block_px):
    """Return AbsRel and direction: each half's best curve, one direction for both, read crosswise.

    Levels that a half lacks are interpolated between its neighbours, and held beyond its ends.
    """
    rows, columns = np.indices(grey.shape)
    half = (rows // block_px + columns // block_px) % 2
    outcomes = []
    for rising in (True, False):
        loss, aligned = 0.0, np.zeros(grey.shape)
        for fold in (0, 1):
            seen = valid & (half == fold)
            held = np.unique(grey[seen])
            logs = [np.log(depth_m[seen & (grey == level)].astype(float)) for level in held]
            weights = np.array([len(each) for each in logs], float)
            curve, squared = pooled_by_search(np.array([e.mean() for e in logs]), weights, rising)
            loss += squared
            other = valid & (half != fold)
            aligned[other] = np.exp(np.interp(grey[other], held, curve))
        clipped = np.clip(aligned[valid], LOW_M, HIGH_M)
        error = np.mean(np.abs(clipped - depth_m[valid]) / depth_m[valid])
        outcomes.append((loss, error, 1.0 if rising else -1.0))
    return min(outcomes)[1:]


@pytest.mark.parametrize("share", [1.0, 0.1], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(3))
def test_the_monotone_fit_is_the_best_of_all_monotone_curves(seed, share):
    random = np.random.default_rng(seed)
    height, width = SIZES[seed]
    depth_m, mask = scene(random, height, width, share)
    levels = np.sort(random.choice(256, 7, replace=False)).astype(np.uint8)
    grey = levels[np.minimum(answer_of(random, depth_m, 8) // 37, 6)]
    valid = mask & np.isfinite(depth_m) & (depth_m >= LOW_M) & (depth_m <= HIGH_M)
    parts = depth_fit.measure(*pair_of(grey, depth_m, mask), {**FORM, "block_px": 5})["monotone"]
    absrel, direction = monotone_by_search(grey, depth_m, valid, 5)
    assert parts["absrel"] == pytest.approx(absrel, rel=1e-5)
    assert parts["direction"] == direction
    assert parts["cross_fitted"] == 1.0
