"""Every GENIUS number that follows from others: each Overall, and the gain that the text claims."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gensight.published.cells import PublishedCell, load
from gensight.published.comparison import Check, half_unit, number, one, recomputed
from gensight.published.facts import UnitCount, facts, genius_counts
from gensight.published.formulas import difference, total
from gensight.published.formulas_genius import WEIGHTS, overall, score_sum_of

PAPER = "genius"
DIMENSIONS = (
    "n_implicit_pattern_induction",
    "n_adhoc_constraint_execution",
    "n_contextual_knowledge_adaptation",
)


def checks(root: Path | None = None) -> Iterator[Check]:
    """Yield the checks of GENIUS: Table 2, then its text."""
    cells, counts, said = load(PAPER, 2, root), genius_counts(root), facts(PAPER, root)
    scores = {}
    for model in dict.fromkeys(cell.model for cell in cells):
        printed = one(cells, model=model, metric="Overall")
        scores[model] = _overall(cells, [c for c in counts if c.model == model])
        yield recomputed(
            "Table 2", f"{model}: Overall", printed, scores[model], inputs=half_unit(printed)
        )
    gain = said["gain_ours_over_bagel"]
    ours, bagel = (one(cells, model=model, metric="Overall") for model in ("Ours", "Bagel"))
    for source, after, before in (
        ("printed", number(ours), number(bagel)),
        ("recomputed", scores["Ours"], scores["Bagel"]),
    ):
        name = f"gain over Bagel, from {source} Overall"
        yield recomputed("text", name, gain, difference(after, before), inputs=half_unit(gain))
    samples = total([number(said[dimension]) for dimension in DIMENSIONS])
    yield recomputed("text", "samples = sum over dimensions", said["n_samples"], samples)


def _overall(cells: list[PublishedCell], counts: list[UnitCount]) -> float:
    """Return Overall from whole scores where the digits give them, else from the percentages."""
    units, sums = {}, {}
    for metric in WEIGHTS:
        parts = [_units_and_sum(cells, count) for count in counts if count.metric == metric]
        units[metric] = total([n for n, _ in parts])
        sums[metric] = total([score_sum for _, score_sum in parts])
    return overall(sums, units)


def _units_and_sum(cells: list[PublishedCell], count: UnitCount) -> tuple[float, float]:
    if count.n is not None and count.score_sum is not None:
        return count.n, count.score_sum
    cell = one(cells, model=count.model, benchmark=count.task, metric=count.metric)
    return count.n_full, score_sum_of(number(cell), count.n_full)
