"""What several rules ask of an answer, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gensight.failures.evidence import Evidence

#: A class and its detail, None where the class has none.
Finding = tuple[str, str | None]
Rule = Callable[[Evidence, Mapping[str, Any]], Finding | None]


def is_bent(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether places moved far, and undoing every local move gains much likeness."""
    return seen["flow_px"] >= limits["warp_flow_px"] and seen["flow_gain"] >= limits["warp_gain"]


def is_grey(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether an answer is black, grey and white."""
    return seen["chroma"] < limits["grey_chroma"]


def has_few_colours(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether an answer has no more colours than a mask."""
    return seen["colours"] <= limits["mask_colours"]


def keeps_edges(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether an answer shows the input's lines, as all its filters do."""
    return seen["edge_recall"] >= limits["filter_edge_recall"]


def is_drawing(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether an answer is grey and not the input's picture."""
    return is_grey(seen, limits) and seen["edge_recall"] < limits["drawing_edge_recall"]


def is_two_valued(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether an answer is near black or near white nearly everywhere."""
    ends = seen["extreme_share"] >= limits["extreme_share"]
    return ends and seen["otsu_share"] >= limits["otsu_share"]
