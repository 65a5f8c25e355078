"""What is done to a picture before any encoder: a small grid is enlarged, and forms are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gensight.images import resize_picture

#: Settings of every encoder: how a grid becomes a picture that its own preprocessing may shrink.
ENLARGING = {
    # nearest, or bicubic: the same grid then looks smooth, which changes what is retrieved.
    "assumed_upscaler": "nearest",
    # A side becomes the least whole multiple of its cells that is not below this.
    "assumed_least_px": 512,
}
UPSCALERS = {"assumed_upscaler": ["nearest", "bicubic"]}


def enlarged(grid: np.ndarray, settings: Mapping[str, Any]) -> np.ndarray:
    """Return a grid of one pixel a cell as it is shown to an encoder, uint8 (kN, kM, 3) RGB.

    k is the least whole number with k max(N, M) >= `assumed_least_px`, so that every cell covers
    the same k x k pixels; a grid that is large enough comes back as it is. PixelBench does not say
    how it enlarged its grids before embedding them; nearest is what it shows them by (Figure 3).
    """
    (picture,) = checked([grid], "an enlargement")
    height, width = picture.shape[:2]
    factor = max(1, -(-int(settings["assumed_least_px"]) // max(height, width)))
    if settings["assumed_upscaler"] == "bicubic":
        return resize_picture(picture, width * factor, height * factor)
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


def checked(pictures: Sequence[np.ndarray], where: str) -> list[np.ndarray]:
    """Return pictures that are uint8 (H, W, 3) RGB of at least one pixel.

    Raises:
        ValueError: one is of another form, which libraries would read as something else; the
            message names its place.
    """
    for place, picture in enumerate(pictures):
        shape = picture.shape
        if picture.dtype != np.uint8 or len(shape) != 3 or shape[2] != 3 or 0 in shape:
            raise ValueError(
                f"{where}: picture {place} is {picture.dtype} {shape}, not uint8 (H, W, 3)"
            )
    return list(pictures)
