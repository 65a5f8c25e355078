"""Figures: disturbance curves from summary rows, and galleries of answers chosen by a rule.

Each kind of figure is a module: `curves`, `gallery`, `comparison`, `failures`, `decoder_steps`, and
`panels`, which sets several galleries into one figure.
"""

from gensight.figures.curves import curve_panel, draw_disturbance_curves, panel_rows
from gensight.figures.examples import (
    Choice,
    ChosenExample,
    Gap,
    choose,
    examples_json,
    same_samples,
)
from gensight.figures.items import GalleryItem
from gensight.figures.panels import Shown, draw_gallery, draw_panels
from gensight.figures.score_words import failure_text, number_text, score_text
from gensight.figures.sources import GallerySource
from gensight.figures.style import figure_pdf, figure_png

__all__ = [
    "Choice",
    "ChosenExample",
    "GalleryItem",
    "GallerySource",
    "Gap",
    "Shown",
    "choose",
    "curve_panel",
    "draw_disturbance_curves",
    "draw_gallery",
    "draw_panels",
    "examples_json",
    "failure_text",
    "figure_pdf",
    "figure_png",
    "number_text",
    "panel_rows",
    "same_samples",
    "score_text",
]
