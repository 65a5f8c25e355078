"""Rules of counting, where the right answer is the input with dots on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gensight.failures.conditions import (
    Finding,
    has_few_colours,
    is_bent,
    is_grey,
    is_two_valued,
    keeps_edges,
)
from gensight.failures.evidence import Evidence
from gensight.failures.shared_rules import degenerate


def degenerate_marked(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """One level of grey, or noise, unless the input is just that."""
    return None if seen["ssim"] >= limits["unmarked_ssim"] else degenerate(seen, limits)


def moved(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input, moved as a whole or bent."""
    shift = math.hypot(seen["shift_x_share"], seen["shift_y_share"])
    out_of_place = (
        shift > limits["drift_shift_share"]
        or abs(seen["scale"] - 1) > limits["drift_scale"]
        or abs(seen["rotation_deg"]) > limits["drift_rotation_deg"]
    )
    registered = seen["registration"] >= limits["registration"]
    # An affine map that undoes little of what a free flow undoes is not the whole story.
    partly = seen["ssim_gain"] < limits["assumed_global_gain_share"] * seen["flow_gain"]
    if is_bent(seen, limits) and (partly or not registered):
        return "drift", "local"
    gains = seen["ssim_gain"] >= limits["assumed_drift_gain"]
    return ("drift", "global") if registered and out_of_place and gains else None


def filtered(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input in other colours, marked or not."""
    is_filter = seen["filter_fit"] >= limits["filter_fit"]
    changed = seen["lab_difference_off_marks"] > limits["filter_lab_difference"]
    return ("filter", None) if is_filter and changed else None


def marked(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input, with dots or other marks, or without any."""
    alike = max(_likeness(seen, limits), seen["ssim_off_marks"])
    # A filter of the input that changes its colours little: blur, other exposure.
    same = seen["filter_fit"] >= limits["filter_fit"]
    in_place = seen["ssim_off_marks"] >= limits["marked_ssim"]
    # Beside a slightly displaced input every vivid border looks like a stroke.
    if (same or in_place) and seen["strokes"] + seen["other_dots"] > seen["dots"]:
        return "wrong_format", "other"
    if seen["dots"] >= 1 and (same or alike >= limits["marked_ssim"]):
        return "ok", None
    if seen["dots"] == 0 and (same or alike >= limits["unmarked_ssim"]):
        return "unmarked_copy", None
    return None


def _likeness(seen: Evidence, limits: Mapping[str, Any]) -> float:
    """Return the similarity once a displacement too small to be drift is undone."""
    found = 0.0
    if seen["registration"] >= limits["registration"]:
        found = seen["ssim_aligned"]
    if seen["flow_gain"] >= limits["assumed_slight_warp_gain"]:
        found = max(found, seen["ssim"] + seen["flow_gain"])
    return found


def painted_over(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input under something larger than dots, and untouched elsewhere."""
    much = seen["changed_share"] > limits["changed_share"]
    elsewhere = (
        seen["untouched_share"] >= limits["assumed_untouched_share"]
        and seen["ssim_untouched"] >= limits["assumed_untouched_ssim"]
    )
    if much and elsewhere and seen["edge_recall"] >= limits["changed_edge_recall"]:
        return "wrong_format", "other"
    return None


def drawn_instead(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """A drawing where the input should be: dots or letters on a page, a mask."""
    if not has_few_colours(seen, limits) or keeps_edges(seen, limits):
        return None
    black_ground = seen["border_white_share"] <= limits["inverted_border_share"]
    is_mask = black_ground and is_grey(seen, limits) and is_two_valued(seen, limits)
    return "wrong_format", "mask" if is_mask else "other"
