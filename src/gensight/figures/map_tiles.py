"""Depth and normals as tiles.

Depth is shown in metres under one colour scale per row, logarithmic and set by the truth, after the
same linear fit that the score uses.
"""

from __future__ import annotations

import cv2
import matplotlib
import numpy as np

from gensight import images
from gensight.figures.items import NO_TRUTH, GalleryItem, Tile, unread
from gensight.figures.pictures import INVALID_RGB, shrunk
from gensight.truths import known_normals, valid_depth

DEPTH_COLOURS = "viridis_r"
# A truth with a smaller share of known pixels is drawn with wider points. Chosen by eye.
SPARSE_SHARE, SPARSE_RADIUS_PX = 0.4, 3.0


def depth_tiles(item: GalleryItem) -> tuple[Tile, Tile]:
    """Return the extracted and the true depth under the item's fit, in one colour scale."""
    sample = item.truth
    if sample.target_depth_m is None:
        return Tile(None, NO_TRUTH), Tile(None, NO_TRUTH)
    truth_m = images.decode_array(sample.target_depth_m)
    caps_limit_truth = item.settings.get("caps_limit_truth", True)
    usable = valid_depth(sample, truth_m, caps_limit_truth=caps_limit_truth)
    if np.count_nonzero(usable) < 2:
        return Tile(None, NO_TRUTH), Tile(None, NO_TRUTH)
    near, far = (float(bound) for bound in np.percentile(truth_m[usable], (1, 99)))
    shown_m, shown = _thickened(truth_m, usable)
    truth = Tile(_depth_colours(shown_m, shown, near, far), f"{near:.1f} (bright) to {far:.1f} m")
    extracted = unread(item, "grey")
    if extracted is None:
        # Fits that have no line of their own (monotone, signed) are shown under the one in depth.
        linear = "disparity" if item.fit == "disparity" else "depth"
        highest = sample.max_depth_m or float(truth_m[usable].max())
        aligned_m = _aligned(item, truth_m.shape, linear, highest)
        everywhere = np.ones(truth_m.shape, np.bool_)
        picture = _depth_colours(aligned_m, everywhere, near, far)
        extracted = Tile(picture, f"aligned in {linear}")
    return extracted, truth


def _thickened(depth_m: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return depth and where it is known, the points of a sparse map (a laser's) made wider.

    Single pixels would vanish when the map is shrunk to a tile. Dense maps are left as they are.
    """
    if valid.mean() > SPARSE_SHARE:
        return depth_m, valid
    distance_px, labels = cv2.distanceTransformWithLabels(
        (~valid).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    by_label = np.zeros(int(labels.max()) + 1, depth_m.dtype)
    by_label[labels[valid]] = depth_m[valid]
    return by_label[labels], distance_px <= SPARSE_RADIUS_PX


def _aligned(item: GalleryItem, shape: tuple[int, ...], fit: str, highest_m: float) -> np.ndarray:
    """Return the grey map in metres on the truth's grid, under the line that the score uses."""
    from gensight.measures import depth_fit

    parts = depth_fit.measure(item.extracted, item.truth, item.settings)
    grey = images.decode_grey(item.extracted.grey["bytes"], matte=(0, 0, 0), orient=False)
    levels = grey.astype(np.float32) / (257 if grey.dtype == np.uint16 else 1)
    fitted = images.resize_depth(levels, shape[1], shape[0])
    line = parts[fit]["scale"] * fitted + parts[fit]["shift"]
    if fit == "disparity":
        line = 1 / np.maximum(line, 1 / highest_m)
    return np.clip(line, item.truth.min_depth_m or 0, highest_m)


def _depth_colours(depth_m: np.ndarray, valid: np.ndarray, near: float, far: float) -> np.ndarray:
    """Colour metres by their logarithm, near bright and far dark; no depth is light grey."""
    logarithm = np.log(np.clip(np.where(valid, depth_m, far), near, far) / near)
    share = logarithm / max(np.log(far / near), 1e-9)
    coloured = matplotlib.colormaps[DEPTH_COLOURS](share, bytes=True)[:, :, :3].copy()
    coloured[~valid] = INVALID_RGB
    return shrunk(coloured)


def normals_tiles(item: GalleryItem) -> tuple[Tile, Tile]:
    """Return the extracted and the true normals: red is right, green is up, blue is near."""
    extracted = unread(item, "normals")
    if extracted is None:
        stored = item.extracted.normals["bytes"]
        extracted = Tile(shrunk(images.decode_rgb(stored, matte=(0, 0, 0), orient=False)))
    if item.truth.target_normals is None:
        return extracted, Tile(None, NO_TRUTH)
    normals = images.decode_array(item.truth.target_normals).astype(np.float64)
    known = known_normals(item.truth, normals)
    colours = np.round((np.nan_to_num(normals) + 1) * 127.5).clip(0, 255).astype(np.uint8)
    colours[~known] = INVALID_RGB
    return extracted, Tile(shrunk(colours))
