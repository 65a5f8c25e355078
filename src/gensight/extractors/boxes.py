"""Boxes from pictures: around a painted mask, or drawn as rectangles on the input.

Protocol: ProbeGen Appendix D names both ways and prints no limits (all assumed). Variants:

- `mask_boxes`: the tight box of every component of the Otsu mask from `assumed_min_area_share` of
  the picture up, for answers painted white on black; its score is the component's share of the
  picture. Neighbours that touch are one component.
- `mask_box`: one box around all of these, for queries with one target.
- `drawn`: rectangles in the declared `colour` on the input (`_rectangles`); the score is the
  rectangularity.

Boxes have their edges in pixels of the work size, between 0 and its width or height: the left edge
of a box that begins with pixel column 3 is 3, the right edge of one that ends with it is 4. `count`
is their number, `points` are their middles, as pixel positions like all points. Boxes are listed by
falling score, then by place.

Degenerate cases: a mask without contrast and a flat picture are flagged `degenerate_output` as in
`mask` and `dots`; no boxes are a valid 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from gensight.extractors import Answer, Reading
from gensight.extractors._colours import COLOUR_DEFAULTS, colour_masks
from gensight.extractors._cut import CUT_DEFAULTS, otsu_cut
from gensight.extractors._pair import changed_pixels, decode_pair, grey_range
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    CONTRAST_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.extractors._rectangles import RECTANGLE_DEFAULTS, Box, drawn_rectangles
from gensight.images import decode_grey

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["mask_boxes"],
    "colour": [255, 0, 0],
    "assumed_min_area_share": 0.0005,
    **CUT_DEFAULTS,
    **RECTANGLE_DEFAULTS,
    **COMMON_DEFAULTS,
    **CONTRAST_DEFAULTS,
    **COLOUR_DEFAULTS,
    "flat_range": 16,
}
CHOICES = {"variants": ["mask_boxes", "mask_box", "drawn"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read boxes once per variant; `drawn` compares with the input, which must then be there.

    Raises:
        SpecError: the declared colour cannot be told from a picture.
        GensightError: the input is missing or cannot be read.
    """
    settings = resolve("boxes", parameters)
    # Transparency shows what each way of drawing has behind it.
    ways = {"black": _read_mask, "input": _read_drawn}
    readings: dict[str, Reading] = {}
    for matte, read in ways.items():
        variants = [v for v in settings["variants"] if (v == "drawn") == (matte == "input")]
        if variants:
            found = read_variants(answer, {**settings, "variants": variants}, matte, read)
            readings |= {reading.variant: reading for reading in found}
    return [readings[variant] for variant in settings["variants"]]


def _read_mask(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    size = work_size(answer, settings)
    cut = otsu_cut(decode_grey(answer.image, matte=(0, 0, 0)), size, settings)
    found, rejected = _components(cut.foreground, settings["assumed_min_area_share"])
    height, width = cut.foreground.shape
    scaled = [_scaled(box, size[0] / width, size[1] / height) for box in found]
    boxes = {"mask_boxes": scaled, "mask_box": _around(scaled)}
    facts = {"contrast": cut.spread, "n_rejected_area": float(rejected)}
    return {
        variant: _columns(boxes[variant], facts, cut.degenerate) for variant in settings["variants"]
    }


def _read_drawn(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    marked, source = decode_pair(answer, work_size(answer, settings))
    (mask,) = colour_masks(marked, [settings["colour"]], settings)
    gated = cv2.bitwise_and(mask, changed_pixels(marked, source, settings))
    found, facts = drawn_rectangles(gated, settings)
    return {"drawn": _columns(found, facts, grey_range(marked) < settings["flat_range"])}


def _components(foreground: np.ndarray, min_area_share: float) -> tuple[list[Box], int]:
    """Return the tight boxes of the large components and the number of the others."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(foreground.astype(np.uint8))
    boxes = [
        Box(left, top, left + width, top + height, area / foreground.size)
        for left, top, width, height, area in stats[1:].astype(float).tolist()
    ]
    kept = [box for box in boxes if box.score >= min_area_share]
    return kept, len(boxes) - len(kept)


def _around(boxes: list[Box]) -> list[Box]:
    """Return the tight box of several, scored by their summed share of the picture, if any."""
    if not boxes:
        return []
    lefts, tops, rights, bottoms, scores = zip(*boxes, strict=True)
    return [Box(min(lefts), min(tops), max(rights), max(bottoms), math.fsum(scores))]


def _scaled(box: Box, across: float, down: float) -> Box:
    left, top, right, bottom, score = box
    return Box(left * across, top * down, right * across, bottom * down, score)


def _columns(found: list[Box], facts: dict[str, float], degenerate: bool) -> dict[str, Any]:
    boxes = sorted(found, key=lambda box: (-box.score, box.top, box.left))
    return {
        "boxes": [box._asdict() for box in boxes],
        "count": len(boxes),
        # An edge lies between pixels, a position on the middle of one: half a pixel apart.
        "points": [
            {"x": (box.left + box.right - 1) / 2, "y": (box.top + box.bottom - 1) / 2}
            for box in boxes
        ],
        "degenerate_output": degenerate,
        "facts": facts,
    }
