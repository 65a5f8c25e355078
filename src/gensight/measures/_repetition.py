"""How strongly a picture repeats a pattern of its own: a peak of its autocorrelation.

Autocorrelation at a shift is the correlation of a window's colours with those that the shift brings
there, over what overlaps. It is 1 where the window tiles itself. Two things that are no repetition
correlate as well: colour that changes slowly, at short shifts, and a straight edge, at all shifts
along it. In both the correlation never falls on the way from no shift to this one, so a peak is as
high as it stands above the lowest point of that way (and no higher than above 0).

Shifts reach a third of the window: a pattern has to come three times. A pair of eyes is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

LEAST_COPIES = 3
LEAST_SHIFT_CELLS = 2
# Overlaps that hold less of the window's contrast than this say nothing.
LEAST_ENERGY_SHARE = 1e-3


def repetition(picture: np.ndarray, codes: np.ndarray, window_detail: float) -> float:
    """Return the highest peak among windows of a picture, 0 to 1.

    `picture` is uint8 (N, N, 3), `codes` (N, N) one number a colour. Windows are the whole, its
    halves, its quarters and its middle quarter, each taken where it holds at least the share
    `window_detail` of all changes of colour between neighbours: a repeated texture beside an empty
    sky counts, a small one beside a drawing does not. 0 without any change, and where a window is
    too small to hold three copies.
    """
    changes = _changes(codes)
    if not changes:
        return 0.0
    held = (
        window
        for window in _windows(len(codes))
        if _changes(codes[window]) / changes >= window_detail
    )
    return max((peak(picture[window]) for window in held), default=0.0)


def peak(window: np.ndarray) -> float:
    """Return the highest peak of a window's autocorrelation, uint8 (H, W, 3); 0 to 1.

    >>> stripes = np.tile(np.array([[[0] * 3, [0] * 3, [255] * 3]], np.uint8), (12, 4, 1))
    >>> round(peak(stripes), 9)
    1.0
    """
    found = autocorrelation(window)
    down, right = _far_shifts(*(side // LEAST_COPIES for side in window.shape[:2]))
    heights = found[down, right]
    highest = 0.0
    # A peak is no higher than its correlation, so the rest are lower once that is.
    for place in np.argsort(-heights, kind="stable").tolist():
        if heights[place] <= highest:
            break
        lowest = max(0.0, _lowest_before(found, int(down[place]), int(right[place])))
        highest = max(highest, float(heights[place]) - lowest)
    return min(1.0, highest)


def autocorrelation(window: np.ndarray) -> np.ndarray:
    """Return the correlation at every shift, float64 (2 H, 2 W), at [down, right].

    Negative shifts stand at the far end, as negative indices find them. The window's mean colour is
    taken off first; 0 where what overlaps has next to no contrast.
    """
    centred = window.astype(np.float64)
    centred -= centred.mean(axis=(0, 1))
    shape = tuple(2 * side for side in window.shape[:2])
    energy = _spectrum((centred * centred).sum(axis=2), shape)
    ones = _spectrum(np.ones(window.shape[:2]), shape)
    spectra = [_spectrum(centred[:, :, channel], shape) for channel in range(3)]
    product = _shifts(sum(spectrum.conj() * spectrum for spectrum in spectra), shape)
    first, second = _shifts(energy.conj() * ones, shape), _shifts(ones.conj() * energy, shape)
    least = LEAST_ENERGY_SHARE * first[0, 0]
    told = (first > least) & (second > least)
    below = np.sqrt(np.where(told, first * second, 1.0))
    return np.where(told, product / below, 0.0)


def _far_shifts(most_down: int, most_right: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every shift, down and right, that is far enough; of two opposite ones, one."""
    down, right = np.mgrid[0 : most_down + 1, -most_right : most_right + 1]
    far = np.maximum(down, abs(right)) >= LEAST_SHIFT_CELLS
    kept = far & ((down > 0) | (right > 0))
    return down[kept], right[kept]


def _lowest_before(found: np.ndarray, down: int, right: int) -> float:
    """Return the lowest correlation on the straight way from no shift to this one."""
    steps = max(down, abs(right))
    way = np.arange(1, steps) / steps
    return float(found[_whole(way * down), _whole(way * right)].min())


def _whole(numbers: np.ndarray) -> np.ndarray:
    return np.floor(numbers + 0.5).astype(np.intp)


def _spectrum(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.fft.rfft2(values, shape)


def _shifts(spectrum: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.fft.irfft2(spectrum, shape)


def _windows(size: int) -> Iterator[tuple[slice, slice]]:
    half, quarter = size // 2, size // 4
    whole = slice(0, size)
    ends = slice(0, half), slice(size - half, size)
    yield whole, whole
    for rows in ends:
        yield rows, whole
        yield whole, rows
        for columns in ends:
            yield rows, columns
    middle = slice(quarter, quarter + half)
    yield middle, middle


def _changes(codes: np.ndarray) -> int:
    down, right = codes[1:] != codes[:-1], codes[:, 1:] != codes[:, :-1]
    return int(np.count_nonzero(down)) + int(np.count_nonzero(right))
