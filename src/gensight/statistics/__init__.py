"""Uncertainty by cluster: intervals, paired tests, ranks, agreement (PROTOCOLS 2 and 5.4).

Samples that share a scene are not independent, so the unit is the cluster throughout, and the level
is 95 %. One room for each question:

- `cells`: the interval of one model under one metric, by the metric's `INTERVAL`; `intervals` and
  `bootstrap`: the same for plain arrays;
- `columns`: all models of one column at once, with rank intervals (`ranks`) by family. This is what
  the stage that summarises calls;
- `paired`: two models, difference, test and power; `gains`: between floor and ceiling;
- `agreement`, `judgements`: runs and rivals of a judge, and its correction by known truths;
- `aggregates`: anchored aggregates; `correlations`: over a handful of models;
- `sequential`: intervals that may be watched while money is spent;
- `estimates`, `resampling`: what all of these are made of.

No result depends on the order of rows, on the other models, on threads or on a hash seed.
"""

from __future__ import annotations

from gensight.statistics.bootstrap import NO_INTERVAL, Interval
from gensight.statistics.cells import MIN_CLUSTERS, ColumnParts, effective_n, interval
from gensight.statistics.columns import FLAGS, ColumnResult, Rank, column, separations
from gensight.statistics.estimates import KINDS, LEVEL, t_quantile
from gensight.statistics.gains import Gain, gain
from gensight.statistics.intervals import (
    RateInterval,
    effective_n_of_mean,
    effective_n_of_ratio,
    finite,
    mean_interval,
    ratio_interval,
    wilson_interval,
)
from gensight.statistics.paired import Comparison, compare, minimum_detectable_effect
from gensight.statistics.ranks import best_set, holm, rank_intervals
from gensight.statistics.resampling import Design, resampling_matrix

__all__ = [
    "FLAGS",
    "KINDS",
    "LEVEL",
    "MIN_CLUSTERS",
    "NO_INTERVAL",
    "ColumnParts",
    "ColumnResult",
    "Comparison",
    "Design",
    "Gain",
    "Interval",
    "Rank",
    "RateInterval",
    "best_set",
    "column",
    "compare",
    "effective_n",
    "effective_n_of_mean",
    "effective_n_of_ratio",
    "finite",
    "gain",
    "holm",
    "interval",
    "mean_interval",
    "minimum_detectable_effect",
    "rank_intervals",
    "ratio_interval",
    "resampling_matrix",
    "separations",
    "t_quantile",
    "wilson_interval",
]
