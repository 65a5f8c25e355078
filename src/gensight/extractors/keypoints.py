"""Keypoints from pictures: one colour per named point, each decoded by the dot rules.

Protocol: ProbeGen Appendix D, the blob detector of the count decoder run once per colour; the
colour names the keypoint, the blob's centroid places it. `colours` maps each name to the RGB colour
that the prompt declares for it. Isolation and the gate against the input: `_colours` and `dots`.

Of several blobs in one colour the largest is taken (assumed); the fact `n_extra_blobs` counts the
others. A colour without a blob has no keypoint: missing is missing. Degenerate cases as in `dots`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from gensight.errors import SpecError
from gensight.extractors import Answer, Reading
from gensight.extractors._blobs import BLOB_DEFAULTS, blobs
from gensight.extractors._colours import COLOUR_DEFAULTS, colour_masks
from gensight.extractors._decoders import component_count
from gensight.extractors._pair import changed_pixels, decode_pair, grey_range
from gensight.extractors._reading import COMMON_DEFAULTS, read_variants, resolve, work_size

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["diff_colour_blob"],
    "colours": {},
    **COMMON_DEFAULTS,
    **COLOUR_DEFAULTS,
    **BLOB_DEFAULTS,
    "flat_range": 16,
}
CHOICES = {"variants": ["diff_colour_blob"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read the named points that the answer marked (one variant, `diff_colour_blob`).

    `keypoints` are {"name", "x", "y"} in work-size pixels, in the order of `colours`.

    Raises:
        SpecError: no colours are declared, or some that cannot be told apart from a picture.
        GensightError: the input is missing or cannot be read.
    """
    settings = resolve("keypoints", parameters)
    return read_variants(answer, settings, "input", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    names = list(settings["colours"])
    if not names:
        raise SpecError(
            "extractor keypoints: parameters.colours is empty; give each keypoint's name its colour"
        )
    marked, source = decode_pair(answer, work_size(answer, settings))
    changed = changed_pixels(marked, source, settings)
    masks = colour_masks(marked, [settings["colours"][name] for name in names], settings)
    keypoints, facts = [], {"n_after_diff": 0.0, "n_extra_blobs": 0.0}
    for name, mask in zip(names, masks, strict=True):
        gated = cv2.bitwise_and(mask, changed)
        facts["n_after_diff"] += component_count(gated)
        found = _by_size(gated, settings)
        facts["n_extra_blobs"] += float(len(found[1:]))
        keypoints += [{"name": name, "x": x, "y": y} for x, y in found[:1]]
    columns = {
        "keypoints": keypoints,
        "degenerate_output": grey_range(marked) < settings["flat_range"],
        "facts": facts,
    }
    return {"diff_colour_blob": columns}


def _by_size(mask: np.ndarray, settings: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return the centres of the blobs of a mask, the largest first; equals by y, then x."""
    found = [(-blob.size, blob.pt[1], blob.pt[0]) for blob in blobs(mask, settings)]
    return [(float(x), float(y)) for _, y, x in sorted(found)]
