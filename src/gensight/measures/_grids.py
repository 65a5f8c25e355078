"""The palette grid that a prediction holds as text."""

from __future__ import annotations

from gensight.errors import RecordError
from gensight.measures import required
from gensight.pixels.grid_text import BrokenRuleError, stored_grid
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, Sample


def grid_of(prediction: Prediction, sample: Sample) -> PaletteGrid:
    """Return the grid that the extractor `palette_grid` read.

    Raises:
        RecordError: the prediction holds no text, or one that is no grid.
    """
    text = required(prediction.text, sample.sample_id, "text", "palette_grid")
    try:
        return stored_grid(text)
    except BrokenRuleError as broken:
        raise RecordError(
            f"sample {sample.sample_id}: the prediction's text is no palette grid ({broken});"
            " name the extractor 'palette_grid' in the benchmark's scorer"
        ) from None
