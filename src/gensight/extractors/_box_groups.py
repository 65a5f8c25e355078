"""Boxes of several answers that mean the same thing, and one box for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

Box = Mapping[str, float]
EDGES = ("left", "top", "right", "bottom")
# Assumed, as is the whole rule: boxes mean the same thing from this overlap up.
SAME_IOU = 0.5


def merged_boxes(answers: Sequence[Sequence[Box]]) -> list[dict[str, float]]:
    """Return one box for each group that more than half of the answers have a box in.

    Boxes join, answer by answer and by falling score, the group whose median box they overlap most,
    from `SAME_IOU` up, unless their answer is in it already; others begin a group. The score is the
    share of the answers in the group.
    """
    groups: list[list[Box]] = []
    for boxes in answers:
        free = list(range(len(groups)))
        middles = [_median_box(group) for group in groups]
        for box in sorted(boxes, key=lambda box: -box["score"]):
            overlaps = [(overlap(middles[index], box), -index) for index in free]
            best, index = max(overlaps, default=(0.0, 0))
            if best >= SAME_IOU:
                groups[-index].append(box)
                free.remove(-index)
            else:
                groups.append([box])
    kept = [group for group in groups if 2 * len(group) > len(answers)]
    found = [{**_median_box(group), "score": len(group) / len(answers)} for group in kept]
    return sorted(found, key=lambda box: (-box["score"], box["top"], box["left"]))


def overlap(first: Box, second: Box) -> float:
    """Return intersection over union of two boxes, 0 where both are empty."""
    across = min(first["right"], second["right"]) - max(first["left"], second["left"])
    down = min(first["bottom"], second["bottom"]) - max(first["top"], second["top"])
    shared = max(across, 0.0) * max(down, 0.0)
    union = _area(first) + _area(second) - shared
    return shared / union if union else 0.0


def _area(box: Box) -> float:
    return (box["right"] - box["left"]) * (box["bottom"] - box["top"])


def _median_box(group: Sequence[Box]) -> dict[str, float]:
    return {edge: float(median(box[edge] for box in group)) for edge in EDGES}
