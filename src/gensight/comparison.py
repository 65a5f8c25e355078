"""Two files of scores side by side: what differs in protocol, in numbers, and sample by sample.

PROTOCOLS 5.3. The samples that both hold are compared, failed answers under the benchmark's own
failure policy, so that no pair is lost; the interval and the test are those of
`gensight.statistics` (clusters, paired).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gensight import metrics, statistics
from gensight.digests import differences
from gensight.errors import RecordError, SpecError
from gensight.footers import read_footer
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import RowFile, Score
from gensight.specs.words import unknown
from gensight.variants import only_variant

#: In per cent: a sample flips where one side lies on another side of it (half right, half wrong).
FLIP_PERCENT = 50.0
#: Keys of determinants that say who was asked.
WHO = re.compile(r"(^|\.)generations\.(model|adapter|adapter_version|generation)(\.|$)")
EXPECTED = "give results/scores/MODEL/BENCHMARK/PROMPT/SCORER.parquet"
Answer = tuple[str, int]


@dataclass(frozen=True)
class Choice:
    """Which numbers of the two files are compared; None takes the only one, or the first metric.

    `severity` is that of the files that hold several; None stands for answers without one.
    """

    metric: str | None = None
    variant: str | None = None
    fit: str | None = None
    severity: float | None = None


@dataclass
class Side:
    """One file's answers under the chosen variant and fit, by sample and repeat."""

    path: Path
    determinants: Mapping[str, Any]
    heads: dict[Answer, Score] = field(default_factory=dict)
    parts: dict[Answer, dict[str, float]] = field(default_factory=dict)

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """Return model, benchmark, prompt and scorer: what determined the file, else its place.

        Raises:
            RecordError: neither says it.
        """
        generations = _within(self.determinants, "predictions", "generations")
        requests = _within(generations, "requests")
        told = (
            generations.get("model"),
            _within(requests, "samples").get("benchmark"),
            requests.get("prompt"),
            self.determinants.get("scorer"),
        )
        place = self.path.absolute().with_suffix("").parts[1:][-4:]
        if len(place) < len(told):
            place = ("",) * len(told)
        model, benchmark, prompt, scorer = (a or b for a, b in zip(told, place, strict=True))
        if not all((model, benchmark, prompt, scorer)):
            raise RecordError(f"{self.path}: does not say which cell it is of; {EXPECTED}")
        return model, benchmark, prompt, scorer


@dataclass(frozen=True)
class Item:
    """One sample on both sides: its value under the metric, and whether it was read at all."""

    sample_id: str
    repeat: int
    first: float | None
    second: float | None
    first_valid: bool
    second_valid: bool

    @property
    def change(self) -> float:
        """Return second - first, 0 where either is not defined."""
        known = self.first is not None and self.second is not None
        return self.second - self.first if known else 0.0

    def flips(self, unit: str) -> bool:
        """Whether one side alone can be read, or is at least half right."""
        if self.first_valid != self.second_valid:
            return True
        if unit != "percent" or self.first is None or self.second is None:
            return False
        return (self.first >= FLIP_PERCENT) != (self.second >= FLIP_PERCENT)


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: `second` against `first`, on the metric's scale."""

    metric: str
    unit: str
    higher_is_better: bool
    variant: str
    fit: str | None
    severities: tuple[float | None, float | None]
    first: float | None
    second: float | None
    test: statistics.Comparison
    protocol: list[tuple[str, Any, Any]]
    items: list[Item]
    left_out: int

    @property
    def flipped(self) -> list[Item]:
        """Return the samples that flipped, the largest change first."""
        found = [item for item in self.items if item.flips(self.unit)]
        return sorted(found, key=lambda item: (-abs(item.change), item.sample_id, item.repeat))

    @property
    def fell(self) -> bool:
        """Whether the second is worse than the first by more than chance (p < .05)."""
        difference, p = self.test.difference, self.test.p
        if difference is None or p is None or p >= 1 - statistics.LEVEL:
            return False
        return difference < 0 if self.higher_is_better else difference > 0


def compare(first: str | Path, second: str | Path, choice: Choice | None = None) -> Comparison:
    """Compare two files of scores of one benchmark; they may lie in different checkouts.

    Raises:
        RecordError: a file is no file of scores, or they share no sample.
        SpecError: a name is not in both files, or has to be given.
    """
    choice = choice or Choice()
    sides = [_opened(Path(path)) for path in (first, second)]
    names = sorted(set(_metrics_of(sides[0])) & set(_metrics_of(sides[1])))
    if choice.metric is not None and choice.metric not in names:
        raise unknown("compare", "metric", choice.metric, names)
    if not names:
        raise RecordError(f"{first} and {second} have no metric in common")
    first_metric = sides[0].determinants.get("first_metric")
    default = first_metric if first_metric in names else names[0]
    metric = metrics.load(choice.metric or default)
    variant, fit, severities = _read(sides, choice)
    shared = [key for key in sides[0].heads if key in sides[1].heads]
    if not shared:
        raise RecordError(f"{first} and {second} share no sample; compare cells of one benchmark")
    columns = [_columns(side, shared) for side in sides]
    benchmark = sides[0].cell[1]
    return Comparison(
        metric=metric.__name__.rsplit(".", 1)[-1],
        unit=metric.UNIT,
        higher_is_better=metric.HIGHER_IS_BETTER,
        variant=variant,
        fit=fit,
        severities=severities,
        first=metric.aggregate(columns[0].parts),
        second=metric.aggregate(columns[1].parts),
        test=statistics.compare(metric, columns[1], columns[0], benchmark),
        protocol=list(_protocol(sides[0].determinants, sides[1].determinants)),
        items=[_item(sides, key, metric) for key in shared],
        left_out=len({*sides[0].heads, *sides[1].heads}) - len(shared),
    )


def _opened(path: Path) -> Side:
    if path.is_dir() or path.suffix != ".parquet":
        raise RecordError(f"{path}: is no file of scores; {EXPECTED}")
    footer = read_footer(path)
    if footer.stage != "scores":
        raise RecordError(f"{path}: holds {footer.stage}, not scores; {EXPECTED}")
    return Side(path, footer.determinants)


def _within(determinants: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a mapping inside determinants; an empty one where there is none."""
    for key in keys:
        inner = determinants.get(key)
        determinants = inner if isinstance(inner, Mapping) else {}
    return determinants


def _metrics_of(side: Side) -> Mapping[str, Any]:
    return _within(side.determinants, "metrics")


def _read(
    sides: list[Side], choice: Choice
) -> tuple[str, str | None, tuple[float | None, float | None]]:
    """Read the rows of the chosen variant, fit and severity into both sides; return the choice."""
    rows = [list(RowFile(side.path, Score)) for side in sides]
    variants = {row.variant for row in rows[0]} & {row.variant for row in rows[1]}
    if not variants:
        told = " and ".join(", ".join(sorted({row.variant for row in some})) for some in rows)
        raise SpecError(f"compare: the two files have no variant in common; they hold {told}")
    scorer = sides[0].cell[3]
    variant = choice.variant or only_variant("compare", scorer, variants)
    if variant not in variants:
        raise unknown("compare", "variant", variant, sorted(variants))
    fits = sorted({str(row.fit) for row in rows[0] if row.fit is not None})
    fit = choice.fit or (fits[0] if fits else None)
    if fits and fit not in fits:
        raise unknown("compare", "fit", fit, fits)
    severities = [_severity(*pair, choice) for pair in zip(sides, rows, strict=True)]
    if choice.severity is not None and severities == [None, None]:
        raise SpecError("compare: --severity: neither file holds answers of several severities")
    for side, found, severity in zip(sides, rows, severities, strict=True):
        for row in found:
            if (row.variant, row.fit, row.severity) == (variant, fit, severity):
                _keep(side, row)
    return variant, fit, (severities[0], severities[1])


def _severity(side: Side, rows: Iterable[Score], choice: Choice) -> float | None:
    """Return the severity that is compared; a file of answers without one is taken as it is.

    Raises:
        SpecError: the file has several and none is chosen, or another one.
    """
    found = {row.severity for row in rows}
    known = sorted(severity for severity in found if severity is not None)
    if not known or (choice.severity is None and None in found):
        return None
    if choice.severity not in known:
        chosen = "" if choice.severity is None else f"{choice.severity:g} is none of them; "
        raise SpecError(
            f"{side.path}: its answers have severities; {chosen}choose with --severity: "
            f"{', '.join(f'{severity:g}' for severity in known)}"
        )
    return choice.severity


def _keep(side: Side, row: Score) -> None:
    if row.outcome in INFRASTRUCTURE_OUTCOMES or row.status == "no_ground_truth":
        return
    key = (row.sample_id, row.repeat)
    side.heads.setdefault(key, row)
    parts = side.parts.setdefault(key, {})
    if row.kind == "part" and row.value is not None:
        parts[row.name] = row.value


def _columns(side: Side, keys: list[Answer]) -> statistics.ColumnParts:
    names = sorted({name for key in keys for name in side.parts[key]})
    parts = {n: np.array([side.parts[key].get(n, np.nan) for key in keys]) for n in names}
    heads = [side.heads[key] for key in keys]
    return statistics.ColumnParts(
        parts=parts,
        sample_ids=[head.sample_id for head in heads],
        cluster_ids=[head.cluster_id for head in heads],
        population_n=heads[0].population_n,
    )


def _item(sides: list[Side], key: Answer, metric: Any) -> Item:
    first, second = (metric.value(side.parts[key]) for side in sides)
    valid = [side.heads[key].format_valid for side in sides]
    return Item(*key, first, second, *valid)


def _protocol(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what determines the two files and differs; who was asked is no protocol."""
    for key, old, new in differences(dict(first), dict(second)):
        if not WHO.search(key):
            yield key, old, new
