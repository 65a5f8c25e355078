"""An input picture and an answer on one small grid, and what many features need of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import cv2
import numpy as np

from gensight.images import LONG_SIDE, fit_long_side, resize_picture, to_grey

# Windows of SSIM, tiles of the equalisation and patches of the flow need this many pixels.
MIN_SIDE_PX = 32
CANNY_SIGMA_PX, CANNY_LOW, CANNY_HIGH = 1.2, 40, 100
# The window of Wang et al. 2004, as scikit-image's gaussian_weights takes it.
WINDOW_PX, WINDOW_SIGMA_PX = 11, 1.5
LUMINANCE_FLOOR, CONTRAST_FLOOR = (0.01 * 255) ** 2, (0.03 * 255) ** 2


class Pair:
    """Input and answer, uint8 RGB of any sizes, stretched to the input's shape at one long side.

    `settings` are the thresholds. `source` and `answer` are uint8 (H, W, 3) at `compare_side_px`;
    the originals stay for the decoder of marks, which works at long side 1024.
    """

    def __init__(
        self, source_rgb: np.ndarray, answer_rgb: np.ndarray, settings: Mapping[str, Any]
    ) -> None:
        for name, rgb in (("input", source_rgb), ("output", answer_rgb)):
            if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3 or not rgb.size:
                raise ValueError(f"the {name} is uint8 (H, W, 3), not {rgb.dtype} {rgb.shape}")
        self.originals = source_rgb, answer_rgb
        self.settings = settings
        height, width = source_rgb.shape[:2]
        self.work_size = fit_long_side(width, height, LONG_SIDE)
        sides = fit_long_side(width, height, settings["compare_side_px"])
        self.size = tuple(max(side, MIN_SIDE_PX) for side in sides)
        self.source, self.answer = (resize_picture(rgb, *self.size) for rgb in self.originals)

    @property
    def long_side_px(self) -> int:
        """The long side of the grid."""
        return max(self.size)

    @cached_property
    def source_grey(self) -> np.ndarray:
        """Rec. 601 luma of the input, uint8 (H, W)."""
        return to_grey(self.source)

    @cached_property
    def answer_grey(self) -> np.ndarray:
        """Rec. 601 luma of the answer, uint8 (H, W)."""
        return to_grey(self.answer)

    @cached_property
    def source_lab(self) -> np.ndarray:
        """CIE Lab of the input, float32 (H, W, 3), L from 0 to 100."""
        return lab(self.source)

    @cached_property
    def answer_lab(self) -> np.ndarray:
        """CIE Lab of the answer, float32 (H, W, 3), L from 0 to 100."""
        return lab(self.answer)

    @cached_property
    def source_edges(self) -> np.ndarray:
        """Edges of the input, bool (H, W)."""
        return edges(self.source_grey)

    @cached_property
    def answer_edges(self) -> np.ndarray:
        """Edges of the answer, bool (H, W)."""
        return edges(self.answer_grey)

    @cached_property
    def source_edge_distance(self) -> np.ndarray:
        """Distance in px to the nearest edge of the input, float32 (H, W)."""
        return distance_to(self.source_edges)

    @cached_property
    def likeness(self) -> np.ndarray:
        """Structural similarity of the two greys at every pixel, float32 (H, W)."""
        return ssim_map(self.source_grey, self.answer_grey)


def lab(rgb: np.ndarray) -> np.ndarray:
    """Return CIE Lab (D65), float32 (H, W, 3), of uint8 sRGB."""
    return cv2.cvtColor(rgb.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2Lab)


def edges(grey: np.ndarray) -> np.ndarray:
    """Return Canny's edges of a uint8 picture, bool (H, W)."""
    smooth = cv2.GaussianBlur(grey, (0, 0), CANNY_SIGMA_PX)
    return cv2.Canny(smooth, CANNY_LOW, CANNY_HIGH) > 0


def distance_to(pixels: np.ndarray) -> np.ndarray:
    """Return the distance in px to the nearest True of a bool (H, W); the diagonal if none is."""
    if not pixels.any():
        return np.full(pixels.shape, np.hypot(*pixels.shape), np.float32)
    return cv2.distanceTransform((~pixels).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def ssim_map(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the structural similarity of two 8-bit greys, float32 (H, W).

    Wang et al. 2004 with a Gaussian window; equal to scikit-image's `structural_similarity` with
    `gaussian_weights=True, use_sample_covariance=False, data_range=255`.
    """
    one, two = (grey.astype(np.float32) for grey in (first, second))
    mean_one, mean_two = _windowed(one), _windowed(two)
    squares, product = mean_one * mean_one + mean_two * mean_two, mean_one * mean_two
    variances = _windowed(one * one + two * two) - squares
    covariance = _windowed(one * two) - product
    above = (2 * product + LUMINANCE_FLOOR) * (2 * covariance + CONTRAST_FLOOR)
    return above / ((squares + LUMINANCE_FLOOR) * (variances + CONTRAST_FLOOR))


def mean_within(values: np.ndarray, where: np.ndarray | None = None) -> float:
    """Return the mean of a map over the pixels that the window fits around, and lie in `where`.

    Where nothing is left, the mean over all pixels.
    """
    margin = WINDOW_PX // 2
    inner = (slice(margin, -margin), slice(margin, -margin))
    inside = values[inner]
    kept = inside if where is None else inside[where[inner]]
    return float((kept if kept.size else values).mean(dtype=np.float64))


def _windowed(values: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(
        values, (WINDOW_PX, WINDOW_PX), WINDOW_SIGMA_PX, borderType=cv2.BORDER_REFLECT
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Run OpenCV in one thread: the stripes of its parallel loops may change last digits."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
