"""The rules of PROTOCOLS 3.3, in order; the first that holds names the class.

What the protocol leaves open is decided here:

- segmentation and depth: an overlay is looked for before a copy, since a thin one passes for both;
- a bent copy of the input is `rerender:warped` where a drawing was asked for: 3.3 calls it
  `drift:local`, but drift is a valid format (section "Decided") and a photograph is none;
- counting: red strokes that are no dots, and dots of other colours, are `wrong_format:other`
  however little they cover; drawings in place of the input are told as in segmentation;
- lines that keep their place are `stylised` whatever becomes of the lightness between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from gensight.failures.evidence import Evidence

#: A class and its detail, None where the class has none.
Finding = tuple[str, str | None]
Rule = Callable[[Evidence, Mapping[str, Any]], Finding | None]


def first_finding(rules: tuple[Rule, ...], seen: Evidence, limits: Mapping[str, Any]) -> Finding:
    """Return what the first rule that holds says; `ambiguous` where none does."""
    for rule in rules:
        finding = rule(seen, limits)
        if finding is not None:
            return finding
    return "ambiguous", None


def degenerate(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """One level of grey, or noise."""
    floor = limits["contrast_floor"]
    flat = seen["contrast"] < floor and seen["contrast_of_small_targets"] < floor
    if flat or seen["autocorrelation"] < limits["noise_autocorrelation"]:
        return "degenerate", None
    return None


def degenerate_marked(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """One level of grey, or noise, unless the input is just that."""
    return None if seen["ssim"] >= limits["unmarked_ssim"] else degenerate(seen, limits)


def panelled(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input squeezed to one side, or into a half or a quarter: something stands beside it."""
    squeezed = (
        seen["registration"] >= limits["registration"]
        and seen["anisotropy"] >= limits["assumed_panel_anisotropy"]
    )
    if squeezed or _has_panel(seen, limits):
        return "wrong_format", "other"
    return None


def _has_panel(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    least = limits["assumed_panel_ssim"]
    # A picture that is the input as a whole needs no search for it in its parts.
    return seen["ssim"] < least and seen["panel_ssim"] >= least


# Counting: the right answer is the input with dots on it.


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
    if _bent(seen, limits) and (partly or not registered):
        return "drift", "local"
    gains = seen["ssim_gain"] >= limits["assumed_drift_gain"]
    return ("drift", "global") if registered and out_of_place and gains else None


def _bent(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    return seen["flow_px"] >= limits["warp_flow_px"] and seen["flow_gain"] >= limits["warp_gain"]


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
    if not _has_few_colours(seen, limits) or _keeps_edges(seen, limits):
        return None
    black_ground = seen["border_white_share"] <= limits["inverted_border_share"]
    is_mask = black_ground and _is_grey(seen, limits) and _is_two_valued(seen, limits)
    return "wrong_format", "mask" if is_mask else "other"


# Segmentation and depth: the right answer is a drawing in black, grey and white.


def _is_grey(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    return seen["chroma"] < limits["grey_chroma"]


def _has_few_colours(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    return seen["colours"] <= limits["mask_colours"]


def _keeps_edges(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    return seen["edge_recall"] >= limits["filter_edge_recall"]


def _is_drawing(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    return _is_grey(seen, limits) and seen["edge_recall"] < limits["drawing_edge_recall"]


def _is_two_valued(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    ends = seen["extreme_share"] >= limits["extreme_share"]
    return ends and seen["otsu_share"] >= limits["otsu_share"]


def overlaid(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input but for one region, which has another hue."""
    least, most = limits["assumed_overlay_min_share"], limits["assumed_overlay_max_share"]
    region = (
        least <= seen["residual_share"] <= most
        and seen["residual_compactness"] >= limits["assumed_overlay_compactness"]
        and seen["residual_hue"] >= limits["assumed_overlay_hue"]
        and seen["residual_outside"] <= limits["assumed_overlay_outside"]
    )
    return ("wrong_format", "overlay") if region and _keeps_edges(seen, limits) else None


def recoloured(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input in its own or other colours, all over."""
    # The mask of a target with a colour of its own is a filter too, but of few colours and edges;
    # dark filters lose edges as well, and keep their colours.
    drawn = _is_grey(seen, limits) or _has_few_colours(seen, limits)
    is_filter = seen["filter_fit"] >= limits["filter_fit"]
    is_filter = is_filter and (_keeps_edges(seen, limits) or not drawn)
    # A copy proper needs no fit: where colours are rare, no half predicts the other.
    least = limits["assumed_degraded_copy_ssim" if is_filter else "copy_ssim"]
    if seen["ssim"] >= least and seen["lab_difference"] < limits["copy_lab_difference"]:
        return "copy", None
    return ("filter", None) if is_filter else None


def cut_out(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """A part of the input on a plain or faded ground."""
    is_cut = (
        seen["filter_fit"] < limits["filter_fit"]
        and seen["modal_share"] >= limits["assumed_cutout_share"]
        and seen["modal_share_of_input"] < limits["assumed_cutout_input_share"]
        and (
            seen["kept_share"] >= limits["assumed_cutout_kept_share"]
            or seen["cutout_ssim"] >= limits["cutout_ssim"]
        )
    )
    # A mask is flat where a cut-out is a picture, also where the target itself is white.
    is_flat = seen["rest_flat_share"] >= limits["assumed_cutout_flat_share"]
    is_cut = is_cut or _is_spotlit(seen, limits)
    return ("wrong_format", "cutout") if is_cut and not is_flat else None


def _is_spotlit(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether some of the input is unchanged, and a filter of it is all the rest."""
    return (
        seen["residual_share"] >= limits["assumed_overlay_min_share"]
        and seen["residual_kept_share"] >= limits["assumed_cutout_kept_share"]
        and seen["residual_outside"] <= limits["assumed_overlay_outside"]
        and seen["lab_difference"] > limits["filter_lab_difference"]
    )


def coloured_mask(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """A mask whose colours are not black and white."""
    if _has_few_colours(seen, limits) and seen["colour_chroma"] > limits["colour_chroma"]:
        return "wrong_format", "colour_mask"
    return None


def outlined(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """A line around a region: thin, and it encloses what it does not fill."""
    thin = seen["stroke_px"] < limits["outline_width_px"]
    hollow = seen["filled_gain"] >= limits["assumed_outline_filled_gain"]
    if thin and hollow and _is_drawing(seen, limits) and _is_two_valued(seen, limits):
        return "wrong_format", "outline"
    return None


def mask(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Black and white: right, inverted, or suspected to lie beside what it should cover."""
    if not (_is_drawing(seen, limits) and _is_two_valued(seen, limits)):
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
    return ("wrong_format", "grey") if shaded and _is_drawing(seen, limits) else None


def not_shaded(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Where depth was asked for: a colour map, a mask, flat regions."""
    if seen["chroma"] > limits["colour_chroma"] and _is_colormap(seen, limits):
        return "wrong_format", "colormap"
    if _is_two_valued(seen, limits) and seen["levels"] < limits["assumed_mask_levels"]:
        return "wrong_format", "mask"
    traced = seen["edge_recall"] >= limits["assumed_depth_edge_recall"]
    flat = traced and _is_grey(seen, limits) and seen["flat_share"] >= limits["assumed_flat_share"]
    if flat or seen["levels"] < limits["flat_levels"]:
        return "wrong_format", "flat_regions"
    return None


def _is_colormap(seen: Evidence, limits: Mapping[str, Any]) -> bool:
    """Say whether colours lie on a known map, or on any line where the input's shapes are."""
    line = (
        seen["colour_bins"] <= limits["assumed_colormap_bins"]
        and seen["edge_precision"] >= limits["assumed_colormap_edge_precision"]
        and seen["layout"] < limits["other_layout"]
        and not _keeps_edges(seen, limits)
    )
    return line or seen["colormap_distance"] < limits["colormap_distance"]


def depth_map(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """Shades of grey that are not the input's: right, or suspected to lie beside it."""
    shaded = seen["levels"] >= limits["depth_levels"]
    own = seen["edge_recall"] < limits["assumed_depth_edge_recall"]
    if not (shaded and own and _is_grey(seen, limits)):
        return None
    return _placed(seen, limits, limits["assumed_suspected_aligned_depth"])


# Every task, at the end: another picture.


def redrawn(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The same scene drawn anew, in its place or not, or another scene."""
    in_place = seen["edge_recall"] >= limits["kept_edge_recall"]
    if in_place and seen["flow_px"] < limits["kept_flow_px"]:
        # Bold styles move the lightness of whole regions, so the layout is not asked.
        return "stylised", None
    if seen["layout"] >= limits["same_layout"]:
        return "rerender", None
    return ("unrelated", None) if seen["layout"] < limits["other_layout"] else None


def bent_picture(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The input, bent, where a drawing was asked for."""
    return ("rerender", "warped") if _bent(seen, limits) else None


RULES: dict[str, tuple[Rule, ...]] = {
    "counting": (
        degenerate_marked,
        panelled,
        moved,
        cut_out,
        filtered,
        marked,
        drawn_instead,
        painted_over,
        redrawn,
    ),
    "segmentation": (
        degenerate,
        cut_out,
        overlaid,
        recoloured,
        coloured_mask,
        outlined,
        mask,
        grey_drawing,
        panelled,
        bent_picture,
        redrawn,
    ),
    "depth": (
        degenerate,
        overlaid,
        recoloured,
        not_shaded,
        depth_map,
        panelled,
        bent_picture,
        redrawn,
    ),
}
