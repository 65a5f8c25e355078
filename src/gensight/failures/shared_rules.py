"""Rules of every task: no picture, a part of the input, panels, another picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.failures.conditions import Finding
from gensight.failures.evidence import Evidence


def degenerate(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """One level of grey, or noise."""
    floor = limits["contrast_floor"]
    flat = seen["contrast"] < floor and seen["contrast_of_small_targets"] < floor
    if flat or seen["autocorrelation"] < limits["noise_autocorrelation"]:
        return "degenerate", None
    return None


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


def redrawn(seen: Evidence, limits: Mapping[str, Any]) -> Finding | None:
    """The same scene drawn anew, in its place or not, or another scene."""
    in_place = seen["edge_recall"] >= limits["kept_edge_recall"]
    if in_place and seen["flow_px"] < limits["kept_flow_px"]:
        # Bold styles move the lightness of whole regions, so the layout is not asked.
        return "stylised", None
    if seen["layout"] >= limits["same_layout"]:
        return "rerender", None
    return ("unrelated", None) if seen["layout"] < limits["other_layout"] else None
