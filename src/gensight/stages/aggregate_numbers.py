"""The numbers behind an aggregate: what each model's answers add to them, read from score files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gensight import metrics, statistics
from gensight.errors import RecordError
from gensight.records import RowFile, Score
from gensight.specs.aggregates import AggregateSpec
from gensight.specs.base import NumberSpec
from gensight.stages.answers import Answers, Group, groups_of
from gensight.statistics.aggregates import LinearForm, Measured, joint_sums
from gensight.statistics.estimates import ClusterSums, Estimate, estimate, kind_of, terms_of
from gensight.variants import only_variant

#: Benchmark, prompt and scorer: what a score file is of, besides the model.
Place = tuple[str, str, str]
#: Significant digits that an average keeps.
DIGITS = 14


class Subject:
    """One model's answers, by the key of each number that it was asked for."""

    def __init__(self, numbers: Mapping[str, NumberSpec], answers: Mapping[str, Answers]) -> None:
        self.numbers, self.answers = numbers, answers

    def has(self, keys: Iterable[str]) -> bool:
        """Whether the model was asked for all of these numbers."""
        return all(key in self.answers for key in keys)

    @cached_property
    def measured(self) -> dict[str, Measured]:
        """Return the numbers that have scored answers, under the failure policy."""
        return self._measured(raw=False)

    @cached_property
    def readable(self) -> dict[str, Measured]:
        """Return the same over the answers in the asked format alone."""
        return self._measured(raw=True)

    def sums(self, form: LinearForm | None, *, raw: bool = False) -> ClusterSums | None:
        """Return a linear form of the numbers by cluster, None where one has no value."""
        found = self.readable if raw else self.measured
        if form is None or not all(key in found for key in form.weights):
            return None
        return joint_sums(form, found)

    def value(self, form: LinearForm | None, *, raw: bool = False) -> float | None:
        """Return a linear form of the numbers, None where one has no value."""
        sums = self.sums(form, raw=raw)
        return None if sums is None else estimated(sums).value

    def judged_by(self, keys: Iterable[str]) -> str | None:
        """Return every judge behind some numbers, None where nobody judged."""
        names = {self.answers[key].judged_by for key in keys}
        return "; ".join(sorted(name for name in names if name is not None)) or None

    def counts(self, keys: Iterable[str]) -> dict[str, int]:
        """Return how many answers stand behind numbers, and of what kinds, summed over cells.

        A cell that several scorers read counts once: an answer is valid if all of them say so, and
        missing if one of them never got it.
        """
        counts = [_of_cell(readings) for readings in self._cells(keys)]
        summed = {name: sum(c[name] for c in counts) for name in counts[0] if name != "repeats"}
        return {**summed, "repeats": max(c["repeats"] for c in counts)}

    def shares(self, keys: Iterable[str]) -> dict[str, float | None]:
        """Return the share of answers in the asked format, and its interval."""
        strictest = [min(readings, key=_strictness) for readings in self._cells(keys)]
        valid = np.concatenate([some.valid[some.scored] for some in strictest])
        clusters = [name for some in strictest for name in some.clusters_of(some.scored)]
        share = statistics.wilson_interval(valid.astype(np.float64), clusters)
        covered = np.concatenate([some.covered[some.scored] for some in strictest])
        return {
            "coverage": float(covered.mean()) if valid.size else None,
            "format_valid": float(valid.mean()) if valid.size else None,
            "format_valid_low": share.low,
            "format_valid_high": share.high,
        }

    def _cells(self, keys: Iterable[str]) -> list[list[Answers]]:
        """Return the readings of every cell behind some numbers; a file counts once."""
        cells: dict[tuple[str | None, ...], dict[int, Answers]] = defaultdict(dict)
        for key in keys:
            number, found = self.numbers[key], self.answers[key]
            cells[(number.benchmark, number.prompt, number.stratum)][id(found)] = found
        return [list(readings.values()) for readings in cells.values()]

    def _measured(self, *, raw: bool) -> dict[str, Measured]:
        found = {}
        for key, answers in self.answers.items():
            kept = answers.valid if raw else answers.scored
            parts = answers.parts(kept, raw=raw)
            if not kept.any() or not parts:
                continue
            metric = metrics.load(self.numbers[key].metric)
            if kind_of(metric) == "none":
                raise RecordError(
                    f"number '{key}': {self.numbers[key].metric} is no sum over answers, so that "
                    f"nothing can be averaged from it; name another metric"
                )
            number = Measured(terms_of(metric, parts), answers.clusters_of(kept))
            if joint_sums(LinearForm({key: 1.0}), {key: number}) is not None:
                found[key] = number
        return found


def estimated(sums: ClusterSums) -> Estimate:
    """Return the estimate of a linear form, its value settled."""
    found = estimate(sums)
    return replace(found, value=settled(found.value))


def settled(value: float) -> float:
    """Return an average without the last bits that weights such as a third leave.

    >>> 3 * (100 * (1 / 3)), settled(3 * (100 * (1 / 3)))
    (99.99999999999999, 100.0)
    """
    return float(f"{value:.{DIGITS}g}")


def _of_cell(readings: Sequence[Answers]) -> dict[str, int]:
    counts = [answers.counts() for answers in readings]
    largest = {name: max(count[name] for count in counts) for name in counts[0]}
    largest.pop("clusters")
    return {**largest, "n_valid": min(count["n_valid"] for count in counts)}


def _strictness(answers: Answers) -> tuple[int, int]:
    counts = answers.counts()
    return counts["n_valid"], -counts["infrastructure"]


def read_subjects(spec: AggregateSpec, scores: Mapping[str, str]) -> dict[str, Subject]:
    """Return the models of some score files, path to digest, with their answers by number.

    Raises:
        RecordError: a file is missing or made from other settings.
        SpecError: a number names no variant, and its scorer has several.
    """
    needed: dict[Place, list[str]] = defaultdict(list)
    for key, number in spec.numbers.items():
        needed[(number.benchmark, number.prompt, number.scorer)].append(key)
    found: dict[str, dict[str, Answers]] = defaultdict(dict)
    for path, digest in sorted(scores.items()):
        model, *place = path.removesuffix(".parquet").split("/")[2:]
        groups = groups_of(RowFile(path, Score, digest), "", ())
        for key in needed[(place[0], place[1], place[2])]:
            answers = groups.get(_group(key, spec.numbers[key], groups))
            if answers is not None:
                found[model][key] = answers
    return {model: Subject(spec.numbers, answers) for model, answers in found.items()}


def _group(key: str, number: NumberSpec, groups: Mapping[Group, Any]) -> Group:
    variant = number.variant
    if variant is None:
        variant = only_variant(f"number '{key}'", number.scorer, {g.variant for g in groups})
    return Group(variant or "", number.fit, None, number.stratum)
