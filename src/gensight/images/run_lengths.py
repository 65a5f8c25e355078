"""COCO's run-length code of masks, written and read with NumPy.

Runs count down the columns and start with a run of zeros. Packed, each run is written five bits a
character, lowest first, above an offset of 48; bit 32 says that more follow and bit 16 of the last
is the sign; the fourth run and later ones are written as differences to the run before the last.

pycocotools is the reference (a test compares both): its decoder is eight times slower on masks of
few runs, and relies on a conversion that NumPy 2 has deprecated.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from gensight.errors import ImageError
from gensight.images.windows import MaskWindow, window_around

# Characters of one run: 7 hold 35 bits, more than any picture has pixels.
LONGEST_RUN = 7
OFFSET, MORE, SIGN, BITS = 48, 32, 16, 31
# The least sizes that need 2, 3, ... characters.
LIMITS = SIGN << 5 * np.arange(LONGEST_RUN - 1)


def runs_of(mask: np.ndarray) -> np.ndarray:
    """Return the int64 runs of a bool (H, W) mask."""
    height, width = mask.shape
    # Edges are found along the rows, as the mask lies in memory, and sorted down the columns.
    above, column = np.divmod(np.flatnonzero(mask[1:] != mask[:-1]), width)
    # Runs go on from the foot of a column to the head of the next.
    tops = np.flatnonzero(mask[0, 1:] != mask[-1, :-1]) + 1
    start = [0, 0] if mask[0, 0] else [0]
    edges = (start, column * height + above + 1, tops * height, [mask.size])
    edges = np.sort(np.concatenate(edges))
    return edges[1:] - edges[:-1]


def mask_of(runs: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the bool (H, W) mask of runs; ImageError where they do not fill it."""
    _check_sum(runs, height, width)
    values = np.zeros(len(runs), np.uint8)
    values[1::2] = 1
    columns = np.repeat(values, runs).reshape(width, height)
    return cv2.transpose(columns).view(np.bool_)


def window_of(runs: np.ndarray, height: int, width: int) -> MaskWindow:
    """Return the least window of the mask of runs; ImageError where they do not fill it."""
    _check_sum(runs, height, width)
    # Columns before the first and after the last run of foreground are not written at all.
    behind = int(runs[-1]) // height if len(runs) % 2 else 0
    left, right = int(runs[0]) // height, width - behind
    if left >= right:
        return MaskWindow(np.zeros((0, 0), np.bool_), 0, 0, width, height)
    written = runs.copy()
    written[0] -= left * height
    written[-1] -= behind * height
    found = window_around(mask_of(written, height, right - left))
    return replace(found, left=left + found.left, width=width)


def _check_sum(runs: np.ndarray, height: int, width: int) -> None:
    if runs.sum() != height * width or runs.min(initial=0) < 0:
        raise ImageError(f"the runs of a mask sum to {runs.sum()}, not to {height}x{width}")


def packed(runs: np.ndarray) -> str:
    """Return the characters of runs."""
    steps = runs.copy()
    steps[3:] -= runs[1:-2]
    lengths = np.searchsorted(LIMITS, np.where(steps < 0, ~steps, steps), side="right") + 1
    characters = np.repeat(steps, lengths) >> 5 * _places(lengths) & BITS
    characters += OFFSET + MORE
    characters[np.cumsum(lengths) - 1] -= MORE
    return characters.astype(np.uint8).tobytes().decode("ascii")


def unpacked(counts: str | bytes) -> np.ndarray:
    """Return the int64 runs of packed counts; ImageError where they are not COCO's."""
    text = counts.encode("ascii", "replace") if isinstance(counts, str) else counts
    characters = np.frombuffer(text, np.uint8).astype(np.int64) - OFFSET
    ends = np.flatnonzero((characters & MORE) == 0)
    lengths = np.diff(ends, prepend=-1)
    is_whole = len(ends) > 0 and ends[-1] == len(characters) - 1
    if not is_whole or lengths.max() > LONGEST_RUN or (characters & ~(MORE | BITS)).any():
        raise ImageError(f"not the counts of a COCO mask: {text[:20]!r}")
    runs = np.add.reduceat((characters & BITS) << 5 * _places(lengths), ends - lengths + 1)
    runs -= np.where(characters[ends] & SIGN, 1 << 5 * lengths, 0)
    runs[1::2] = np.cumsum(runs[1::2])
    runs[2::2] = np.cumsum(runs[2::2])
    return runs


def _places(lengths: np.ndarray) -> np.ndarray:
    """Return 0, 1, ... for the characters of each run, one run after another."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
