"""Functions for lmms-eval tasks: `process_results` of masks and counts, and their aggregations.

lmms-eval calls `process_results(doc, results)` for each document and hands the values of one key to
that metric's aggregation. Here each key holds the sample's item (see `_scored`). Keys whose metric
is a mean of samples also have `score`, from which lmms-eval computes standard errors; cIoU and RMSE
are none, so their items have no such key.

A model that makes pictures returns JSON whose `images` are paths, of which the first is read. What
cannot be read is a failed answer, scored by gensight's policies and in every number. lmms-eval does
not tell a request that failed from an empty reply: both come as empty text.

A picture that is named and not there is nobody's failure: until it is back its metrics are NaN, and
so is the metric of a task without any usable truth. Documents without truth are in no number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gensight import images
from gensight.extractors import Answer
from gensight.integrations import _scored
from gensight.integrations._pictures import LostPictureError, from_file, true_mask
from gensight.integrations._scored import COUNTING, SEGMENTATION, Item, Scored, Task

#: The only key of an item whose picture is not there.
LOST = "lost"
#: Metrics that are means of their samples' values.
MEANS = ("giou", "mae", "coverage")


def segmentation(
    doc: Mapping[str, Any],
    results: Sequence[str],
    column: str = "target_mask",
    variant: str = "otsu",
) -> dict[str, Item]:
    """Return the items `giou`, `ciou` and `coverage` of a document whose `column` is a mask.

    The mask is a path, a PIL picture or an array of two levels, or COCO RLE.
    """
    mask = true_mask(doc[column])
    height, width = mask.shape
    sample = _scored.truth(width, height, target_mask=images.encode_mask(mask))

    def _read(reply: str) -> Scored:
        answer = Answer(image=_picture(reply), source_width=width, source_height=height)
        return _scored.scored(SEGMENTATION, answer, sample, variant=variant)

    return _items(SEGMENTATION, _read, results)


def counting(
    doc: Mapping[str, Any],
    results: Sequence[str],
    column: str = "target_count",
    failure_constant: float | None = None,
) -> dict[str, Item]:
    """Return the items `mae`, `rmse` and `coverage` of a document whose `column` is a count.

    Replies are read strictly: the whole reply is one whole number. A failed one fares as badly as
    silence or as `failure_constant` (the median count of other samples; default 5).
    """
    sample = _scored.truth(1, 1, target_count=None if doc[column] is None else int(doc[column]))
    settings = {"failure_constant": failure_constant}

    def _read(reply: str) -> Scored:
        answer = Answer(text=reply, source_width=1, source_height=1)
        return _scored.scored(COUNTING, answer, sample, settings)

    return _items(COUNTING, _read, results)


def giou(items: Sequence[Item]) -> float:
    """Return gIoU in percent."""
    return _aggregate("giou", items)


def ciou(items: Sequence[Item]) -> float:
    """Return cIoU in percent."""
    return _aggregate("ciou", items)


def mae(items: Sequence[Item]) -> float:
    """Return the mean absolute error of the counts."""
    return _aggregate("mae", items)


def rmse(items: Sequence[Item]) -> float:
    """Return the root mean squared error of the counts."""
    return _aggregate("rmse", items)


def coverage(items: Sequence[Item]) -> float:
    """Return the share of answers in the asked format, in percent."""
    return _aggregate("coverage", items)


def _items(task: Task, read: Callable[[str], Scored], replies: Sequence[str]) -> dict[str, Item]:
    """Return the item of each metric; several replies to one request count as their mean."""
    names = (*task.metrics, "coverage")
    try:
        found = [read(reply).item for reply in replies or [""]]
    except LostPictureError:
        return {name: {LOST: 1.0} for name in names}
    if None in found:
        return {name: {} for name in names}
    item = _scored.mean_item(found)
    scores = {name: {"score": _scored.aggregate(name, [item])} for name in names if name in MEANS}
    return {name: item | scores.get(name, {}) for name in names}


def _picture(reply: str) -> bytes | None:
    """Return the first picture that a reply names, None if it names none."""
    try:
        named = json.loads(reply)["images"][0]
    except (ValueError, TypeError, LookupError):
        return None
    return from_file(named) if isinstance(named, str) else None


def _aggregate(metric: str, items: Sequence[Item]) -> float:
    if any(LOST in item for item in items):
        return math.nan
    return _scored.aggregate(metric, filter(None, items))
