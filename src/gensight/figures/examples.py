"""Which samples a gallery shows: chosen by a rule, never by eye, and the choice is logged.

The rules stand in `gensight.figures.rules`. Samples whose licence forbids showing take no part. A
rule that finds nothing leaves a `Gap`, which is logged and drawn in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace

from gensight.figures.rules import answer_of, pick, pool_of, rule_text
from gensight.records import Score
from gensight.specs.figures import GalleryModelSpec, GallerySpec
from gensight.variants import only_variant


@dataclass(frozen=True, kw_only=True)
class ChosenExample:
    """One chosen answer and why.

    `n` is the number of answers the rule chose from; `place` counts from 0, the poorest of them,
    and is missing for rules that do not sort. `restricted` answers were passed over, since their
    samples' licence forbids showing.
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
    failure_class: str | None
    raw: float | None
    value: float | None
    place: int | None
    n: int
    restricted: int = 0


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A rule that found nothing to show of a model, and why.

    `n` is the number of the model's answers, of which `restricted` may not be shown.
    """

    model: str
    severity: float | None
    benchmark: str
    prompt: str
    scorer: str
    rule: str
    why: str
    sample_id: None = None
    n: int
    restricted: int


@dataclass(frozen=True)
class Choice:
    """What a gallery shows of one model, in the order of its rules, and what it cannot show."""

    examples: list[ChosenExample] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)


def choose(
    spec: GallerySpec,
    model: GalleryModelSpec,
    scores: Iterable[Score],
    higher_is_better: bool,
    restricted: Iterable[str] = (),
) -> Choice:
    """Choose one answer of a model's cell for each rule of the spec.

    Args:
        spec: the gallery; its `fit` names rows as they are stored.
        model: the model, and the severity that is shown of a disturbed one.
        scores: the cell's score rows.
        higher_is_better: of the metric.
        restricted: ids of samples that may not be shown.

    An answer that a rule has chosen is not chosen again: the next is that equals it, if any.
    """
    hidden = set(restricted)
    rows = _candidates(spec, model, scores)
    showable = [row for row in rows if row.sample_id not in hidden]
    passed_over, choice = len(rows) - len(showable), Choice()
    taken: set[tuple[str, int]] = set()
    for rule in spec.rules:
        pool = pool_of(rule, showable, higher_is_better)
        if not pool:
            why = _why_nothing(rule, len(rows), passed_over)
            choice.gaps.append(_gap(spec, model, rule, why, (len(rows), passed_over)))
            continue
        row = pick(rule, pool, taken)
        if row is not None:
            taken.add(answer_of(row))
            place = None if rule == "failed" else pool.index(row)
            example = _example(spec, model, row, rule, place, len(pool))
            choice.examples.append(replace(example, restricted=passed_over))
    return choice if spec.chosen_on is None else _told_of(choice, spec.chosen_on)


def _told_of(choice: Choice, leader: str) -> Choice:
    """Return a choice whose texts say that other models are shown on the same samples."""
    told = [replace(e, rule_text=f"{e.rule_text}, chosen on {leader}") for e in choice.examples]
    return Choice(told, choice.gaps)


def same_samples(
    spec: GallerySpec,
    model: GalleryModelSpec,
    scores: Iterable[Score],
    led: Choice,
) -> Choice:
    """Return another model's answers to samples that were chosen on one model (`chosen_on`).

    A sample this model was not asked about is a gap, and so is what could not be chosen. `place`
    is missing: nothing was sorted.
    """
    rows = {answer_of(row): row for row in _candidates(spec, model, scores)}
    choice = Choice()
    for gap in led.gaps:
        # What may not be shown of one model may not be shown of any.
        hidden = 0 < gap.n == gap.restricted
        why = gap.why if hidden else f"nothing could be chosen on {gap.model} ({gap.why})"
        choice.gaps.append(_gap(spec, model, gap.rule, why, (len(rows), gap.restricted)))
    for example in led.examples:
        row = rows.get((example.sample_id, example.repeat)) or rows.get((example.sample_id, 0))
        if row is None:
            why = f"no answer about {example.sample_id}"
            counts = (len(rows), example.restricted)
            choice.gaps.append(_gap(spec, model, example.rule, why, counts))
            continue
        choice.examples.append(
            replace(
                _example(spec, model, row, example.rule, None, example.n),
                rule_text=example.rule_text,
                chosen_on=example.model,
                restricted=example.restricted,
            )
        )
    return choice


def examples_json(panels: Iterable[tuple[str | None, Choice]]) -> str:
    """Return choices as JSON: one object per example in drawing order, then the gaps.

    Missing is null. Each choice comes with the title of its panel, which its objects then carry,
    or with None.
    """
    rows = [
        ({} if title is None else {"panel": title}) | asdict(row)
        for title, choice in panels
        for row in (*choice.examples, *choice.gaps)
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def _candidates(spec: GallerySpec, model: GalleryModelSpec, scores: Iterable[Score]) -> list[Score]:
    rows = [
        row
        for row in scores
        if (row.kind, row.name, row.fit, row.severity)
        == ("metric", spec.metric, spec.fit, model.severity)
        and row.status != "no_ground_truth"
        and spec.variant in (None, row.variant)
        and _in_stratum(row, spec.stratum)
    ]
    only_variant(f"gallery '{spec.title}'", spec.scorer, (row.variant for row in rows))
    return rows


def _in_stratum(row: Score, stratum: str | None) -> bool:
    if stratum is None or row.stratum == stratum:
        return True
    first = stratum.removeprefix("first_")
    return first != stratum and first.isdecimal() and row.rank < int(first)


def _why_nothing(rule: str, n: int, restricted: int) -> str:
    if n == 0:
        return "no answer was scored"
    if restricted == n:
        return f"none of {n} answers may be shown" if n > 1 else "its only answer may not be shown"
    left = n - restricted
    if left == 1:
        return f"its only answer {'did not fail' if rule == 'failed' else 'cannot be read'}"
    return f"none of {left} answers {'failed' if rule == 'failed' else 'can be read'}"


def _gap(
    spec: GallerySpec, model: GalleryModelSpec, rule: str, why: str, counts: tuple[int, int]
) -> Gap:
    """Return a gap; `counts` are the model's answers, and those that may not be shown."""
    return Gap(
        model=model.model,
        severity=model.severity,
        benchmark=spec.benchmark,
        prompt=spec.prompt,
        scorer=spec.scorer,
        rule=rule,
        why=why,
        n=counts[0],
        restricted=counts[1],
    )


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
        rule_text=rule_text(rule, row.name),
        chosen_on=model.model,
        sample_id=row.sample_id,
        rank=row.rank,
        repeat=row.repeat,
        status=row.status,
        reason=row.reason,
        failure_class=row.failure_blind,
        raw=row.raw,
        value=row.value,
        place=place,
        n=n,
    )
