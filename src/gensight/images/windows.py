"""Masks kept as the box around their foreground: most of a mask is empty and need not be read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np


@dataclass(frozen=True)
class MaskWindow:
    """A box of a mask outside which nothing is foreground.

    `pixels` is bool (h, w), its upper left pixel at column `left` and row `top` of a mask of
    `width` x `height` pixels.
    """

    pixels: np.ndarray
    left: int
    top: int
    width: int
    height: int

    @cached_property
    def area(self) -> int:
        """Foreground pixels."""
        return int(np.count_nonzero(self.pixels))

    def whole(self) -> np.ndarray:
        """Return the whole mask, bool (H, W)."""
        height, width = self.pixels.shape
        mask = np.zeros((self.height, self.width), np.bool_)
        mask[self.top : self.top + height, self.left : self.left + width] = self.pixels
        return mask

    def shared(self, other: MaskWindow) -> int:
        """Return how many pixels two masks of one size have in common; ValueError where not."""
        sizes = (self.height, self.width), (other.height, other.width)
        if sizes[0] != sizes[1]:
            raise ValueError(f"masks differ in shape: {sizes[0]} and {sizes[1]}")
        left, top = max(self.left, other.left), max(self.top, other.top)
        here, there = self._from(left, top), other._from(left, top)
        rows, columns = np.minimum(here.shape, there.shape)
        return int(np.count_nonzero(here[:rows, :columns] & there[:rows, :columns]))

    def _from(self, left: int, top: int) -> np.ndarray:
        """Return the pixels of the box from a column and row of the mask on, none before it."""
        return self.pixels[top - self.top :, left - self.left :]


def window_around(mask: np.ndarray) -> MaskWindow:
    """Return the least window of a bool (H, W) mask; its pixels are a view."""
    left, top, across, down = cv2.boundingRect(np.ascontiguousarray(mask).view(np.uint8))
    height, width = mask.shape
    return MaskWindow(mask[top : top + down, left : left + across], left, top, width, height)
