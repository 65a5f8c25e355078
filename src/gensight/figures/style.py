"""One look for every figure, and files that are the same bytes for the same content.

The look is set from matplotlib's own defaults, never from a user's matplotlibrc; the fonts are the
DejaVu fonts that matplotlib ships. Colours are Okabe and Ito's, which colour-blind readers can
tell apart. Figures are as wide as a line of text (7 in), so type is printed at its size.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

WIDTH_IN = 7.0
# Sharp on a screen at twice its size; print takes the PDF.
PNG_DPI = 200
# A heading: the height of its title and of each grey line, and how much text a line holds (that of
# 6 pt across the page). Chosen by eye, like all sizes of type and lines below.
TITLE_IN, LINE_IN, LINE_CHARACTERS = 0.235, 0.12, 148
# The mean width of a character of DejaVu Sans in running text, with some room to spare.
CHARACTER_EM = 0.57
# The largest page a PDF reader must accept is 200 in; taller galleries should be split.
MAX_HEIGHT_IN = 190.0

BLUE = "#0072B2"
GREEN = "#009E73"
VERMILION = "#D55E00"
#: Behind the name of a metric: whether more or less of it is better.
ARROWS = {True: "↑", False: "↓"}
GREY = "#666666"
LIGHT_GREY = "#DDDDDD"

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.0,
    "ytick.labelsize": 6.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "text.parse_math": False,
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "svg.hashsalt": "gensight",
}


def characters(width_in: float, points: float) -> int:
    """Return how many characters of running text fit a width in type of this size."""
    return max(int(width_in * 72 / (CHARACTER_EM * points)), 4)


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw inside this: matplotlib's defaults with the style above, restored afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def new_figure(height_in: float) -> Figure:
    """Return an empty figure as wide as a line of text."""
    figure = Figure(figsize=(WIDTH_IN, min(height_in, MAX_HEIGHT_IN)), facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def draw_heading(figure: Figure, title: str, lines: Sequence[str], left: float) -> None:
    """Write a bold title and grey lines below it at the top; `left` is a share of the width."""
    height = figure.get_figheight()
    figure.text(left, 1 - 0.06 / height, title, ha="left", va="top", fontsize=8.5, weight="bold")
    for place, line in enumerate(lines):
        top = 1 - (TITLE_IN + LINE_IN * place) / height
        figure.text(left, top, line, ha="left", va="top", fontsize=6, color=GREY)


def heading_lines(text: str) -> list[str]:
    """Return text wrapped to the width of the figure at the size of the heading's lines."""
    return textwrap.wrap(text, LINE_CHARACTERS)


def figure_pdf(figure: Figure, mark: str) -> bytes:
    """Return the figure as PDF: no dates, the mark readable in its Keywords."""
    metadata = {
        "Creator": "gensight",
        "Producer": "matplotlib",
        "CreationDate": None,
        "Keywords": mark,
    }
    return _saved(figure, "pdf", metadata)


def figure_png(figure: Figure, mark: str) -> bytes:
    """Return the figure as PNG, the mark in a tEXt chunk named `gensight`.

    It has 200 dpi, or the figure's own where those are more.
    """
    dpi = max(PNG_DPI, figure.get_dpi())
    return _saved(figure, "png", {"Software": None, "gensight": mark}, dpi)


def _saved(
    figure: Figure, kind: str, metadata: dict[str, str | None], dpi: float = PNG_DPI
) -> bytes:
    buffer = io.BytesIO()
    with figure_style():
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
