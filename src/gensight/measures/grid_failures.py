"""How a grid fails, from the grid alone: collapsed, repetitive, without a subject, or flat.

Protocol: PixelBench names three failures of high resolutions (a coarser grid than was asked for,
details that repeat mechanically, a subject that vanishes), beside flat ones, and gives no rule for
the three. The rules are ours (R-PB-37), their thresholds settings with `assumed` in the name:

- collapse factor: the largest k up to N / 2 such that the grid is made of k x k blocks. That is so
  where at most `assumed_off_lattice_share` of the changes of colour between neighbouring cells lie
  off one lattice of lines k apart, which may begin anywhere. Changes, not cells, are counted, so
  that an empty background makes no block. Of a drawing at full resolution about 1 / k lie on it.
  Collapsed from `assumed_least_factor`.
- repetition: the peak of the colours' autocorrelation (`gensight.measures._repetition`) in a window
  with at least `assumed_window_detail` of all changes. Repeated from `assumed_least_repetition`.
- foreground share: the cells that differ from the border's most frequent colour by more than
  `assumed_background_distance` in CIELAB. The subject is missing below `assumed_least_foreground`.
- flat: one colour. Such a grid has no subject either, and nothing that could be blocks or repeat:
  no collapse factor and no repetition, collapsed and repeated 0.

They say how a grid looks, not whether that is wrong: a drawing of few straight lines is made of
blocks, and a fence, a keyboard or a chessboard does repeat. So no model is ranked by them; compare
with what they find in the baselines' grids of the same sources. An answer without a grid has no
looks, only the part `grid` of 0: the shares are of grids, beside `valid_grid_share`. No truth is
needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.measures import Parts, PartsByFit, complete
from gensight.measures._grids import grid_of
from gensight.measures._repetition import repetition
from gensight.pixels.lab import lab_of
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, Sample

VERSION = 1
# Printed under every table that shows numbers of this measure.
NOTE = "grid failures by rules of our own: synthetic validation only"
FAILURE_POLICIES = ("left_out",)
DEFAULTS: dict[str, Any] = {
    "failure": "left_out",
    "assumed_off_lattice_share": 0.15,
    "assumed_least_factor": 2,
    "assumed_window_detail": 0.5,
    "assumed_least_repetition": 0.75,
    "assumed_background_distance": 2.3,
    "assumed_least_foreground": 0.02,
}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Return what the rules find in a grid.

    Parts: grid (1), collapsed, repeated, missing_subject, flat (0 or 1), foreground_share (0 to 1)
    and, of a grid of several colours, collapse_factor (from 1) and repetition (0 to 1).
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: {"grid": 1.0, **looks_of(grid_of(prediction, sample), checked)}}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Return grid (0) alone: an answer without one does not look like anything."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: {"grid": 0.0}}


def looks_of(grid: PaletteGrid, settings: Mapping[str, Any]) -> Parts:
    """Return what the rules find in a grid, as parts, under complete settings."""
    codes = colour_codes(grid)
    share = foreground_share(grid, settings["assumed_background_distance"])
    parts = {
        "collapsed": 0.0,
        "repeated": 0.0,
        "missing_subject": float(share < settings["assumed_least_foreground"]),
        "flat": float(codes.min() == codes.max()),
        "foreground_share": share,
    }
    if parts["flat"]:
        return parts
    factor = collapse_factor(codes, settings["assumed_off_lattice_share"])
    repeats = repetition(grid.picture(), codes, settings["assumed_window_detail"])
    return parts | {
        "collapse_factor": float(factor),
        "collapsed": float(factor >= settings["assumed_least_factor"]),
        "repetition": repeats,
        "repeated": float(repeats >= settings["assumed_least_repetition"]),
    }


def colour_codes(grid: PaletteGrid) -> np.ndarray:
    """Return one number a colour, int64 (N, N), the same for equal entries of the palette."""
    return grid.picture().astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])


def collapse_factor(codes: np.ndarray, off_lattice_share: float) -> int:
    """Return the side, in cells, of the largest blocks that a grid of codes (N, N) is made of.

    1 where it is made of none, and where there is no change of colour at all.

    >>> collapse_factor(np.kron(np.eye(4, dtype=int), np.ones((3, 3), int)), 0.0)
    3
    """
    down = np.count_nonzero(codes[1:] != codes[:-1], axis=1)
    right = np.count_nonzero(codes[:, 1:] != codes[:, :-1], axis=0)
    changes = int(down.sum() + right.sum())
    for side in range(len(codes) // 2, 1, -1):
        on_lattice = _most_on_lattice(down, side) + _most_on_lattice(right, side)
        if changes and changes - on_lattice <= off_lattice_share * changes:
            return side
    return 1


def foreground_share(grid: PaletteGrid, background_distance: float) -> float:
    """Return the share of cells that differ from the colour that most cells of the border have.

    Of colours that are equally frequent there, the one of the smallest number (red first).
    """
    codes = colour_codes(grid)
    border = np.concatenate([codes[0], codes[-1], codes[1:-1, 0], codes[1:-1, -1]])
    values, counts = np.unique(border, return_counts=True)
    most = int(values[counts.argmax()])
    background = np.array([most >> 16, most >> 8 & 255, most & 255], np.uint8)
    palette = np.array(grid.palette, np.uint8)
    distance = np.linalg.norm(lab_of(palette) - lab_of(background[None]), axis=1)
    return float((distance > background_distance)[grid.cells].mean())


def _most_on_lattice(changes: np.ndarray, side: int) -> int:
    """Return how many changes lie on the best of all lattices of lines `side` apart."""
    rows = np.pad(changes, (0, -len(changes) % side)).reshape(-1, side)
    return int(rows.sum(axis=0).max())
