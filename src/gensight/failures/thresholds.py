"""Every number of the blind rules, by name; settings of the extractor `failure_class`.

Numbers are those of PROTOCOLS 3.2 and 3.3, but for one that is marked. A key that begins with
`assumed_` names a value that the rules need and PROTOCOLS does not give. These were chosen on split
A of the confusion set; none was changed after split B had been seen.
"""

from __future__ import annotations

from typing import Any

THRESHOLDS: dict[str, Any] = {
    "compare_side_px": 384,
    # 2, degenerate: grey p99 - p1, and the range without this share at each end (small targets)
    "contrast_floor": 16.0,
    "small_target_percent": 0.05,
    "noise_autocorrelation": 0.3,
    # 3, filters of the input: eta squared, edges kept, and what still is a copy
    "filter_fit": 0.9,
    "filter_edge_recall": 0.45,
    "copy_ssim": 0.93,
    "assumed_degraded_copy_ssim": 0.85,
    "copy_lab_difference": 3.0,
    "filter_lab_difference": 6.0,
    "assumed_overlay_residual": 20.0,
    "assumed_overlay_min_share": 0.0005,
    "assumed_overlay_max_share": 0.6,
    "assumed_overlay_compactness": 0.6,
    "assumed_overlay_hue": 15.0,
    "assumed_overlay_outside": 6.0,
    # 4, other ways to show a region
    "cutout_ssim": 0.9,
    "assumed_cutout_share": 0.5,
    "assumed_cutout_kept_share": 0.75,
    "assumed_cutout_flat_share": 0.7,
    "assumed_cutout_input_share": 0.5,
    "mask_colours": 3,
    "colour_chroma": 40.0,
    "outline_width_px": 3.0,
    "assumed_outline_filled_gain": 1.5,
    # 5, masks
    "extreme_share": 0.9,
    "otsu_share": 0.8,
    "grey_chroma": 25.0,
    "drawing_edge_recall": 0.45,
    "inverted_border_share": 0.7,
    "inverted_white_share": 0.6,
    "suspected_edge_gain": 0.15,
    "suspected_edge_precision": 0.5,
    "suspected_shift_share": 0.01,
    "assumed_suspected_edge_px": 60,
    "assumed_suspected_aligned": 0.7,
    "assumed_suspected_aligned_depth": 0.55,
    "assumed_page_parts": 6,
    # 4 and 5 of depth
    "colormap_distance": 12.0,
    "assumed_colormap_bins": 100,
    "assumed_colormap_edge_precision": 0.45,
    "assumed_mask_levels": 8,
    "flat_levels": 12,
    "assumed_flat_share": 0.55,
    # 24 in PROTOCOLS; on split A depth of few levels has 12 and more
    "depth_levels": 12,
    "assumed_depth_edge_recall": 0.65,
    # 7, colourful pictures
    "same_layout": 0.8,
    "other_layout": 0.65,
    "kept_edge_recall": 0.65,
    "kept_flow_px": 4.0,
    "warp_flow_px": 2.0,
    "warp_gain": 0.2,
    "assumed_panel_ssim": 0.8,
    "assumed_panel_anisotropy": 1.25,
    # Counting
    "registration": 0.85,
    "drift_shift_share": 0.0075,
    "drift_scale": 0.01,
    "drift_rotation_deg": 1.0,
    "assumed_drift_gain": 0.02,
    "marked_ssim": 0.8,
    "unmarked_ssim": 0.9,
    "changed_share": 0.2,
    "changed_edge_recall": 0.5,
    "assumed_changed_levels": 30,
    "assumed_mark_levels": 60,
    "assumed_stroke_solidity": 0.7,
    "assumed_untouched_share": 0.1,
    "assumed_untouched_ssim": 0.9,
    "assumed_slight_warp_gain": 0.15,
    "assumed_global_gain_share": 0.5,
}
