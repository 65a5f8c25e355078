"""Whether a model draws the same thing at every size: cosines between its grids of one sample.

Protocol. PixelBench section 4 speaks of a consistency gap across resolutions and names no measure,
so this one is ours (assumed): the mean cosine, by the scorer's encoder, of a grid with the same
model's grids of the same sample under the scorer's other prompts. A cosine has no zero of its own,
so the mean over the grids of *other* samples stands beside it: at the same sizes, each size with
the same weight, so that a model that draws the same of everything gains nothing.

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

    Parts: grid (1); over the sizes at which the model gave a companion companion_cosine and their
    number sizes; over those at which it gave strangers as well above_strangers, the mean of the
    companion's cosine less that of the strangers.

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
    near, above = [], []
    for own, strangers in found:
        if own is None:
            continue
        near.append(float(cosines(vector, own[None])[0]))
        if len(strangers):
            above.append(near[-1] - float(np.mean(cosines(vector, strangers))))
    if near:
        parts |= {"companion_cosine": float(np.mean(near)), "sizes": float(len(near))}
    if above:
        parts["above_strangers"] = float(np.mean(above))
    return {None: parts}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Leave an answer that is no grid out; the part `grid` counts it."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    return {None: {"grid": 0.0}}
