"""What the statistics of a whole paper cost: all intervals and rank intervals of 220 cells.

Twenty models by eleven columns of five hundred samples, every kind of interval among them, each
column on clusters of its own, so that nothing is resampled once for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from timing import Measurement, fastest_s

from gensight import metrics
from gensight.statistics import ColumnParts, Design, column

MODELS, SAMPLES = 20, 500
COLUMNS = (
    *("giou", "ciou", "giou", "ciou", "giou", "absrel", "absrel"),
    *("mae", "rmse", "log_count_error", "miscounted"),
)
LIMIT_S = 15.0


def cells() -> Iterator[Measurement]:
    """Yield the seconds that the eleven columns take together, in one process."""
    tables = [_column(place) for place in range(len(COLUMNS))]
    ranked = 0

    def run() -> None:
        nonlocal ranked
        # Another benchmark name each time, or the matrices would be there already.
        ranked += 1
        for place, name in enumerate(COLUMNS):
            design = Design.of(f"bench {place} {ranked}", tables[place]["model 0"].cluster_ids)
            found = column(metrics.load(name), tables[place], design)
            if any(result.ranks["column"].family_size != MODELS for result in found.values()):
                raise AssertionError(f"not all models of the column {name} were ranked")

    (seconds,) = fastest_s([run], repeats=3)
    yield Measurement(
        name="statistics",
        what=f"intervals and ranks of {MODELS} models x {len(COLUMNS)} columns, n = {SAMPLES}",
        measured=seconds,
        limit=LIMIT_S,
        unit="s",
    )


def _column(place: int) -> Mapping[str, ColumnParts]:
    """Return the models of a column: alike in what is hard, a little apart in quality."""
    rng = np.random.default_rng(place)
    names = [f"cluster {sample % 400:03}" for sample in range(SAMPLES)]
    samples = [f"sample {sample:03}" for sample in range(SAMPLES)]
    shared, union = rng.normal(0, 0.2, SAMPLES), np.exp(rng.normal(9, 0.9, SAMPLES))
    models = {}
    for model in range(MODELS):
        iou = np.clip(0.5 + 0.01 * model + shared + rng.normal(0, 0.2, SAMPLES), 0, 1)
        error = np.rint(np.exp(rng.normal(0, 1, SAMPLES)) - 0.5)
        parts = {
            "iou": iou,
            "intersection": iou * union,
            "union": union,
            "absrel": 1.001 - iou,
            "absolute_error": error,
            "squared_error": error**2,
            "log_error": np.log1p(error),
        }
        models[f"model {model}"] = ColumnParts(parts, samples, names, population_n=1000)
    return models
