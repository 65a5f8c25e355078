"""Counts from dots of alternating colours: each colour read by the dot decoder, counts summed.

ProbeGen A.3 and Appendix D name alternating colours as a way out of merged dots: two neighbours
that touch are still two components if their colours differ. Each colour has the rules of
`dots`, variant `diff_red_blob`: isolation, the gate against the input, the blob detector.

Degenerate cases as in `dots`: no marks are a valid 0, a picture of one grey level is flagged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2

from gensight.extractors import Answer, Reading
from gensight.extractors._blobs import BLOB_DEFAULTS, blob_centres, rejections
from gensight.extractors._colours import COLOUR_DEFAULTS, colour_masks
from gensight.extractors._decoders import component_count
from gensight.extractors._pair import by_place, changed_pixels, decode_pair, grey_range
from gensight.extractors._reading import COMMON_DEFAULTS, read_variants, resolve, work_size

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["diff_colour_blob"],
    "colours": [[255, 0, 0], [0, 0, 255]],
    **COMMON_DEFAULTS,
    **COLOUR_DEFAULTS,
    **BLOB_DEFAULTS,
    "flat_range": 16,
}
CHOICES = {"variants": ["diff_colour_blob"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Count the dots of all colours that the answer added (one variant, `diff_colour_blob`).

    `points` are in work-size pixels, sorted by y, then x. An input that is missing or cannot be
    read raises GensightError.
    """
    settings = resolve("coloured_dots", parameters)
    return read_variants(answer, settings, "input", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    marked, source = decode_pair(answer, work_size(answer, settings))
    changed = changed_pixels(marked, source, settings)
    points: list[dict[str, float]] = []
    facts: dict[str, float] = {"n_after_diff": 0.0}
    for place, mask in enumerate(colour_masks(marked, settings["colours"], settings), 1):
        gated = cv2.bitwise_and(mask, changed)
        found = blob_centres(gated, settings)
        points += found
        facts[f"count_colour_{place}"] = float(len(found))
        facts["n_after_diff"] += component_count(gated)
        for name, number in rejections(gated, settings).items():
            facts[name] = facts.get(name, 0.0) + number
    columns = {
        "count": len(points),
        "points": by_place(points),
        "degenerate_output": grey_range(marked) < settings["flat_range"],
        "facts": facts,
    }
    return {"diff_colour_blob": columns}
