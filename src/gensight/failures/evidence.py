"""The features of PROTOCOLS 3.2, each group measured when a rule first asks for it."""

from __future__ import annotations

from collections.abc import Callable

from gensight.failures import likeness, marks, motion, tones
from gensight.failures.pictures import Pair

Group = Callable[[Pair], dict[str, float]]

GROUPS: dict[Group, tuple[str, ...]] = {
    tones.contrast: ("contrast", "contrast_of_small_targets", "grey_deviation"),
    tones.autocorrelation: ("autocorrelation",),
    tones.chroma: ("chroma",),
    tones.bimodality: ("extreme_share", "otsu_share", "levels"),
    tones.shapes: (
        "white_share",
        "border_white_share",
        "stroke_px",
        "filled_gain",
        "dark_parts",
        "dark_stroke_px",
    ),
    tones.colours: ("colours", "colour_chroma"),
    tones.flatness: ("flat_share",),
    tones.colormap: ("colormap_distance", "colour_bins"),
    likeness.similarity: ("ssim", "lab_difference"),
    likeness.layout: ("layout",),
    likeness.filter_fit: ("filter_fit",),
    likeness.affine_fit: ("affine_fit",),
    likeness.departure: (
        "residual_share",
        "residual_kept_share",
        "residual_compactness",
        "residual_hue",
        "residual_outside",
    ),
    likeness.cutout: (
        "modal_share",
        "modal_share_of_input",
        "kept_share",
        "rest_flat_share",
        "cutout_ssim",
    ),
    likeness.panels: ("panel_ssim",),
    motion.edge_agreement: ("edge_recall", "edge_precision", "answer_edge_px"),
    motion.edge_alignment: (
        "edge_shift_x_share",
        "edge_shift_y_share",
        "edge_scale",
        "edge_precision_aligned",
        "edge_gain",
    ),
    motion.registration: (
        "registration",
        "shift_x_share",
        "shift_y_share",
        "scale",
        "anisotropy",
        "rotation_deg",
        "ssim_aligned",
        "ssim_gain",
        "edge_recall_aligned",
    ),
    motion.flow: ("flow_px", "flow_gain"),
    marks.marks: (
        "dots",
        "other_dots",
        "strokes",
        "marked_share",
        "ssim_off_marks",
        "lab_difference_off_marks",
        "changed_share",
        "untouched_share",
        "ssim_untouched",
    ),
}
SOURCES: dict[str, Group] = {name: group for group, names in GROUPS.items() for name in names}


class Evidence:
    """Features by name; `measured` holds those that were asked for, with their groups."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.measured: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        if name not in self.measured:
            self.measured |= SOURCES[name](self.pair)
        return self.measured[name]

    def measure_all(self) -> None:
        """Measure every feature, also those that no rule has asked for."""
        for name in SOURCES:
            self[name]
