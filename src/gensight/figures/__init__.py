"""Figures: curves from summary rows, galleries of answers chosen by a rule, and panels of grids.

Each kind of figure is a module: `curves`, `size_curves`, `correlation`, `gallery`, `comparison`,
`failures`, `decoder_steps`, `panels`, which sets several galleries into one figure, and
`pixel_grids`.
"""

from gensight.figures.correlation import correlation_panel, draw_correlations
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
from gensight.figures.pixel_grids import draw_pixel_grids
from gensight.figures.pixel_sources import PixelSource
from gensight.figures.score_words import failure_text, number_text, score_text
from gensight.figures.size_curves import draw_size_curves, size_lines
from gensight.figures.sources import GallerySource
from gensight.figures.style import figure_pdf, figure_png

__all__ = [
    "Choice",
    "ChosenExample",
    "GalleryItem",
    "GallerySource",
    "Gap",
    "PixelSource",
    "Shown",
    "choose",
    "correlation_panel",
    "curve_panel",
    "draw_correlations",
    "draw_disturbance_curves",
    "draw_gallery",
    "draw_panels",
    "draw_pixel_grids",
    "draw_size_curves",
    "examples_json",
    "failure_text",
    "figure_pdf",
    "figure_png",
    "number_text",
    "panel_rows",
    "same_samples",
    "score_text",
    "size_lines",
]
