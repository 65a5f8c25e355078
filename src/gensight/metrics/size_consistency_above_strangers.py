"""Size consistency beyond what any two grids of the model share, in units of cosine.

The cosine with the same sample's grids at other sizes, minus that with other samples' grids there
(`measures.size_consistency`). A model that draws the same of everything scores 0.

>>> value({"companion_cosine": 0.75, "stranger_cosine": 0.5})
0.25
"""

from __future__ import annotations

from collections.abc import Mapping

from gensight.metrics import mean_of

VERSION = 1
MEASURE = "size_consistency"
HIGHER_IS_BETTER = True
UNIT = "cosine"
BOUNDS = (-2.0, 2.0)
INTERVAL = "mean"


def value(parts: Mapping[str, float]) -> float | None:
    """Return the difference for one sample, None where it has no companion or no stranger."""
    if "companion_cosine" not in parts or "stranger_cosine" not in parts:
        return None
    return parts["companion_cosine"] - parts["stranger_cosine"]


aggregate = mean_of(value)
