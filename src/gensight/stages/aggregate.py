"""Aggregates: averages, differences and anchored scores of several numbers, and correlations.

Source: PROTOCOLS 2.6. The numbers of an aggregate are read from score files again, answer by
answer, because its interval and its ranks need the answers: one resampling of the clusters that the
numbers share moves all of them together, for all models alike. Anchors stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gensight import metrics, statistics
from gensight.records import RowFile, Summary, write_rows
from gensight.specs.aggregates import AggregateSpec
from gensight.stages.aggregate_numbers import estimated, read_subjects, settled
from gensight.stages.aggregate_recipes import (
    Recipe,
    Subjects,
    kinds_of,
    recipes,
    unit_of,
)
from gensight.stages.bounds import with_bounds
from gensight.stages.correlate import by_row, correlated
from gensight.statistics.bootstrap import expanded_interval
from gensight.statistics.estimates import ClusterSums, replicates_of
from gensight.statistics.intervals import wilson_of
from gensight.statistics.ranks import typical_error

#: The scorer of every aggregate, and of the rows that say what a normalised one is relative to.
SCORER, ROW_SET = "aggregate", "row_set"
#: The family of all measured models, as opposed to those of one group.
COLUMN = "column"


def aggregate(output: str, determinants: Mapping[str, Any]) -> int:
    """Write the aggregates of some benchmarks and their correlations; return the number of rows.

    One row per aggregate and model that was asked for all of its numbers, in the columns of a
    summary: `metric` is the row's name. Where the file names a set of rows, the components of its
    members are kept as rows of the scorer `row_set` (`variant`: the component). A correlation is
    several rows whose `model` is its name.
    """
    spec = AggregateSpec.model_validate(determinants["spec"])
    rows = list(_Aggregates(spec, determinants).rows()) if spec.rows else []
    others = {
        name: RowFile(_path(name), Summary, digest)
        for name, digest in determinants.get("aggregates", {}).items()
    }
    roles = dict(determinants["roles"])
    for file in others.values():
        roles |= file.footer.determinants["roles"]
    known, read = by_row(rows), {name: by_row(file) for name, file in others.items()}
    for correlation in spec.correlations:
        rows += correlated(correlation, known, read, roles, _facts(determinants))
    inputs = [*determinants["scores"], *map(_path, others)]
    return write_rows(output, Summary, rows, determinants, inputs)


def _path(name: str) -> str:
    return f"results/aggregates/{name}.parquet"


def _facts(determinants: Mapping[str, Any]) -> dict[str, Any]:
    return {"benchmark": determinants["aggregate"], "prompt": "all", "scorer": SCORER}


class _Aggregates:
    """All rows of one spec over all models that have their numbers."""

    def __init__(self, spec: AggregateSpec, plan: Mapping[str, Any]) -> None:
        self.spec, self.plan = spec, plan
        self.subjects: Subjects = read_subjects(spec, plan["scores"])
        clusters = {
            name
            for subject in self.subjects.values()
            for answers in subject.answers.values()
            for name in answers.clusters
        }
        # Of one benchmark it is the resampling of the benchmark's own summary.
        (name, *several) = spec.benchmarks
        self.design = statistics.Design.of(plan["aggregate"] if several else name, sorted(clusters))

    def rows(self) -> Iterator[Summary]:
        """Yield a row for each aggregate and model, and those of its set of rows."""
        for recipe in recipes(self.spec, self.subjects, self.plan["roles"]):
            asked = {m: s for m, s in self.subjects.items() if s.has(recipe.keys)}
            yield from self._with_bounds(recipe, list(self._column(recipe, asked)))
            yield from self._row_set(recipe)

    def _with_bounds(self, recipe: Recipe, rows: list[Summary]) -> Iterable[Summary]:
        """Give plain means and anchored rows the floor and ceiling that reference rows set."""
        if recipe.row.difference is not None or recipe.row.normalised is not None:
            return rows
        return with_bounds(rows, self.plan["roles"], dict.fromkeys(self.subjects, ""))

    def _column(self, recipe: Recipe, asked: Subjects) -> Iterator[Summary]:
        sums = {m: s for m, one in asked.items() if (s := one.sums(recipe.form)) is not None}
        drawn: dict[str, np.ndarray] = {}
        if sums:
            columns = replicates_of([*sums.values()], self.design.matrix()).T
            drawn = dict(zip(sums, columns, strict=True))
        missing = self._missing_of_row_set(recipe)
        counts = {m: subject.counts(recipe.keys) for m, subject in asked.items()}
        complete = [m for m in sums if not counts[m]["infrastructure"] and not missing]
        ranks = self._ranks(recipe, {m: sums[m] for m in complete}, drawn)
        for model, subject in asked.items():
            counted = counts[model]
            counted["infrastructure"] = max(counted["infrastructure"], missing)
            yield Summary(
                **_facts(self.plan),
                model=model,
                variant="",
                metric=recipe.row.name,
                higher_is_better=recipe.higher_is_better,
                unit=unit_of(self.spec, recipe),
                value=recipe.value(subject),
                valid_only=subject.value(recipe.form, raw=True),
                **counted,
                **subject.shares(recipe.keys),
                **self._uncertainty(recipe, sums.get(model), drawn.get(model)),
                uncertainty_flag=_relative_to(recipe),
                judged_by=subject.judged_by(recipe.keys),
                **ranks.get(model, {}),
            )

    def _uncertainty(
        self, recipe: Recipe, sums: ClusterSums | None, drawn: np.ndarray | None
    ) -> dict[str, Any]:
        """Return the interval of a row: Wilson's of an average of rates, else by resampling."""
        if sums is None or drawn is None:
            return {"clusters": 0}
        clusters, found, n_eff = len(sums.clusters), statistics.NO_INTERVAL, None
        if clusters >= statistics.MIN_CLUSTERS:
            if self._is_rate(recipe):
                rate = wilson_of(estimated(sums), scale=100.0)
                found, n_eff = statistics.Interval(rate.low, rate.high, rate.method), rate.n_eff
            else:
                found = expanded_interval(drawn, clusters - 1, clusters, recipe.method)
        low, high = self._within(recipe, found)
        return {
            "clusters": clusters,
            "n_eff": n_eff,
            "interval_low": low,
            "interval_high": high,
            "interval_method": found.method,
        }

    def _is_rate(self, recipe: Recipe) -> bool:
        means = recipe.row.mean_of is not None and recipe.method == "joint percentile"
        return means and kinds_of(self.spec, recipe.keys) == {"rate"} and _is_mean(recipe)

    def _within(
        self, recipe: Recipe, found: statistics.Interval
    ) -> tuple[float | None, float | None]:
        """Cut an interval where the scales of its numbers end."""
        if found.low is None or found.high is None or recipe.form is None:
            return found.low, found.high
        ends: tuple[list[float], list[float]] = ([], [])
        for key, weight in recipe.form.weights.items():
            bounds = getattr(metrics.load(self.spec.numbers[key].metric), "BOUNDS", (None, None))
            low, high = (
                side * math.inf if bound is None else bound
                for bound, side in zip(bounds, (-1, 1), strict=True)
            )
            for place, end in enumerate(sorted((weight * low, weight * high))):
                ends[place].append(end)
        least, greatest = (settled(sum(side) + recipe.form.offset) for side in ends)
        return max(found.low, least), min(found.high, greatest)

    def _missing_of_row_set(self, recipe: Recipe) -> int:
        """Return how many answers of a set of rows are missing: until they come it may move."""
        return sum(self.subjects[m].counts(recipe.keys)["infrastructure"] for m in recipe.row_set)

    def _ranks(
        self, recipe: Recipe, sums: Mapping[str, ClusterSums], drawn: Mapping[str, np.ndarray]
    ) -> dict[str, dict[str, Any]]:
        """Return the rank columns of the measured models, by model."""
        kinds = [metrics.load(self.spec.numbers[key].metric) for key in recipe.keys]
        if not recipe.row.is_ranked or not all(getattr(m, "RANKED", True) for m in kinds):
            return {}
        families: dict[str, list[str]] = {}
        for model in sums:
            if self.plan["roles"][model] == "measured":
                for family in (COLUMN, f"group {self.plan['groups'].get(model)}"):
                    families.setdefault(family, []).append(model)
        found: dict[str, dict[str, Any]] = {}
        for family, members in families.items():
            ranks = self._family(recipe, {m: sums[m] for m in members}, drawn)
            start = "" if family == COLUMN else "group_"
            for model, (low, high, effect) in ranks.items():
                told = found.setdefault(model, {})
                told |= {f"{start}rank_low": low, f"{start}rank_high": high}
                told["family_size" if family == COLUMN else "group_size"] = len(members)
                if family != COLUMN:
                    told["smallest_difference"] = effect
        return found

    def _family(
        self, recipe: Recipe, sums: Mapping[str, ClusterSums], drawn: Mapping[str, np.ndarray]
    ) -> dict[str, tuple[int, int, float | None]]:
        clusters = len({name for one in sums.values() for name in one.clusters})
        if clusters < statistics.MIN_CLUSTERS:
            return {}
        replicates = {model: drawn[model] for model in sums}
        ranks = statistics.rank_intervals(
            {model: estimated(one).value for model, one in sums.items()},
            replicates,
            recipe.higher_is_better,
            clusters=clusters,
        )
        error = typical_error(replicates)
        effect = None if error is None else statistics.minimum_detectable_effect(error)
        return {model: (low, high, effect) for model, (low, high) in ranks.items()}

    def _row_set(self, recipe: Recipe) -> Iterator[Summary]:
        facts = {**_facts(self.plan), "scorer": ROW_SET}
        for model, components in recipe.row_set.items():
            for name, value in components.items():
                yield Summary(
                    **facts,
                    model=model,
                    variant=name,
                    metric=recipe.row.name,
                    higher_is_better=True,
                    unit="",
                    value=value,
                    n=0,
                    n_valid=0,
                    clusters=0,
                )


def _is_mean(recipe: Recipe) -> bool:
    """Whether a row is a weighted mean of its numbers, however it was nested."""
    if recipe.form is None or recipe.form.offset:
        return False
    weights = list(recipe.form.weights.values())
    return min(weights) >= 0 and abs(sum(weights) - 1) < 1e-9


def _relative_to(recipe: Recipe) -> str | None:
    """Return what is said of a number that depends on the rows beside it."""
    if recipe.row.normalised is None:
        return None
    members: Sequence[str] = list(recipe.row_set)
    return (
        f"min-max over {len(members)} rows ({', '.join(members)}): another set of rows changes it"
    )
