"""The Overall of GENIUS Table 2: one pool of units for each metric, over all tasks.

A unit is one score of 0, 1 or 2. Rule compliance (RC) and aesthetic quality (AQ) have one for each
sample, visual consistency (VC) one for each reference picture of the four tasks that have any. Each
metric is pooled over its own units first; a metric that a task lacks adds nothing to its pool, and
the weights are never changed for it. Overall is not a mean over tasks.
"""

from __future__ import annotations

from collections.abc import Mapping

MAXIMUM_SCORE = 2
# The ratio RC : VC : AQ of GENIUS Table 2.
WEIGHTS = {"RC": 6.0, "VC": 3.5, "AQ": 0.5}
# Units when no answer is missing; the split of each dimension into tasks is inferred from the
# digits of Table 2 (the paper gives 86, 213 and 211 samples).
SAMPLES = {
    "Implicit Pattern": 86,
    "Symbolic Constraint": 153,
    "Visual Constraint": 60,
    "Prior-Conflicting": 101,
    "Multi-Semantic": 110,
}
REFERENCES = {
    "Implicit Pattern": 74,
    "Symbolic Constraint": 131,
    "Visual Constraint": 12,
    "Prior-Conflicting": 58,
    "Multi-Semantic": 0,
}


def pooled_percent(score_sum: float, units: float) -> float:
    """Return the sum of scores in per cent of the largest sum that these units could have.

    Raises:
        ValueError: there is no unit.

    >>> pooled_percent(115, 86)
    66.86046511627907
    """
    if units <= 0:
        raise ValueError("a pooled score needs at least one unit")
    return 100 * score_sum / (MAXIMUM_SCORE * units)


def score_sum_of(percent: float, units: float) -> float:
    """Return the sum of scores behind a percentage: the inverse of `pooled_percent`.

    >>> score_sum_of(50.0, 131)
    131.0
    """
    return percent * MAXIMUM_SCORE * units / 100


def overall(
    score_sums: Mapping[str, float],
    units: Mapping[str, float],
    weights: Mapping[str, float] = WEIGHTS,
) -> float:
    """Return the weighted Overall, 0-100, of scores pooled over all tasks.

    Args:
        score_sums: for each metric, the sum of its scores (0, 1 or 2 a unit).
        units: for each metric, the number of units that were judged.
        weights: for each metric, its weight; the paper's by default.

    Raises:
        ValueError: a weighted metric has no unit.

    Mean scores of 1.0, 2.0 and 1.0 are 50, 100 and 50 per cent; (6*50 + 3.5*100 + 0.5*50) / 10:

    >>> overall({"RC": 4, "VC": 6, "AQ": 4}, {"RC": 4, "VC": 3, "AQ": 4})
    67.5
    """
    whole = sum(weights.values())
    parts = [
        weight * pooled_percent(score_sums[metric], units[metric])
        for metric, weight in weights.items()
    ]
    return sum(parts) / whole
