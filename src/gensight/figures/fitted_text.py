"""Names in lines of whole words that fit a width, in type that is as large as allowed.

Widths are those of the font's own outlines, so that nothing runs into what stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

# A size at which widths are measured; they grow with the size of type.
_MEASURED_PT = 100.0
SMALLEST_PT, STEP_PT = 3.5, 0.25


@cache
def width_em(text: str, bold: bool = False) -> float:
    """Return the width of a text in ems of DejaVu Sans; 0 for one without ink."""
    if not text.strip():
        return 0.0
    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
    return float(TextPath((0, 0), text, size=_MEASURED_PT, prop=font).get_extents().x1) / (
        _MEASURED_PT
    )


def width_in(text: str, points: float, bold: bool = False) -> float:
    """Return the width of a text in inches at a size of type."""
    return width_em(text, bold) * points / 72


def lines_of(text: str, wide_in: float, points: float, bold: bool = False) -> list[str]:
    """Return a name in lines, broken at spaces and after hyphens but in no word; never empty.

    A word that is wider than a line has a line of its own.
    """
    lines = [""]
    for part in text.replace("-", "-\t").replace(" ", " \t").split("\t"):
        longer = lines[-1] + part
        if lines[-1] and width_in(longer.rstrip(), points, bold) > wide_in:
            lines.append(part)
        else:
            lines[-1] = longer
    return [line.rstrip() for line in lines]


def fitting_points(
    texts: Iterable[str], wide_in: float, points: float, bold: bool = False
) -> float:
    """Return the largest size of type, at most `points`, at which every word of texts fits.

    It is a multiple of a quarter point, and SMALLEST_PT where none is small enough.
    """
    parts = [part for text in texts for part in text.replace("-", "- ").split()]
    widest = max((width_in(part, 1.0, bold) for part in parts), default=0.0)
    if widest * points <= wide_in:
        return points
    return max(SMALLEST_PT, wide_in / widest // STEP_PT * STEP_PT)


def most_lines(texts: Sequence[str], wide_in: float, points: float, bold: bool = False) -> int:
    """Return the number of lines of the name that has most."""
    return max((len(lines_of(text, wide_in, points, bold)) for text in texts), default=0)
