"""Overlap of a predicted mask and the target: the statistics of gIoU and cIoU.

Protocol. ProbeGen 4.1 reports gIoU (mean of per-sample IoU) and cIoU (summed intersections over
summed unions); PROTOCOLS 1.2. The predicted mask goes from the returned size to the grid of the
target by a plain resize, and also, straight from the returned size, to the work size (long side
1024), where cIoU is not owned by a few large files. Pixels of `ignore_mask` take no part.

Empty masks (LISA's rule, PROTOCOLS SEG-1): target there and prediction empty, IoU 0; target empty
and prediction there, IoU 0 and its pixels enter the union; both empty, IoU 1 and nothing is added
to cIoU. A failed answer has IoU 0, and the target's area enters the union.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.measures import Parts, PartsByFit, complete, required
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("zero",)
DEFAULTS: dict[str, Any] = {"failure": "zero", "eval_at": "target", "long_side_px": 1024}
GRIDS = ("target", "work")
# The variants of one answer share its truth, and binarisers that agree share their mask: what is
# placed and counted for one row serves the next.
MASKS_KEPT = 8

Size = tuple[int, int]
# The counts of a run-length code, and its height and width.
Code = tuple[str, Size]


class Areas(NamedTuple):
    """Pixel counts of a predicted and a target mask on one grid, ignored pixels left out."""

    intersection: int
    target: int
    predicted: int
    pixels: int

    @property
    def union(self) -> int:
        """Pixels in either mask."""
        return self.target + self.predicted - self.intersection

    @property
    def iou(self) -> float:
        """Intersection over union; 1 when both masks are empty."""
        return self.intersection / self.union if self.union else 1.0

    @property
    def inverted(self) -> Areas:
        """The same counts for the complement of the prediction."""
        missed, outside = self.target - self.intersection, self.pixels - self.predicted
        return Areas(missed, self.target, outside, self.pixels)


def areas(predicted: np.ndarray, target: np.ndarray, ignored: np.ndarray | None = None) -> Areas:
    """Count the pixels of two bool (H, W) masks, without those of a third.

    >>> row = np.array([[True, True, False, False]])
    >>> areas(row, np.roll(row, 1)).iou == 1 / 3
    True
    """
    if predicted.shape != target.shape:
        raise ValueError(f"masks differ in shape: {predicted.shape} and {target.shape}")
    pixels = target.size
    if ignored is not None:
        predicted, target = predicted & ~ignored, target & ~ignored
        pixels -= int(np.count_nonzero(ignored))
    return Areas(
        int(np.count_nonzero(predicted & target)),
        int(np.count_nonzero(target)),
        int(np.count_nonzero(predicted)),
        pixels,
    )


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare the predicted mask with the target; None without one, or with all of it ignored.

    Parts, in pixels: intersection, union, area_target, area_predicted on the grid `eval_at`, and
    intersection and union on the other grid, its name as suffix. Shares: iou, iou_complement (of
    the inverted prediction) and, where the sample has another query's target, iou_twin.
    """
    mask = required(prediction.mask, sample.sample_id, "mask", "mask")
    return _measure(_code(mask), sample, complete(settings, DEFAULTS, FAILURE_POLICIES))


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Give a failed answer IoU 0, also on an empty target, with the target's area in the union."""
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    nothing = images.encode_mask(np.zeros((1, 1), np.bool_))
    by_fit = _measure(_code(nothing), sample, checked)
    if by_fit is None:
        return None
    # An empty mask has the right areas; what it says of the picture itself is not this answer's.
    undefined = ("iou_complement", "area_predicted")
    parts = {name: value for name, value in by_fit[None].items() if name not in undefined}
    zero = {name: 0.0 for name in ("iou", "iou_twin") if name in parts}
    return {None: parts | zero}


def _measure(predicted: Code, sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    if sample.target_mask is None:
        return None
    grid, other = _grids(settings["eval_at"])
    height, width = sample.target_mask["size"]
    work = images.fit_long_side(sample.width, sample.height, settings["long_side_px"])
    sizes = {"target": (width, height), "work": work}
    target = _code(sample.target_mask)
    ignored = None if sample.ignore_mask is None else _code(sample.ignore_mask)
    here = _counted(predicted, target, ignored, sizes[grid])
    if here.pixels == 0:
        return None
    parts: Parts = {
        **_pooled(here),
        "iou": here.iou,
        "iou_complement": here.inverted.iou,
        "area_target": float(here.target),
        "area_predicted": float(here.predicted),
    }
    if sample.twin_mask is not None:
        twin = _code(sample.twin_mask)
        parts["iou_twin"] = _counted(predicted, twin, ignored, sizes[grid]).iou
    there = here
    if sizes[grid] != sizes[other]:
        there = _counted(predicted, target, ignored, sizes[other])
    return {None: parts | _pooled(there, f"_{other}")}


def _code(rle: Mapping[str, Any]) -> Code:
    height, width = rle["size"]
    return rle["counts"], (height, width)


@lru_cache(maxsize=MASKS_KEPT)
def _decoded(code: Code) -> images.MaskWindow:
    counts, size = code
    return images.decode_window({"size": size, "counts": counts})


@lru_cache(maxsize=MASKS_KEPT)
def _placed(code: Code, grid: Size) -> images.MaskWindow:
    """Return a mask on a grid (width, height)."""
    return images.resize_window(_decoded(code), *grid)


@lru_cache(maxsize=MASKS_KEPT)
def _counted(predicted: Code, target: Code, ignored: Code | None, grid: Size) -> Areas:
    """Count the pixels of a prediction and a truth on a grid (width, height)."""
    answer, truth = _placed(predicted, grid), _placed(target, grid)
    if ignored is not None:
        return areas(answer.whole(), truth.whole(), _placed(ignored, grid).whole())
    return Areas(answer.shared(truth), truth.area, answer.area, truth.width * truth.height)


def _grids(eval_at: str) -> tuple[str, str]:
    if eval_at not in GRIDS:
        raise SpecError(f"settings.eval_at: '{eval_at}' is not known; allowed: {', '.join(GRIDS)}")
    return eval_at, GRIDS[1 - GRIDS.index(eval_at)]


def _pooled(counted: Areas, suffix: str = "") -> Parts:
    return {
        f"intersection{suffix}": float(counted.intersection),
        f"union{suffix}": float(counted.union),
    }
