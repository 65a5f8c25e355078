"""What counts as truth: the rules that references, fits, measures and figures share.

A pixel that a score leaves out must be left out by the prior that is fitted to beat it and by the
picture that shows it, so each rule stands here once. All of them read the columns of a
`records.Sample` and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gensight import images

if TYPE_CHECKING:
    from gensight.records import Sample

#: Tag of samples whose mask alone says which depth counts; their caps limit predictions only.
MASK_ALONE = "mask_alone"
# Direction of a normal: index and sign of its axis in the camera frame (x right, y up, z to the
# viewer).
DIRECTIONS = {
    "right": (0, 1.0),
    "left": (0, -1.0),
    "up": (1, 1.0),
    "down": (1, -1.0),
    "viewer": (2, 1.0),
    "away": (2, -1.0),
}


def valid_depth(
    sample: Sample, depth_m: np.ndarray, *, caps_limit_truth: bool = True
) -> np.ndarray:
    """Return where a sample's depth (H, W) counts, as bool: see `usable_depth`.

    Without `caps_limit_truth` the sample's range limits predictions only.
    """
    valid = None if sample.valid_mask is None else images.decode_mask(sample.valid_mask)
    low_m, high_m = (sample.min_depth_m, sample.max_depth_m) if caps_limit_truth else (None, None)
    return usable_depth(depth_m, valid, low_m, high_m)


def usable_depth(
    depth_m: np.ndarray, valid: np.ndarray | None, low_m: float | None, high_m: float | None
) -> np.ndarray:
    """Return where depth in metres is finite, positive, from `low_m` to `high_m`, and valid."""
    usable = depth_m > 0
    if low_m is not None:
        usable &= depth_m >= float(low_m)
    # An upper limit leaves infinity and NaN out as well, in one pass less.
    usable &= np.isfinite(depth_m) if high_m is None else depth_m <= float(high_m)
    return usable if valid is None else usable & valid


def known_normals(sample: Sample, normals: np.ndarray) -> np.ndarray:
    """Return where normals (H, W, 3) count, as bool: finite, not zero, in the valid mask."""
    # In float64 the square of no float32 is lost; a sum over the axis of three is slow.
    squares = np.einsum("ijk,ijk->ij", normals, normals, dtype=np.float64)
    known = np.isfinite(squares) & (squares > 0)
    return known if sample.valid_mask is None else known & images.decode_mask(sample.valid_mask)


def true_count(sample: Sample) -> int | None:
    """Return the true count: `target_count`, else the number of true points, else None."""
    if sample.target_count is not None:
        return sample.target_count
    return None if sample.target_points is None else len(sample.target_points)


def truth_of(sample: Sample, column: str) -> Any:
    """Return a truth column of a sample, None where it is missing; the count by `true_count`."""
    return true_count(sample) if column == "target_count" else getattr(sample, column)
