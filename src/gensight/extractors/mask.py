"""Masks from pictures: Rec. 601 grey over black, cut at one threshold per variant.

Protocol: ProbeGen 3.2, E_seg = [grey > t]. Variants: `otsu` (the paper's default), `threshold_128`,
`threshold_225`, and `kmeans` with k = 2. The paper does not say on which features k-means ran or
how it started; on grey levels the exact optimum of 2-means is Otsu's split (see
`two_class_threshold`), so `kmeans` is kept as its own row only to make that visible.

Degenerate case (PROTOCOLS "Decided"): when grey p99 - p1 at work size is below 16 there is nothing
to split: `otsu` and `kmeans` take grey > 127, and every variant is flagged `degenerate_output`. A
target below 1 % of the picture leaves p99 - p1 at 0 however well it is painted, so the range
without the last `small_target_percent` at each end must be below 16 as well.
16-bit pictures are cut in 16 bits, fixed thresholds scaled by 257. No polarity flip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gensight.extractors import Answer, Reading
from gensight.extractors._histogram import (
    contrast_of,
    histogram,
    range_of,
    shrunk,
    two_class_threshold,
)
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    CONTRAST_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.images import decode_grey, encode_mask

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["otsu"],
    "flat_threshold": 127,
    "small_target_percent": 0.05,
    **COMMON_DEFAULTS,
    **CONTRAST_DEFAULTS,
}
CHOICES = {"variants": ["otsu", "kmeans", "threshold_128", "threshold_225"]}

# A fixed threshold in 8-bit grey, or a rule that finds one in the histogram.
VARIANTS: dict[str, int | Callable[[np.ndarray], int]] = {
    "otsu": two_class_threshold,
    "kmeans": two_class_threshold,
    "threshold_128": 128,
    "threshold_225": 225,
}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read one mask per variant, at the returned picture's size, as COCO RLE."""
    settings = resolve("mask", parameters)
    return read_variants(answer, settings, "black", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    grey = decode_grey(answer.image, matte=(0, 0, 0))
    counts = histogram(grey)
    size = work_size(answer, settings)
    is_small = grey.shape[0] <= size[1] and grey.shape[1] <= size[0]
    at_work_size = counts if is_small else histogram(shrunk(grey, size))
    spread = contrast_of(at_work_size, settings)
    if spread < settings["contrast_floor"]:
        tail = settings["small_target_percent"]
        spread = range_of(at_work_size, tail, 100 - tail)
    degenerate = spread < settings["contrast_floor"]
    columns = {
        variant: _columns(grey, counts, VARIANTS[variant], degenerate, settings)
        for variant in settings["variants"]
    }
    for fields in columns.values():
        fields["degenerate_output"] = degenerate
        fields["facts"]["contrast"] = spread
    return columns


def _columns(
    grey: np.ndarray,
    counts: np.ndarray,
    rule: int | Callable[[np.ndarray], int],
    degenerate: bool,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    steps = 257 if grey.dtype == np.uint16 else 1
    if not callable(rule):
        threshold = rule * steps
    elif degenerate:
        threshold = settings["flat_threshold"] * steps
    else:
        threshold = rule(counts)
    facts = {
        "threshold": threshold / steps,
        "foreground_share": float(counts[threshold + 1 :].sum() / grey.size),
    }
    return {"mask": encode_mask(grey > threshold), "facts": facts}
