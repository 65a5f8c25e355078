"""Summaries: every metric of every cell of one benchmark over its samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from gensight import metrics, statistics
from gensight.records import RowFile, Score, Summary, write_rows
from gensight.stages.answers import Answers, Group, groups_of
from gensight.stages.bounds import with_bounds

#: What the answers of one group and metric are computed from, by model.
Columns = dict[tuple[Group, str], dict[str, Answers]]
#: The answers, as (sample, repeat), that every measured model gave in the asked format, by variant.
Common = Mapping[str, set[tuple[str, int]]]
#: The family of all measured models of a column; others are named after a group of models.
COLUMN = "column"


def summarize(output: str, determinants: Mapping[str, Any]) -> int:
    """Write the summary of a benchmark; return the number of rows.

    One row per cell, scorer, variant, fit, severity, stratum and metric. Floors and ceilings are
    the best floor row and the ceiling row of the same prompt, scorer, variant, fit and stratum.
    Measured models of one column are resampled and ranked together (PROTOCOLS 2).
    """
    rows = []
    for scorer, by_prompt in _by_scorer(determinants["scores"]).items():
        blocks = [_Block(p, scorer, paths, determinants) for p, paths in by_prompt.items()]
        between = _between_prompts(blocks)
        rows += [row for block in blocks for row in block.rows(between)]
    bounded = with_bounds(rows, determinants["roles"], determinants["native"])
    return write_rows(output, Summary, bounded, determinants, determinants["scores"])


def _by_scorer(scores: Mapping[str, str]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the score files that are set side by side: scorer, prompt, model to path."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    # By name: rows, and of two equal bounds the first, follow from no list's order.
    for path in sorted(scores):
        model, _, prompt, scorer = path.removesuffix(".parquet").split("/")[2:]
        found[scorer][prompt][model] = path
    return found


#: The smallest difference told between settings of one model, by what identifies a summary row.
Differences = Mapping[tuple[Any, ...], float | None]


class _Block:
    """All models under one prompt and one scorer."""

    def __init__(
        self, prompt: str, scorer: str, paths: Mapping[str, str], plan: Mapping[str, Any]
    ) -> None:
        self.place = {"benchmark": plan["benchmark"], "prompt": prompt, "scorer": scorer}
        self.plan = plan
        self.answers: dict[Group, dict[str, Answers]] = defaultdict(dict)
        self.names: list[str] = []
        for model, path in paths.items():
            file = RowFile(path, Score, plan["scores"][path])
            self.names = list(dict.fromkeys([*self.names, *file.footer.determinants["metrics"]]))
            for group, found in groups_of(file, plan["native"][model], plan["subsets"]).items():
                self.answers[group][model] = found
        self.common = _common_valid(self.answers, plan)

    def rows(self, between_prompts: Differences) -> Iterator[Summary]:
        """Yield a row for each model, group and metric."""
        between_variants = self._between_variants()
        for group, models in self.answers.items():
            for name in self.names:
                for row in self._column(group, models, name):
                    key = (row.model, name, group.fit, group.stratum)
                    yield replace(
                        row,
                        smallest_difference_variants=between_variants.get(key),
                        smallest_difference_prompts=between_prompts.get((*key, group.variant)),
                    )

    def _between_variants(self) -> Differences:
        """Return what two variants must differ by, for each model, metric, fit and stratum."""
        settings: dict[tuple[Any, ...], dict[str, Answers]] = defaultdict(dict)
        for group, models in self.answers.items():
            if group.severity is None and group.is_ranked:
                for model, answers in models.items():
                    settings[(model, group.fit, group.stratum)][group.variant] = answers
        return {
            (model, name, fit, stratum): self.told_difference(metrics.load(name), variants)
            for (model, fit, stratum), variants in settings.items()
            if len(variants) > 1
            for name in self.names
        }

    def told_difference(self, metric: ModuleType, settings: Mapping[str, Answers]) -> float | None:
        """Return the smallest difference that is told between settings of one model, paired."""
        if not getattr(metric, "RANKED", True):
            return None
        parts = {name: answers.column_parts(answers.scored) for name, answers in settings.items()}
        found = statistics.column(metric, parts, self.place["benchmark"])
        ranks = [rank for one in found.values() for rank in one.ranks.values()]
        return ranks[0].minimum_detectable_effect if ranks else None

    def _column(self, group: Group, models: Mapping[str, Answers], name: str) -> Iterator[Summary]:
        metric = metrics.load(name)
        scored = {model: answers.column_parts(answers.scored) for model, answers in models.items()}
        clusters = sorted({c for answers in models.values() for c in answers.clusters})
        design = statistics.Design.of(self.place["benchmark"], clusters)
        found = statistics.column(metric, scored, design, self._families(group, metric, models))
        for model, answers in models.items():
            yield self._row(group, model, answers, metric, name, found[model])

    def _families(
        self, group: Group, metric: ModuleType, models: Mapping[str, Answers]
    ) -> dict[str, list[str]]:
        """Return what is ranked: measured models, all of them and by group."""
        if group.severity is not None or not group.is_ranked or not getattr(metric, "RANKED", True):
            return {}
        measured = [m for m, a in models.items() if self._is_measured(m) and not a.incomplete]
        families = {COLUMN: measured}
        for model in measured:
            families.setdefault(_group(self.plan, model), []).append(model)
        return families

    def _row(
        self,
        group: Group,
        model: str,
        answers: Answers,
        metric: ModuleType,
        name: str,
        found: statistics.ColumnResult,
    ) -> Summary:
        shared = self.common.get(group.variant) if self._is_measured(model) else None
        common = answers.valid & answers.among(shared or set())
        valid = answers.valid
        whole, ranks = found.finite_interval, found.ranks
        column, within = ranks.get(COLUMN), ranks.get(_group(self.plan, model))
        return Summary(
            model=model,
            **self.place,
            **group._asdict(),
            metric=name,
            higher_is_better=metric.HIGHER_IS_BETTER,
            unit=metric.UNIT,
            value=_aggregated(metric, answers, answers.scored, raw=False),
            valid_only=_aggregated(metric, answers, valid, raw=True),
            common_valid=_aggregated(metric, answers, common, raw=True),
            common_n=None if shared is None else len(answers.samples_of(common)),
            failure_constant=answers.constant("failure_constant"),
            **answers.counts(),
            **_shares(answers),
            n_eff=found.n_eff,
            interval_low=found.interval.low,
            interval_high=found.interval.high,
            interval_method=found.interval.method,
            population_n=answers.population_n,
            finite_low=whole.low if whole else None,
            finite_high=whole.high if whole else None,
            uncertainty_flag=statistics.FLAGS[found.flags[0]] if found.flags else None,
            family_size=column.family_size if column else None,
            rank_low=column.low if column else None,
            rank_high=column.high if column else None,
            group_size=within.family_size if within else None,
            group_rank_low=within.low if within else None,
            group_rank_high=within.high if within else None,
            smallest_difference=within.minimum_detectable_effect if within else None,
            judged_by=answers.judged_by,
        )

    def _is_measured(self, model: str) -> bool:
        return self.plan["roles"][model] == "measured"


def _group(plan: Mapping[str, Any], model: str) -> str:
    return f"group {plan['groups'].get(model)}"


def _shares(answers: Answers) -> dict[str, Any]:
    """Return the share of answers in the asked format, its interval, and that of those covered."""
    valid, clusters = answers.valid[answers.scored], answers.clusters_of(answers.scored)
    share = statistics.wilson_interval(valid.astype(np.float64), clusters)
    return {
        "coverage": float(answers.covered[answers.scored].mean()) if valid.size else None,
        "format_valid": float(valid.mean()) if valid.size else None,
        "format_valid_low": share.low,
        "format_valid_high": share.high,
    }


def _aggregated(
    metric: ModuleType, answers: Answers, kept: np.ndarray, *, raw: bool
) -> float | None:
    """Return a metric over the kept answers, None where there are none or nothing is defined."""
    value = metric.aggregate(answers.parts(kept, raw=raw)) if kept.any() else None
    return None if value is None or not np.isfinite(value) else float(value)


def _common_valid(
    answers: Mapping[Group, Mapping[str, Answers]], plan: Mapping[str, Any]
) -> Common:
    """Return what all measured models answered validly; nothing where there is only one.

    Models that fail by their format (a table prints × for them), and those whose answers have not
    all arrived, take no part: one of them would leave nothing in common.
    """
    found: dict[str, dict[str, set[tuple[str, int]]]] = defaultdict(dict)
    for group, models in answers.items():
        if group.severity is None and group.stratum is None:
            for model, some in models.items():
                if _takes_part(model, some, plan):
                    found[group.variant].setdefault(model, set()).update(some.valid_keys())
    return {v: set.intersection(*by.values()) for v, by in found.items() if len(by) > 1}


def _takes_part(model: str, answers: Answers, plan: Mapping[str, Any]) -> bool:
    if plan["roles"][model] != "measured" or answers.incomplete:
        return False
    limit, high = plan["failed_above"][model], _shares(answers)["format_valid_high"]
    return limit is None or high is None or high >= 1.0 - limit


def _between_prompts(blocks: Sequence[_Block]) -> Differences:
    """Return what two prompts must differ by, for each model, metric, fit, stratum and variant."""
    settings: dict[tuple[Any, ...], dict[str, Answers]] = defaultdict(dict)
    for block in blocks:
        for group, models in block.answers.items():
            if group.severity is None and group.is_ranked:
                for model, answers in models.items():
                    place = (model, group.fit, group.stratum, group.variant)
                    settings[place][block.place["prompt"]] = answers
    return {
        (model, name, fit, stratum, variant): blocks[0].told_difference(metrics.load(name), prompts)
        for (model, fit, stratum, variant), prompts in settings.items()
        if len(prompts) > 1
        for name in blocks[0].names
    }
