"""Where a mask would have to move to fit its target: one Fourier transform for all shifts.

PROTOCOLS 3.3 and 5.1: shifts up to 10 % of the long side, scales 0.9 to 1.1 about the centre. The
overlap at every shift is a correlation of two masks, so it is exact: whole numbers of pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft

from gensight.images import fit_long_side, resize_mask

SCALES = (1.0, 0.95, 1.05, 0.9, 1.1)
MAX_SHIFT_SHARE = 0.1
LONG_SIDE_PX = 384


class Placement(NamedTuple):
    """The best IoU over shifts and scales, how the prediction gets there, and the IoU as it is.

    Shifts are shares of the long side, to the right and down. Both IoUs are on one small grid, so
    their difference is what the move gains and not what the grid costs.
    """

    iou: float
    shift_x: float
    shift_y: float
    scale: float
    unmoved_iou: float


def best_placement(
    predicted: np.ndarray, target: np.ndarray, ignored: np.ndarray | None = None
) -> Placement:
    """Return the move that lays a mask best on its target; all bool (H, W) of one shape.

    Ties go to scale 1, then to the shortest shift. Pixels that leave the picture or reach ignored
    ones are lost. Two empty masks fit (IoU 1); of others an empty one fits nowhere.
    """
    masks = [predicted, target, np.zeros_like(target) if ignored is None else ignored]
    height, width = target.shape
    size = fit_long_side(width, height, min(LONG_SIDE_PX, max(height, width)))
    mask, truth, left_out = (resize_mask(each, *size) for each in masks)
    truth, valid = truth & ~left_out, ~left_out
    found = _Search(truth, valid)
    return found.best(mask)


class _Search:
    """The transforms of the target and of the valid pixels, and overlaps of masks with them."""

    def __init__(self, truth: np.ndarray, valid: np.ndarray) -> None:
        self.shape, self.area = truth.shape, int(truth.sum())
        self.long_side = max(self.shape)
        self.reach = round(MAX_SHIFT_SHARE * self.long_side)
        self.padded = tuple(fft.next_fast_len(side + self.reach) for side in self.shape)
        # One complex transform carries both: truth in the real part, valid in the imaginary one.
        self.spectrum = fft.fft2(truth + 1j * valid, self.padded)
        steps = np.arange(-self.reach, self.reach + 1)
        self.length = np.hypot(steps[:, None], steps)

    def best(self, mask: np.ndarray) -> Placement:
        unmoved, best = 0.0, Placement(-1.0, 0.0, 0.0, 1.0, 0.0)
        for scale in SCALES:
            iou = self._ious(_scaled(mask, scale))
            if scale == 1:
                unmoved = float(iou[self.reach, self.reach])
            highest = float(iou.max())
            if highest > best.iou:
                distance = np.where(iou == highest, self.length, np.inf)
                row, column = np.unravel_index(int(distance.argmin()), iou.shape)
                down, right = int(row) - self.reach, int(column) - self.reach
                best = Placement(highest, right / self.long_side, down / self.long_side, scale, 0.0)
        return best._replace(unmoved_iou=unmoved)

    def _ious(self, mask: np.ndarray) -> np.ndarray:
        """Return the IoU at every shift (rows, columns) from -reach to reach."""
        found = fft.ifft2(self.spectrum * fft.fft2(mask, self.padded).conj())
        span = 2 * self.reach + 1
        around = np.roll(found, (self.reach, self.reach), axis=(0, 1))[:span, :span]
        both, area = np.rint(around.real), np.rint(around.imag)
        union = self.area + area - both
        return np.divide(both, union, out=np.ones_like(both), where=union > 0)


def _scaled(mask: np.ndarray, scale: float) -> np.ndarray:
    """Return a mask enlarged or shrunk about the centre, on the same grid, at pixel centres."""
    if scale == 1:
        return mask
    rows, columns = (_sources(length, scale) for length in mask.shape)
    inside = np.ix_(rows >= 0, columns >= 0)
    result = np.zeros_like(mask)
    result[inside] = mask[np.ix_(rows[rows >= 0], columns[columns >= 0])]
    return result


def _sources(length: int, scale: float) -> np.ndarray:
    """Return the pixel that each pixel takes its value from, -1 where it lies outside."""
    centre = (length - 1) / 2
    source = np.rint((np.arange(length) - centre) / scale + centre).astype(np.int64)
    return np.where((source >= 0) & (source < length), source, -1)
