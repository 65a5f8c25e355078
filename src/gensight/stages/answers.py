"""The answers of one model as columns: what a summary row is computed from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import Score
from gensight.specs.conventions import NATIVE_DEFAULT
from gensight.statistics import ColumnParts

#: Samples whose annotation a review looked at and did not find wrong.
UNFLAGGED = "unflagged"
#: Strata that are no property of a sample's content: models are ranked on them as on the whole.
RANKED_STRATA = ("first_", UNFLAGGED)


class Group(NamedTuple):
    """What one summary row is about, besides the model and the metric."""

    variant: str
    fit: str | None
    severity: float | None
    stratum: str | None

    @property
    def is_ranked(self) -> bool:
        """Whether models are ranked on it: the whole, a subset of ranks, the unflagged samples."""
        return self.stratum is None or self.stratum.startswith(RANKED_STRATA)


class Answers:
    """The answers of one model in one group, one entry per sample and repeat, as they come."""

    def __init__(self, *, is_whole: bool = True) -> None:
        self.is_whole = is_whole
        self.places: dict[tuple[str, int], int] = {}
        self.heads: list[Score] = []
        self._raw: dict[str, dict[int, float]] = defaultdict(dict)
        self._value: dict[str, dict[int, float]] = defaultdict(dict)

    def add(self, score: Score) -> None:
        """Keep a score row: its answer once, its parts by name; metrics follow from parts."""
        key = (score.sample_id, score.repeat)
        if key not in self.places:
            self.places[key] = len(self.heads)
            self.heads.append(score)
        if score.kind == "part":
            for column, number in ((self._raw, score.raw), (self._value, score.value)):
                if number is not None:
                    column[score.name][self.places[key]] = number

    @cached_property
    def scored(self) -> np.ndarray:
        """Return which answers are scored, bool (n,): they arrived, and there is a truth."""
        return np.array([_is_scored(head) for head in self.heads], np.bool_)

    @cached_property
    def valid(self) -> np.ndarray:
        """Return which scored answers have the asked format, bool (n,)."""
        return self.scored & np.array([head.format_valid for head in self.heads], np.bool_)

    @cached_property
    def covered(self) -> np.ndarray:
        """Return which of these a judge could be read about, where there is one, bool (n,)."""
        return self.valid & np.array([head.status != "unjudged" for head in self.heads], np.bool_)

    @property
    def clusters(self) -> list[str]:
        """Return the cluster of every answer."""
        return [head.cluster_id for head in self.heads]

    @property
    def population_n(self) -> int | None:
        """Return the size of the whole data set, None where it has none or this is a part of it."""
        return self.heads[0].population_n if self.heads and self.is_whole else None

    def samples_of(self, kept: np.ndarray) -> Counter[str]:
        """Return the samples of the kept answers, each with the number of its answers."""
        return Counter(h.sample_id for h, keep in zip(self.heads, kept, strict=True) if keep)

    @property
    def judged_by(self) -> str | None:
        """Return every judge of the answers, None where nobody judged."""
        names = {head.judged_by for head in self.heads if head.judged_by is not None}
        return "; ".join(sorted(names)) or None

    @property
    def incomplete(self) -> bool:
        """Whether answers are missing that never arrived: such a cell has no number yet."""
        return any(head.outcome in INFRASTRUCTURE_OUTCOMES for head in self.heads)

    def clusters_of(self, kept: np.ndarray) -> list[str]:
        """Return the clusters of the kept answers."""
        return [head.cluster_id for head, keep in zip(self.heads, kept, strict=True) if keep]

    def among(self, keys: Collection[tuple[str, int]]) -> np.ndarray:
        """Return which answers are among these, bool (n,)."""
        return np.array([key in keys for key in self.places], np.bool_)

    def valid_keys(self) -> Iterator[tuple[str, int]]:
        """Yield the answers that have the asked format."""
        return (key for key, place in self.places.items() if self.heads[place].format_valid)

    def parts(self, kept: np.ndarray, *, raw: bool) -> dict[str, np.ndarray]:
        """Return parts as arrays over the kept answers; NaN where a part is not defined."""
        columns = {}
        for name, found in (self._raw if raw else self._value).items():
            column = np.full(len(self.heads), np.nan)
            column[list(found)] = list(found.values())
            columns[name] = column[kept]
        return columns

    def constant(self, name: str) -> float | None:
        """Return a part that is the same for every answer, None where there is no such part."""
        found = self._value.get(name)
        return next(iter(found.values())) if found else None

    def column_parts(self, kept: np.ndarray) -> ColumnParts:
        """Return the kept answers under the failure policy, as the statistics take them."""
        heads = [head for head, keep in zip(self.heads, kept, strict=True) if keep]
        return ColumnParts(
            parts=self.parts(kept, raw=False),
            sample_ids=[head.sample_id for head in heads],
            cluster_ids=[head.cluster_id for head in heads],
            population_n=self.population_n if heads else None,
        )

    def counts(self) -> dict[str, int]:
        """Return how many answers there are, and of what kinds."""
        heads = self.heads
        samples = self.samples_of(self.scored)
        return {
            "n": len(samples),
            "repeats": max((head.repeat for head in heads), default=0) + 1,
            # Of a sample that was asked about several times most answers decide.
            "n_valid": sum(
                2 * valid > samples[name] for name, valid in self.samples_of(self.covered).items()
            ),
            "infrastructure": sum(head.outcome in INFRASTRUCTURE_OUTCOMES for head in heads),
            "no_ground_truth": sum(head.status == "no_ground_truth" for head in heads),
            "degenerate": sum(bool(head.degenerate_output) for head in heads),
            "aspect_changed": sum(bool(head.aspect_changed) for head in heads),
            "clusters": len(set(self.clusters_of(self.scored))),
        }


def _is_scored(head: Score) -> bool:
    return head.outcome not in INFRASTRUCTURE_OUTCOMES and head.status != "no_ground_truth"


def groups_of(
    scores: Iterable[Score], native_fit: str, subsets: Sequence[int]
) -> dict[Group, Answers]:
    """Return the answers by group: of all samples, of each stratum, and of each subset of ranks.

    The fit `native` repeats the one that the model's card names, so that a column can show each
    model in its own space.
    """
    groups: dict[Group, Answers] = {}
    for score in scores:
        for fit in _fits(score, native_fit):
            for stratum in _strata(score, subsets):
                group = Group(score.variant, fit, score.severity, stratum)
                if group not in groups:
                    # A stratum's own population is not known; the first ranks are a draw of all.
                    groups[group] = Answers(
                        is_whole=stratum is None or stratum.startswith("first_")
                    )
                groups[group].add(score)
    return groups


def _fits(score: Score, native_fit: str) -> list[str | None]:
    if score.fit == native_fit and _has_spaces(score.fit):
        return [score.fit, "native"]
    return [score.fit]


def _has_spaces(fit: str | None) -> bool:
    return fit in (NATIVE_DEFAULT, "disparity")


def _strata(score: Score, subsets: Sequence[int]) -> Iterator[str | None]:
    yield None
    if score.stratum is not None:
        yield score.stratum
    if score.label_flag is False:
        yield UNFLAGGED
    yield from (f"first_{number}" for number in subsets if score.rank < number)
