"""The gate of PROTOCOLS 4.1: what a ramp and a salient blob may earn on the scenes at most.

Everything here is written apart from the library: the monotone fit, the ramp and the saliency.
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from gensight.datasets.scenes import iter_samples
from gensight.images import decode_array, decode_mask, decode_rgb

DEPTH_RANKS = range(18)
SEGMENTATION_RANKS = range(36)


def monotone_absrel(grey, depth, block=32):
    """Fit grey -> log depth monotonically on half the blocks, score the others; the better sign."""
    height, width = depth.shape
    board = np.add.outer(np.arange(height) // block, np.arange(width) // block) % 2 == 0
    outcomes = []
    for increasing in (True, False):
        error, loss = np.empty(depth.shape), 0.0
        for fitted in (board, ~board):
            levels, index = np.unique(grey[fitted], return_inverse=True)
            weights = np.bincount(index).astype(float)
            means = np.bincount(index, np.log(depth[fitted])) / weights
            curve = isotonic_regression(means, weights=weights, increasing=increasing).x
            loss += float((weights * (curve - means) ** 2).sum())
            aligned = np.exp(np.interp(grey[~fitted], levels, curve))
            error[~fitted] = np.abs(aligned - depth[~fitted]) / depth[~fitted]
        outcomes.append((loss, float(error.mean())))
    return min(outcomes)[1]


def salient_blob(rgb):
    """Return the connected region that differs most from the colours along the border."""
    lab = cv2.cvtColor((rgb / 255).astype(np.float32), cv2.COLOR_RGB2LAB)
    border = np.concatenate([lab[:8].reshape(-1, 3), lab[-8:].reshape(-1, 3)])
    contrast = np.linalg.norm(lab - np.median(border, axis=0), axis=2)
    contrast = cv2.GaussianBlur(contrast, (0, 0), 2)
    grey = np.uint8(255 * contrast / contrast.max())
    regions = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)[1]
    number, labels = cv2.connectedComponents(regions)
    strength = [contrast[labels == label].sum() for label in range(1, number)]
    return labels == 1 + int(np.argmax(strength))


def test_the_monotone_fit_solves_what_is_monotone():
    """The yardstick itself: a log code of a ramp scores near 0, a constant does not."""
    depth = np.geomspace(1, 10, 192)[:, None] * np.ones((1, 256))
    code = np.round(255 * np.log(depth) / np.log(10))
    assert monotone_absrel(code, depth) < 0.01
    assert monotone_absrel(255 - code, depth) < 0.01
    assert monotone_absrel(np.zeros(depth.shape), depth) > 0.4


@pytest.mark.parametrize("split", ["main", "ood"])
def test_a_vertical_ramp_does_not_solve_depth(split):
    ramp_errors, constant_errors = [], []
    for sample in iter_samples({"task": "depth", "split": split}, DEPTH_RANKS):
        depth = decode_array(sample.target_depth_m).astype(float)
        rows = np.round(np.linspace(0, 255, depth.shape[0]))
        ramp = np.broadcast_to(rows[:, None], depth.shape)
        ramp_errors.append(monotone_absrel(ramp, depth))
        constant_errors.append(monotone_absrel(np.zeros(depth.shape), depth))
    assert np.mean(ramp_errors) >= 0.5 * np.mean(constant_errors)


@pytest.mark.parametrize("split", ["main", "ood"])
def test_a_salient_blob_does_not_solve_segmentation(split):
    overlaps = []
    for sample in iter_samples({"task": "segmentation", "split": split}, SEGMENTATION_RANKS):
        blob = salient_blob(decode_rgb(sample.image["bytes"], matte=(0, 0, 0)))
        target = decode_mask(sample.target_mask)
        overlaps.append((blob & target).sum() / (blob | target).sum())
    assert 100 * np.mean(overlaps) < 35
