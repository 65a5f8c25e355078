"""Relative depth from pictures: the Rec. 601 grey map, untouched by any fit.

Protocol: ProbeGen 3.3, d = grey(y). Which map leads from grey to metres (Eq. 3 and the other fits
of PROTOCOLS 1.1) needs the truth, so it belongs to the measure. Grey keeps the returned size and
bit depth (8 or 16) and is stored as PNG; transparency shows black.

Degenerate case: grey p99 - p1 at work size below 16 (the contrast rule of masks) is flagged
`degenerate_output`; the map is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.extractors import Answer, Reading
from gensight.extractors._histogram import contrast
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    CONTRAST_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.images import decode_grey, encode_png

VERSION = 1

DEFAULTS: dict[str, Any] = {"variants": ["grey"], **COMMON_DEFAULTS, **CONTRAST_DEFAULTS}
CHOICES = {"variants": ["grey"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read the grey map of a depth picture (one variant, `grey`)."""
    settings = resolve("depth", parameters)
    return read_variants(answer, settings, "black", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    grey = decode_grey(answer.image, matte=(0, 0, 0))
    spread = contrast(grey, work_size(answer, settings), settings)
    columns = {
        "grey": {"bytes": encode_png(grey), "path": None},
        "degenerate_output": spread < settings["contrast_floor"],
        "facts": {"contrast": spread},
    }
    return {"grey": columns}
