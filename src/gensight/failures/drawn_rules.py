"""Rules of segmentation and depth, where the right answer is a drawing in black, grey and white."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gensight.failures.conditions import (
    Finding,
    has_few_colours,
    is_bent,
    is_drawing,
    is_grey,
    is_two_valued,
    keeps_edges,
)
from gensight.failures.evidence import Evidence


def overlaid(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input but for one region, which has another hue."""
    least, most = limits["assumed_overlay_min_share"], limits["assumed_overlay_max_share"]
    region = (
        least <= seen["residual_share"] <= most
        and seen["residual_compactness"] >= limits["assumed_overlay_compactness"]
        and seen["residual_hue"] >= limits["assumed_overlay_hue"]
        and seen["residual_outside"] <= limits["assumed_overlay_outside"]
    )
    return ("wrong_format", "overlay") if region and keeps_edges(seen, limits) else None


def recoloured(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input in its own or other colours, all over."""
    # The mask of a target with a colour of its own is a filter too, but of few colours and edges;
    # dark filters lose edges as well, and keep their colours.
    drawn = is_grey(seen, limits) or has_few_colours(seen, limits)
    is_filter = seen["filter_fit"] >= limits["filter_fit"]
    is_filter = is_filter and (keeps_edges(seen, limits) or not drawn)
    # A copy proper needs no fit: where colours are rare, no half predicts the other.
    least = limits["assumed_degraded_copy_ssim" if is_filter else "copy_ssim"]
    if seen["ssim"] >= least and seen["lab_difference"] < limits["copy_lab_difference"]:
        return "copy", None
    return ("filter", None) if is_filter else None


def coloured_mask(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """A mask whose colours are not black and white."""
    if has_few_colours(seen, limits) and seen["colour_chroma"] > limits["colour_chroma"]:
        return "wrong_format", "colour_mask"
    return None


def outlined(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """A line around a region: thin, and it encloses what it does not fill."""
    thin = seen["stroke_px"] < limits["outline_width_px"]
    hollow = seen["filled_gain"] >= limits["assumed_outline_filled_gain"]
    if thin and hollow and is_drawing(seen, limits) and is_two_valued(seen, limits):
        return "wrong_format", "outline"
    return None


def mask(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Black and white: right, inverted, or suspected to lie beside what it should cover."""
    if not (is_drawing(seen, limits) and is_two_valued(seen, limits)):
        return None
    if seen["border_white_share"] > limits["inverted_border_share"]:
        if _is_page(seen, limits):
            return "wrong_format", "other"
        if seen["white_share"] > limits["inverted_white_share"]:
            return "inverted", None
    return _placed(seen, limits, limits["assumed_suspected_aligned"])


def _is_page(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether a white picture shows letters: many dark parts, and thin."""
    many = seen["dark_parts"] >= limits["assumed_page_parts"]
    return many and seen["dark_stroke_px"] < limits["outline_width_px"]


def _placed(seen: Evidence, limits: Mapping[str, Any], least_aligned: float) -> Finding:
    shift = math.hypot(seen["edge_shift_x_share"], seen["edge_shift_y_share"])
    suspected = (
        seen["edge_precision"] < limits["suspected_edge_precision"]
        and seen["edge_gain"] >= limits["suspected_edge_gain"]
        and shift >= limits["suspected_shift_share"]
        # A short outline fits somewhere by chance, and so does one that fits nowhere well.
        and seen["answer_edge_px"] >= limits["assumed_suspected_edge_px"]
        and seen["edge_precision_aligned"] >= least_aligned
    )
    return ("drift", "possible") if suspected else ("ok", None)


def grey_drawing(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Shades where a mask was asked for."""
    shaded = seen["extreme_share"] < limits["extreme_share"]
    return ("wrong_format", "grey") if shaded and is_drawing(seen, limits) else None


def not_shaded(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Where depth was asked for: a colour map, a mask, flat regions."""
    if seen["chroma"] > limits["colour_chroma"] and _is_colormap(seen, limits):
        return "wrong_format", "colormap"
    if is_two_valued(seen, limits) and seen["levels"] < limits["assumed_mask_levels"]:
        return "wrong_format", "mask"
    traced = seen["edge_recall"] >= limits["assumed_depth_edge_recall"]
    flat = traced and is_grey(seen, limits) and seen["flat_share"] >= limits["assumed_flat_share"]
    if flat or seen["levels"] < limits["flat_levels"]:
        return "wrong_format", "flat_regions"
    return None


def _is_colormap(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether colours lie on a known map, or on any line where the input's shapes are."""
    line = (
        seen["colour_bins"] <= limits["assumed_colormap_bins"]
        and seen["edge_precision"] >= limits["assumed_colormap_edge_precision"]
        and seen["layout"] < limits["other_layout"]
        and not keeps_edges(seen, limits)
    )
    return line or seen["colormap_distance"] < limits["colormap_distance"]


def depth_map(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Shades of grey that are not the input's: right, or suspected to lie beside it."""
    shaded = seen["levels"] >= limits["depth_levels"]
    own = seen["edge_recall"] < limits["assumed_depth_edge_recall"]
    if not (shaded and own and is_grey(seen, limits)):
        return None
    return _placed(seen, limits, limits["assumed_suspected_aligned_depth"])


def bent_picture(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input, bent, where a drawing was asked for."""
    return ("rerender", "warped") if is_bent(seen, limits) else None
