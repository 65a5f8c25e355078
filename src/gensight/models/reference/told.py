"""The truth in words: what a model answers that has nothing to paint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.models.reference.canvas import truth_field

if TYPE_CHECKING:
    from gensight.records import Sample


def truth_as_text(truth: Sample, content: str) -> str:
    """Return the truth as text: a count, a tight box, or the word that was asked for.

    A box is "[left, top, right, bottom]" in per mille of the picture's width and height with one
    decimal, from outer pixel edge to outer pixel edge; "none" for an empty mask.

    Raises:
        GensightError: the truth has no such text.
    """
    if content == "integer":
        return str(truth_field(truth, "target_count"))
    if content == "bounding_box":
        return box_text(images.decode_mask(truth_field(truth, "target_mask")))
    if content in ("free", "letter") and truth.target_text is not None:
        return truth.target_text
    raise GensightError(
        f"sample '{truth.sample_id}': there is no true answer to a text of content '{content}'"
    )


def box_text(mask: np.ndarray) -> str:
    """Return the tight box of a boolean mask as text, "none" if it is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return "none"
    height, width = mask.shape
    edges = (columns[0] / width, rows[0] / height)
    edges += ((columns[-1] + 1) / width, (rows[-1] + 1) / height)
    return "[" + ", ".join(f"{1000 * edge:.1f}" for edge in edges) + "]"
