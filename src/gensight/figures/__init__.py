"""Figures: disturbance curves from summary rows, and galleries of answers chosen by a rule."""

from gensight.figures.curves import curve_panel, draw_disturbance_curves, panel_rows
from gensight.figures.examples import (
    ChosenExample,
    chosen_examples,
    examples_json,
    same_examples,
)
from gensight.figures.gallery import draw_gallery, score_text
from gensight.figures.style import figure_pdf, figure_png
from gensight.figures.tiles import GalleryItem

__all__ = [
    "ChosenExample",
    "GalleryItem",
    "chosen_examples",
    "curve_panel",
    "draw_disturbance_curves",
    "draw_gallery",
    "examples_json",
    "figure_pdf",
    "figure_png",
    "panel_rows",
    "same_examples",
    "score_text",
]
