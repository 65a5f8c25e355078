"""Which samples a gallery shows: chosen by a rule, never by eye, and the choice is logged.

Source: ProbeGen's appendix asks for examples chosen by an automatic criterion, typically from the
middle of the ranking. The default takes the lower median of the raw metric (half of the samples
are at least as poor), so what is shown is neither flattering nor damning.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from gensight.records import Score
from gensight.specs.figures import GalleryModelSpec, GallerySpec
from gensight.variants import only_variant

RULES = {
    "median": "lower median of the raw {metric} among a cell's readable answers, ties by rank",
    "best": "best raw {metric} among a cell's readable answers, ties by rank",
    "worst": "worst raw {metric} among a cell's readable answers, ties by rank",
    "failed": "first by rank of a cell's answers that could not be read",
}


@dataclass(frozen=True, kw_only=True)
class ChosenExample:
    """One chosen answer and why.

    `n` is the number of answers the rule chose from; `place` counts from 0, the poorest of them,
    and is missing for rules that do not sort.
    """

    model: str
    severity: float | None
    benchmark: str
    prompt: str
    scorer: str
    variant: str
    fit: str | None
    metric: str
    rule: str
    rule_text: str
    chosen_on: str
    sample_id: str
    rank: int
    repeat: int
    status: str
    reason: str | None
    raw: float | None
    value: float | None
    place: int | None
    n: int


def chosen_examples(
    spec: GallerySpec,
    model: GalleryModelSpec,
    scores: Iterable[Score],
    higher_is_better: bool,
) -> list[ChosenExample]:
    """Choose one answer of a model's cell for each rule of the spec; a rule without any is skipped.

    Args:
        spec: the gallery's YAML.
        model: the model, and the severity that is shown of a disturbed one.
        scores: the cell's score rows.
        higher_is_better: of the metric.
    """
    rows = _candidates(spec, model, scores)
    readable = [row for row in rows if row.raw is not None and math.isfinite(row.raw)]
    sign = 1.0 if higher_is_better else -1.0
    ordered = sorted(readable, key=lambda row: (sign * row.raw, row.rank, row.repeat))
    unread = sorted((row for row in rows if row.raw is None), key=lambda row: row.rank)
    chosen = []
    for rule in spec.rules:
        pool = unread if rule == "failed" else ordered
        if not pool:
            continue
        row = _first_equal(pool, {"median": (len(pool) - 1) // 2, "best": -1}.get(rule, 0))
        place = None if rule == "failed" else ordered.index(row)
        chosen.append(_example(spec, model, row, rule, place, len(pool)))
    return chosen


def same_examples(
    spec: GallerySpec,
    model: GalleryModelSpec,
    scores: Iterable[Score],
    chosen: Sequence[ChosenExample],
) -> list[ChosenExample]:
    """Return another model's answers to samples that were chosen on one model (`chosen_on`).

    A sample this model was not asked about is skipped. `place` is missing: nothing was sorted.
    """
    rows = {(row.sample_id, row.repeat): row for row in _candidates(spec, model, scores)}
    found = []
    for example in chosen:
        row = rows.get((example.sample_id, example.repeat)) or rows.get((example.sample_id, 0))
        if row is not None:
            shown = _example(spec, model, row, example.rule, None, example.n)
            text = f"{example.rule_text}, chosen on {example.model}"
            kept = {"rule_text": text, "chosen_on": example.model}
            found.append(ChosenExample(**{**asdict(shown), **kept}))
    return found


def examples_json(examples: Sequence[ChosenExample]) -> str:
    """Return the choice as JSON, one object per example in drawing order; missing is null."""
    return json.dumps([asdict(example) for example in examples], indent=1) + "\n"


def _candidates(spec: GallerySpec, model: GalleryModelSpec, scores: Iterable[Score]) -> list[Score]:
    rows = [
        row
        for row in scores
        if (row.kind, row.name, row.fit, row.severity)
        == ("metric", spec.metric, spec.fit, model.severity)
        and row.status != "no_ground_truth"
        and spec.variant in (None, row.variant)
    ]
    only_variant(f"gallery '{spec.title}'", spec.scorer, (row.variant for row in rows))
    return rows


def _first_equal(pool: Sequence[Score], place: int) -> Score:
    """Return the first by rank of the rows whose raw value equals that of a place."""
    equal = [row for row in pool if row.raw == pool[place].raw]
    return min(equal, key=lambda row: (row.rank, row.repeat))


def _example(
    spec: GallerySpec, model: GalleryModelSpec, row: Score, rule: str, place: int | None, n: int
) -> ChosenExample:
    return ChosenExample(
        model=model.model,
        severity=model.severity,
        benchmark=spec.benchmark,
        prompt=spec.prompt,
        scorer=spec.scorer,
        variant=row.variant,
        fit=row.fit,
        metric=row.name,
        rule=rule,
        rule_text=RULES[rule].format(metric=row.name),
        chosen_on=model.model,
        sample_id=row.sample_id,
        rank=row.rank,
        repeat=row.repeat,
        status=row.status,
        reason=row.reason,
        raw=row.raw,
        value=row.value,
        place=place,
        n=n,
    )
