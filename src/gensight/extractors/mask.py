"""Masks from pictures: Rec. 601 grey over black, cut at one threshold per variant.

Protocol: ProbeGen 3.2, E_seg = [grey > t]. Variants: `otsu` (the paper's default), `threshold_128`,
`threshold_225`, and `kmeans` with k = 2. The paper does not say on which features k-means ran or
how it started; on grey levels the exact optimum of 2-means is Otsu's split (see
`two_class_threshold`), so `kmeans` is kept as its own row only to make that visible. Table 5 prints
different numbers for the two; `kmeans_rgb` is the reading under which they may differ, 2-means on
colours with the brighter centre as foreground (assumed, see `_two_colours`).

Degenerate case (PROTOCOLS "Decided"): when grey p99 - p1 at work size is below 16 there is nothing
to split: `otsu` and both k-means take grey > 127, and every variant is flagged `degenerate_output`.
A target below 1 % of the picture leaves p99 - p1 at 0 however well it is painted, so the range
without the last `small_target_percent` at each end must be below 16 as well.
16-bit pictures are cut in 16 bits, fixed thresholds scaled by 257; `kmeans_rgb` alone reads 8 bits.
No polarity flip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gensight.extractors import Answer, Reading
from gensight.extractors._cut import CUT_DEFAULTS, spread_of, steps_of
from gensight.extractors._histogram import histogram, two_class_threshold
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    CONTRAST_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.extractors._two_colours import LUMA, split_colours
from gensight.images import decode_colour, decode_grey, encode_mask, to_eight_bits, to_grey

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["otsu"],
    **CUT_DEFAULTS,
    **COMMON_DEFAULTS,
    **CONTRAST_DEFAULTS,
}
CHOICES = {"variants": ["otsu", "kmeans", "threshold_128", "threshold_225", "kmeans_rgb"]}

# A fixed threshold in 8-bit grey, a rule that finds one in the histogram, or None: no threshold.
VARIANTS: dict[str, int | Callable[[np.ndarray], int] | None] = {
    "otsu": two_class_threshold,
    "kmeans": two_class_threshold,
    "threshold_128": 128,
    "threshold_225": 225,
    "kmeans_rgb": None,
}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read one mask per variant, at the returned picture's size, as COCO RLE."""
    settings = resolve("mask", parameters)
    return read_variants(answer, settings, "black", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    grey, colour = _decode(answer, settings)
    counts = histogram(grey)
    spread = spread_of(grey, counts, work_size(answer, settings), settings)
    degenerate = spread < settings["contrast_floor"]
    columns: dict[str, dict[str, Any]] = {}
    by_rule: dict[Any, dict[str, Any]] = {}
    for variant in settings["variants"]:
        rule = VARIANTS[variant]
        if rule is None and not degenerate:
            columns[variant] = _two_means(colour)
            continue
        rule = two_class_threshold if rule is None else rule
        # `otsu` and `kmeans` are one rule, so it cuts once.
        if rule not in by_rule:
            by_rule[rule] = _columns(grey, counts, rule, degenerate, settings)
        columns[variant] = {**by_rule[rule], "facts": dict(by_rule[rule]["facts"])}
    for fields in columns.values():
        fields["degenerate_output"] = degenerate
        fields["facts"]["contrast"] = spread
    return columns


def _decode(answer: Answer, settings: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the grey picture and, where a variant needs them, its colours in 8 bits."""
    if all(VARIANTS[variant] is not None for variant in settings["variants"]):
        return decode_grey(answer.image, matte=(0, 0, 0)), None
    colour = decode_colour(answer.image, matte=(0, 0, 0))
    return to_grey(colour), to_eight_bits(colour)


def _two_means(rgb: np.ndarray) -> dict[str, Any]:
    found = split_colours(rgb)
    facts = {
        "bright_luma": float(found.bright @ LUMA),
        "dark_luma": float(found.dark @ LUMA),
        "foreground_share": float(found.foreground.mean()),
    }
    return {"mask": encode_mask(found.foreground), "facts": facts}


def _columns(
    grey: np.ndarray,
    counts: np.ndarray,
    rule: int | Callable[[np.ndarray], int],
    degenerate: bool,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    steps = steps_of(grey)
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
