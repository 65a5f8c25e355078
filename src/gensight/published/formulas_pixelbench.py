"""The aggregate scores of PixelBench Tables 1 and 2, and what a reciprocal rank can be.

Percentages and judge totals run from 0 to 100, cosines from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gensight.published.formulas import plain_mean


def text_to_pixel_aggregate(top1_percent: Sequence[float], judge_totals: Sequence[float]) -> float:
    """Return the mean of the 500-way Top-1 and of the judge total at every size (Table 1, Agg).

    Raises:
        ValueError: the two have different numbers of sizes, or none.

    >>> text_to_pixel_aggregate([80.0, 90.0, 100.0], [70.0, 80.0, 60.0])
    80.0
    """
    if len(top1_percent) != len(judge_totals):
        raise ValueError("Top-1 and judge totals must be given for the same sizes")
    return plain_mean([*top1_percent, *judge_totals])


def image_to_pixel_aggregates(rows: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return for every row the mean of its min-max normalised columns, times 100 (Table 2, Agg).

    The minimum and the maximum of each column are taken over the rows given: adding or leaving out
    a row changes the score of every other one.

    Args:
        rows: for each method its columns (the paper: Top-1, SigLIP and DINO, averaged over sizes).

    Raises:
        ValueError: the rows have different numbers of columns, or a column has no spread.

    >>> image_to_pixel_aggregates({"a": [10.0, 0.5], "b": [20.0, 0.5], "c": [15.0, 0.25]})
    {'a': 50.0, 'b': 100.0, 'c': 25.0}
    """
    columns = list(zip(*rows.values(), strict=True))
    if not columns or any(min(column) == max(column) for column in columns):
        raise ValueError("min-max needs two rows at least that differ in every column")
    scales = [(min(column), max(column) - min(column)) for column in columns]
    return {
        name: 100
        * plain_mean([(x - low) / span for x, (low, span) in zip(row, scales, strict=True)])
        for name, row in rows.items()
    }


def reciprocal_rank_bounds(top1: float) -> tuple[float, float]:
    """Return the least and the largest mean reciprocal rank that a Top-1 rate allows.

    Both are over the same answers: the first ranks count 1, every other one 1/2 at most.

    Raises:
        ValueError: the rate is not within 0 and 1.

    >>> reciprocal_rank_bounds(0.95)
    (0.95, 0.975)
    """
    if not 0 <= top1 <= 1:
        raise ValueError(f"a Top-1 rate lies within 0 and 1, not {top1}")
    return top1, (1 + top1) / 2
