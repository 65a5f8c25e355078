"""Masks from tinted pictures: how far each pixel went from the input towards the declared colour.

ProbeGen Appendix D, segmentation by a coloured overlay instead of a mask. A tint of opacity a turns
the input pixel x into (1 - a) x + a c, so a is read back as the share of the way from x to the
colour c that the answer went: the residual projected on c - x. That map of 0 to 1 is cut by Otsu's
threshold like the grey of a mask, at the returned size, to which the input is resized.

Where the input has nearly the declared colour already a tint cannot be seen: below
`assumed_min_distance` levels from it the share shrinks towards 0, so a red object under a red tint
is lost. Degenerate case: a tint map whose contrast is below that of masks has no threshold; the
mask is a > 1/2, flagged `degenerate_output` (an untouched copy of the input gives an empty mask).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from gensight.extractors import Answer, Reading
from gensight.extractors._colours import check_colour
from gensight.extractors._cut import CUT_DEFAULTS, otsu_cut
from gensight.extractors._pair import decode_pair
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    CONTRAST_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.images import encode_mask

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["diff_tint_otsu"],
    "colour": [255, 0, 0],
    "assumed_min_distance": 60,
    **CUT_DEFAULTS,
    **COMMON_DEFAULTS,
    **CONTRAST_DEFAULTS,
}
CHOICES = {"variants": ["diff_tint_otsu"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read the tinted region as a mask at the returned size (one variant, `diff_tint_otsu`).

    An input that is missing or cannot be read raises GensightError.
    """
    settings = resolve("overlay", parameters)
    return read_variants(answer, settings, "input", _read)


def tint_opacity(
    marked: np.ndarray, source: np.ndarray, colour: Sequence[int], min_distance: float
) -> np.ndarray:
    """Return how far each pixel went from the input to a colour, uint8 (H, W), 255 all the way.

    Both pictures are uint8 RGB (H, W, 3); a pixel that went another way, or back, has 0.
    """
    length, gone = (np.zeros(source.shape[:2], np.float32) for _ in range(2))
    # Channel by channel: a large picture in floats is several times its own size.
    for after, before, level in zip(cv2.split(marked), cv2.split(source), colour, strict=True):
        start = before.astype(np.float32)
        way = np.float32(level) - start
        length += way * way
        gone += (after - start) * way
    gone /= np.maximum(length, np.float32(min_distance) ** 2)
    return np.floor(np.clip(gone, 0, 1) * 255 + 0.5).astype(np.uint8)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    check_colour(settings["colour"])
    marked, source = decode_pair(answer, None)
    opacity = tint_opacity(marked, source, settings["colour"], settings["assumed_min_distance"])
    cut = otsu_cut(opacity, work_size(answer, settings), settings)
    tinted = opacity[cut.foreground]
    columns = {
        "mask": encode_mask(cut.foreground),
        "degenerate_output": cut.degenerate,
        "facts": {
            "contrast": cut.spread,
            "foreground_share": float(cut.foreground.mean()),
            "mean_opacity": float(tinted.mean() / 255) if tinted.size else 0.0,
        },
    }
    return {"diff_tint_otsu": columns}
