"""Summaries: every metric of every cell of one benchmark over its samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
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
    rows = [
        row
        for (prompt, scorer), paths in _by_column(determinants["scores"]).items()
        for row in _Block(prompt, scorer, paths, determinants).rows()
    ]
    inputs = determinants["scores"]
    return write_rows(
        output, Summary, with_bounds(rows, determinants["roles"]), determinants, inputs
    )


def _by_column(scores: Mapping[str, str]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the score files that are set side by side: path by model, for (prompt, scorer)."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for path in scores:
        model, _, prompt, scorer = path.removesuffix(".parquet").split("/")[2:]
        found[(prompt, scorer)][model] = path
    return found


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
        self.common = _common_valid(self.answers, plan["roles"])

    def rows(self) -> Iterator[Summary]:
        """Yield a row for each model, group and metric."""
        for group, models in self.answers.items():
            for name in self.names:
                yield from self._column(group, models, name)

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
        measured = [model for model in models if self.plan["roles"][model] == "measured"]
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
            common_n=None if shared is None else int(common.sum()),
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
        )

    def _is_measured(self, model: str) -> bool:
        return self.plan["roles"][model] == "measured"


def _group(plan: Mapping[str, Any], model: str) -> str:
    return f"group {plan['groups'].get(model)}"


def _shares(answers: Answers) -> dict[str, Any]:
    """Return the share of answers in the asked format, and its interval."""
    valid, clusters = answers.valid[answers.scored], answers.clusters_of(answers.scored)
    share = statistics.wilson_interval(valid.astype(np.float64), clusters)
    return {
        "coverage": float(valid.mean()) if valid.size else None,
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
    answers: Mapping[Group, Mapping[str, Answers]], roles: Mapping[str, str]
) -> Common:
    """Return what all measured models answered validly; nothing where there is only one model."""
    found: dict[str, dict[str, set[tuple[str, int]]]] = defaultdict(dict)
    for group, models in answers.items():
        if group.severity is None and group.stratum is None:
            for model, some in models.items():
                if roles[model] == "measured":
                    found[group.variant].setdefault(model, set()).update(some.valid_keys())
    return {v: set.intersection(*by.values()) for v, by in found.items() if len(by) > 1}
