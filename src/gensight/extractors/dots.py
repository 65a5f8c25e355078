"""Counts from pictures: eight dot decoders, of which the three-stage one is the paper's.

Protocol: ProbeGen 3.4, A.1 and A.2 (`diff_red_blob`, the adopted row of Table 8): (i) saturated red
in two hue ranges, (ii) a gate that keeps what changed against the input, (iii) OpenCV's
SimpleBlobDetector with area, circularity and inertia limits. The seven others of Table 7 are
variants (`_decoders`). All at the work size, to which input and answer are resized plainly whatever
size came back; the input shows through transparency. Decoders without the gate can do without the
input: `blobdetector` is the one for dots on a flat canvas.

What the paper lost is a parameter named `assumed_`: hue ranges and value floor of (i), threshold
and norm of (ii) (largest channel difference), and the detector's levels, repeatability, distance,
convexity and colour (PROTOCOLS CNT-1). Areas are contour areas: a drawn disc of radius 2 falls
below the floor of 12 (CNT-3); touching dots count 0.

Degenerate cases: a picture without red marks is a valid 0. A picture of one grey level (range
below 16) is flagged `degenerate_output`; the percentile rule of masks would call a white page with
one drawing on it degenerate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gensight.extractors import Answer, Reading
from gensight.extractors._blobs import BLOB_DEFAULTS, blob_centres, rejections
from gensight.extractors._decoders import DECODER_DEFAULTS, DECODERS, GATED
from gensight.extractors._dot_grid import DotGrid
from gensight.extractors._pair import changed_pixels, decode_pair, grey_range
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.extractors._red import RED_DEFAULTS, Marks, red_pixels

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["diff_red_blob"],
    **COMMON_DEFAULTS,
    **RED_DEFAULTS,
    **BLOB_DEFAULTS,
    **DECODER_DEFAULTS,
    "flat_range": 16,
}
CHOICES = {
    "variants": [
        "red_open_cc",
        "red_wide_open_cc",
        "area_window",
        "peak_dt",
        "circularity",
        "diff_red_open_cc",
        "blobdetector",
        "diff_red_blob",
    ]
}
# What `read_grid` fills of a prediction.
GRID_COLUMNS = ("count",)

__all__ = [
    "blob_centres",
    "changed_pixels",
    "extract",
    "read_grid",
    "red_pixels",
    "rejections",
]


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Count the red dots that the answer added, once per variant; decode and mask once.

    `points` are their places in work-size pixels, sorted by y, then x. An unreadable input is the
    sample's fault, not the answer's: it raises GensightError, and so does a missing one where a
    variant compares with it.
    """
    settings = resolve("dots", parameters)
    return read_variants(answer, settings, _matte(answer, settings), _read)


def read_grid(answer: Answer, grid: Sequence[Mapping[str, Any]]) -> list[Reading]:
    """Read one answer with many parameters: of each only the count, without places and facts.

    The pictures are decoded once, every mask and its outlines are found once, so that a sweep of a
    thousand limits costs little more than one reading. Each element of `grid` names one variant;
    the counts are those of `extract`.
    """
    reader = DotGrid(answer, _marks)
    every = (resolve("dots", parameters) for parameters in grid)
    return [reader.reading(settings, _matte(answer, settings)) for settings in every]


def _matte(answer: Answer, settings: Mapping[str, Any]) -> str:
    return "white" if answer.source is None and not _compares(settings) else "input"


def _compares(settings: Mapping[str, Any]) -> bool:
    return any(variant in GATED for variant in settings["variants"])


def _marks(answer: Answer, settings: Mapping[str, Any]) -> Marks:
    size = work_size(answer, settings)
    return Marks(*decode_pair(answer, size, needs_source=_compares(settings)))


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    marks = _marks(answer, settings)
    degenerate = grey_range(marks.marked) < settings["flat_range"]
    columns = {}
    for variant in settings["variants"]:
        points, facts = DECODERS[variant](marks, settings)
        columns[variant] = {
            "count": len(points),
            "points": points,
            "degenerate_output": degenerate,
            "facts": facts,
        }
    return columns
