"""The parameters of the icons: the task, which drawings, the seed and the size of sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gensight.datasets._options import LETTERS
from gensight.digests import digest_of
from gensight.errors import SpecError

TASKS = ("text_to_pixel", "image_to_pixel", "pixel_understanding")
DRAWINGS = ("own", "emoji")
SHA256 = re.compile(r"[0-9a-f]{64}")
MIN_SIDE_PX = 64
MAX_SIDE_PX = 1024


@dataclass(frozen=True)
class IconParameters:
    """Checked parameters; `side_px` is that of source and target pictures."""

    task: str
    drawings: str
    seed: int
    options: int
    side_px: int
    font: str | None
    font_sha256: str | None

    def ranked(self, labels: tuple[str, ...]) -> list[str]:
        """Return the labels in the order of their ranks: a shuffle by the seed, for every task."""
        return sorted(labels, key=lambda label: digest_of(["icons", self.seed, label]))


def parse(parameters: Mapping[str, Any]) -> IconParameters:
    """Check the dataset block of a benchmark.

    Raises:
        SpecError: an unknown key or value; the message lists the allowed ones.
    """
    known = ("task", "drawings", "seed", "options", "assumed_crop_px", "font", "font_sha256")
    for key in parameters:
        _one_of("parameters", key, known)
    font = parameters.get("font")
    if font is not None and not isinstance(font, str):
        raise SpecError(f"icons: font: {font!r} is no path; use the path of a .ttf file, or null")
    sha256 = parameters.get("font_sha256")
    if sha256 is not None and not (isinstance(sha256, str) and SHA256.fullmatch(sha256)):
        raise SpecError(f"icons: font_sha256: {sha256!r} is not 64 digits 0-9a-f; or write null")
    side_px = parameters.get("assumed_crop_px", 256)
    return IconParameters(
        task=_one_of("task", parameters.get("task", "image_to_pixel"), TASKS),
        drawings=_one_of("drawings", parameters.get("drawings", "own"), DRAWINGS),
        seed=_whole("seed", parameters.get("seed", 0), 0, 2**63 - 1),
        options=_whole("options", parameters.get("options", 10), 2, len(LETTERS)),
        side_px=_whole("assumed_crop_px", side_px, MIN_SIDE_PX, MAX_SIDE_PX),
        font=font,
        font_sha256=sha256,
    )


def _one_of(key: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise SpecError(f"icons: {key}: {value!r} is not allowed; use {', '.join(allowed)}")
    return str(value)


def _whole(key: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SpecError(f"icons: {key}: {value!r} is not allowed; use a whole number {low}..{high}")
    return value
