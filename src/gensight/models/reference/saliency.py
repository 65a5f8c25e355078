"""The salient floor: sees that something stands out, understands nothing of the query.

A simple saliency of our own: the Lab distance of every pixel to the mean colour of the picture's
border, blurred, cut by Otsu; the largest component is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from gensight import images
from gensight.models import Reply, Turn
from gensight.models.reference import canvas, painted
from gensight.models.reference.floors import require_form

if TYPE_CHECKING:
    from gensight.records import Sample

# Small, so that fine texture is averaged out; border and blur are shares of the long side. All
# three are chosen by eye.
LONG_SIDE_PX = 256
BORDER_SHARE = 0.05
BLUR_SHARE = 0.01
# Below this Lab distance nothing stands out: about twice a just noticeable difference.
LEAST_CONTRAST = 5.0


class Salient:
    """Paints the part of the picture that differs most from its border."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the mask in the declared colours, or as a tint, at the work size."""
        require_form("salient", turn, ("mask", "overlay"))
        picture = canvas.work_picture(turn)
        height, width = picture.shape[:2]
        small = images.resize_picture(picture, *images.fit_long_side(width, height, LONG_SIDE_PX))
        mask = images.resize_mask(salient_mask(small), width, height)
        return painted.mask_reply(mask, turn)


def salient_mask(picture: np.ndarray) -> np.ndarray:
    """Return the most salient component of an RGB picture: bool (H, W).

    A picture in which nothing stands out (uniform) has an empty mask.
    """
    contrast = contrast_map(picture)
    peak = float(contrast.max())
    if peak < LEAST_CONTRAST:
        return np.zeros(contrast.shape, dtype=bool)
    scaled = np.floor(contrast / peak * 255.0 + 0.5).astype(np.uint8)
    _, binary = cv2.threshold(scaled, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    _, labels, facts, _ = cv2.connectedComponentsWithStats(binary, connectivity=8)
    return labels == 1 + int(np.argmax(facts[1:, cv2.CC_STAT_AREA]))


def contrast_map(picture: np.ndarray) -> np.ndarray:
    """Return the blurred Lab distance to the mean border colour: float32 (H, W)."""
    lab = cv2.cvtColor(picture.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB)
    height, width = lab.shape[:2]
    ring = max(1, round(BORDER_SHARE * max(height, width)))
    inner = np.zeros((height, width), dtype=bool)
    inner[ring:-ring, ring:-ring] = True
    border = lab[~inner].mean(axis=0, dtype=np.float64).astype(np.float32)
    distance = np.linalg.norm(lab - border, axis=2)
    sigma_px = BLUR_SHARE * max(height, width)
    return cv2.GaussianBlur(distance, (0, 0), sigma_px, borderType=cv2.BORDER_REPLICATE)
