"""Whether a model draws the same thing at every size: cosines between its grids of one sample.

Protocol. PixelBench section 4 speaks of a consistency gap across resolutions and names no measure,
so this one is ours (assumed): the mean cosine, by the scorer's encoder, of a grid with the same
model's grids of the same sample under the scorer's other prompts. A cosine has no zero of its own,
so the mean over the grids of *other* samples under those prompts stands beside it.

Scoring hands the vectors over as the setting `features`. Sizes at which the model gave no valid
grid are left out; failure `left_out`: an answer that is no grid is consistent with nothing, and
says nothing of the others. A grid without any companion is left out as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from gensight.errors import RecordError
from gensight.measures import PartsByFit, complete
from gensight.measures.retrieval import cosines
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("left_out",)
DEFAULTS: dict[str, Any] = {"failure": "left_out"}


class Companions(Protocol):
    """Vectors of one model's grids, of unit length."""

    def of(self, prediction: Prediction) -> np.ndarray | None:
        """Return the vector of a grid, float32 (d,), None where it has none."""

    def companions(self, prediction: Prediction) -> Sequence[tuple[np.ndarray | None, np.ndarray]]:
        """Return, for each other prompt, the vector of the same sample and those of the others.

        The first is None where that answer was no grid, the second float32 (m, d).
        """


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare a grid with the same model's other grids.

    Parts: grid (1), and where there are companions companion_cosine, their number sizes, and
    stranger_cosine, the mean over other samples' grids.

    Raises:
        RecordError: the answer is a grid and has no vector.
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    vector = checked["features"].of(prediction)
    if vector is None:
        raise RecordError(
            f"sample {sample.sample_id}: the prediction is ok but has no vector; name the encoder "
            f"in the benchmark's scorer"
        )
    found = checked["features"].companions(prediction)
    parts = {"grid": 1.0}
    own = [one for one, _ in found if one is not None]
    if own:
        parts["companion_cosine"] = float(np.mean(cosines(vector, np.array(own))))
        parts["sizes"] = float(len(own))
    strangers = [others for _, others in found if len(others)]
    if own and strangers:
        parts["stranger_cosine"] = float(np.mean(cosines(vector, np.concatenate(strangers))))
    return {None: parts}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Leave an answer that is no grid out; the part `grid` counts it."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: {"grid": 0.0}}
