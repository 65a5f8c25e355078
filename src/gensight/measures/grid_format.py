"""Whether an answer is a palette grid at all, and whether that grid shows more than one colour.

Protocol: PixelBench, "Image-to-Pixel metrics". Valid is a well-formed answer with valid palette
references and the asked size, which is what the extractor `palette_grid` decides; flat is a valid
grid that comes out in a single colour, whatever its palette lists. Both are shares of all answers,
so a failed answer is neither, and no truth is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.measures import PartsByFit, complete
from gensight.measures._grids import grid_of
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("invalid",)
DEFAULTS: dict[str, Any] = {"failure": "invalid"}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return valid, which is 1, and flat (0 or 1) of a grid that was read."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    colours = len(grid_of(prediction, sample).used_colours)
    return {None: {"valid": 1.0, "flat": float(colours == 1)}}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Count an answer without a grid as neither valid nor flat."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: {"valid": 0.0, "flat": 0.0}}
