"""Surface normals from pictures: the colour channels, kept as they are.

Protocol: red, green and blue code the camera-frame normal (x right, y up, z towards the viewer),
n = 2 c / 255 - 1 (c / 65535 for 16 bits), normalised by the measure. The returned size and bit
depth are kept, as PNG; transparency shows black.

Degenerate case: no channel whose p99 - p1 at work size reaches the contrast floor of masks is
flagged `degenerate_output`; the picture is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2

from gensight.extractors import Answer, Reading
from gensight.extractors._histogram import contrast
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    CONTRAST_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.images import decode_colour, encode_png

VERSION = 1

DEFAULTS: dict[str, Any] = {"variants": ["rgb"], **COMMON_DEFAULTS, **CONTRAST_DEFAULTS}
CHOICES = {"variants": ["rgb"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read the colour map of a normal picture (one variant, `rgb`)."""
    settings = resolve("normals", parameters)
    return read_variants(answer, settings, "black", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    colour = decode_colour(answer.image, matte=(0, 0, 0))
    size = work_size(answer, settings)
    spread = max(contrast(channel, size, settings) for channel in cv2.split(colour))
    columns = {
        "normals": {"bytes": encode_png(colour), "path": None},
        "degenerate_output": spread < settings["contrast_floor"],
        "facts": {"contrast": spread},
    }
    return {"rgb": columns}
