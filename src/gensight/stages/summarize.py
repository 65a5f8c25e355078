"""Summaries: every metric of every cell of one benchmark over its samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gensight import metrics, statistics
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import RowFile, Score, Summary, write_rows


def summarize(output: str, determinants: Mapping[str, Any]) -> int:
    """Write the summary of a benchmark; return the number of rows.

    One row per cell, scorer, variant, fit, severity, stratum and metric. Floors and ceilings are
    the best floor row and the ceiling row of the same prompt, scorer, variant, fit and stratum.
    """
    digests, roles = determinants["scores"], determinants["roles"]
    common = _common_valid(digests, roles)
    rows = [
        row
        for path, digest in digests.items()
        for row in _summarize_cell(path, digest, common if _is_measured(path, roles) else {})
    ]
    return write_rows(output, Summary, _with_bounds(rows, roles), determinants, digests)


#: The answers, as (sample, repeat), that every measured model gave in the asked format, by what
#: makes answers comparable: prompt, scorer and variant.
Common = Mapping[tuple[str, str, str], set[tuple[str, int]]]


def _common_valid(digests: Mapping[str, str], roles: Mapping[str, str]) -> Common:
    """Return what all measured models answered validly; nothing where there is only one model."""
    found: dict[tuple[str, str, str], list[set[tuple[str, int]]]] = defaultdict(list)
    for path, digest in digests.items():
        if not _is_measured(path, roles):
            continue
        _, _, prompt, scorer = _names_of(path)
        valid: dict[str, set[tuple[str, int]]] = defaultdict(set)
        for score in RowFile(path, Score, digest):
            answers = valid[score.variant]
            if score.format_valid:
                answers.add((score.sample_id, score.repeat))
        for variant, answers in valid.items():
            found[(prompt, scorer, variant)].append(answers)
    return {key: set.intersection(*sets) for key, sets in found.items() if len(sets) > 1}


def _is_measured(path: str, roles: Mapping[str, str]) -> bool:
    return roles[_names_of(path)[0]] == "measured"


def _names_of(path: str) -> list[str]:
    """Return model, benchmark, prompt and scorer of a scores file."""
    return path.removesuffix(".parquet").split("/")[2:]


class Group(NamedTuple):
    """What one summary row is about, besides the metric."""

    variant: str
    fit: str | None
    severity: float | None
    stratum: str | None


@dataclass
class _Answers:
    """The answers of one group, one entry per sample and repeat, in the file's order."""

    places: dict[tuple[str, int], int] = field(default_factory=dict)
    heads: list[Score] = field(default_factory=list)
    raw: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    value: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, score: Score) -> None:
        """Keep a score row: its answer once, its parts by name; metrics follow from parts."""
        key = (score.sample_id, score.repeat)
        if key not in self.places:
            self.places[key] = len(self.heads)
            self.heads.append(score)
        if score.kind == "part":
            _put(self.raw[score.name], self.places[key], score.raw)
            _put(self.value[score.name], self.places[key], score.value)

    def columns(self, parts: Mapping[str, Mapping[int, float]], keep: np.ndarray) -> Any:
        """Return parts as arrays over the kept answers; NaN where a part is not defined."""
        columns = {}
        for name, found in parts.items():
            column = np.full(len(self.heads), np.nan)
            column[list(found)] = list(found.values())
            columns[name] = column[keep]
        return columns


def _put(column: dict[int, float], place: int, number: float | None) -> None:
    if number is not None:
        column[place] = number


def _summarize_cell(path: str, digest: str, common: Common) -> Iterator[Summary]:
    model, benchmark, prompt, scorer = _names_of(path)
    file = RowFile(path, Score, digest)
    groups: dict[Group, _Answers] = defaultdict(_Answers)
    for score in file:
        groups[Group(score.variant, score.fit, score.severity, None)].add(score)
        if score.stratum is not None:
            groups[Group(score.variant, score.fit, score.severity, score.stratum)].add(score)
    names = file.footer.determinants["metrics"]
    for group, answers in groups.items():
        for name in names:
            cell = {"model": model, "benchmark": benchmark, "prompt": prompt, "scorer": scorer}
            shared = common.get((prompt, scorer, group.variant))
            yield _summary(cell, group, answers, name, shared)


def _summary(
    cell: dict[str, str],
    group: Group,
    answers: _Answers,
    name: str,
    shared: set[tuple[str, int]] | None,
) -> Summary:
    metric, heads = metrics.load(name), answers.heads
    infrastructure = np.array([h.outcome in INFRASTRUCTURE_OUTCOMES for h in heads])
    no_truth = np.array([h.status == "no_ground_truth" for h in heads])
    scored = ~infrastructure & ~no_truth
    valid = scored & np.array([h.format_valid for h in heads])
    common = valid & np.array([key in (shared or ()) for key in answers.places])
    clusters = [h.cluster_id for h, kept in zip(heads, scored, strict=True) if kept]
    parts = answers.columns(answers.value, scored)
    interval = statistics.interval(metric, parts, clusters)
    formats = np.array([h.format_valid for h in heads], np.float64)[scored]
    share = statistics.wilson_interval(formats, clusters)
    return Summary(
        **cell,
        **group._asdict(),
        metric=name,
        higher_is_better=metric.HIGHER_IS_BETTER,
        unit=metric.UNIT,
        value=_aggregated(metric, parts, scored),
        valid_only=_aggregated(metric, answers.columns(answers.raw, valid), valid),
        common_valid=_aggregated(metric, answers.columns(answers.raw, common), common),
        common_n=None if shared is None else int(common.sum()),
        n=int(scored.sum()),
        n_valid=int(valid.sum()),
        coverage=float(valid.sum() / scored.sum()) if scored.any() else None,
        infrastructure=int(infrastructure.sum()),
        no_ground_truth=int(no_truth.sum()),
        degenerate=sum(bool(h.degenerate_output) for h in heads),
        aspect_changed=sum(bool(h.aspect_changed) for h in heads),
        format_valid=float(formats.mean()) if formats.size else None,
        format_valid_low=share.low,
        format_valid_high=share.high,
        clusters=len(set(clusters)),
        n_eff=statistics.effective_n(metric, parts, clusters),
        interval_low=interval.low,
        interval_high=interval.high,
        interval_method=interval.method,
    )


def _aggregated(metric: ModuleType, parts: Any, kept: np.ndarray) -> float | None:
    """Return a metric over the kept answers, None where there are none or nothing is defined."""
    value = metric.aggregate(parts) if kept.any() else None
    return None if value is None or not np.isfinite(value) else float(value)


def _with_bounds(rows: list[Summary], roles: Mapping[str, str]) -> Iterator[Summary]:
    """Yield the rows with their floor and ceiling: those of the same prompt, else of any prompt.

    The floor is the best row that cannot see the sample or cannot understand the task; the
    ceiling paints the truth through the same interface.
    """
    best: dict[tuple[Any, ...], Summary] = {}
    for row in rows:
        role = roles[row.model]
        complete = row.severity is None and row.value is not None and not row.infrastructure
        if role in ("floor", "ceiling") and complete:
            for prompt in (row.prompt, None):
                key = (role, prompt, *_comparable(row))
                if key not in best or _is_better(row, best[key]):
                    best[key] = row
    for row in rows:
        bounds = {}
        for role in ("floor", "ceiling"):
            bound = best.get((role, row.prompt, *_comparable(row)))
            # A prompt without a bound of its own (planning first) borrows that of the others.
            bound = bound or best.get((role, None, *_comparable(row)))
            bounds[role] = bound.value if bound else None
            bounds[f"{role}_model"] = bound.model if bound else None
        yield replace(row, **bounds)


def _comparable(row: Summary) -> tuple[Any, ...]:
    return (row.scorer, row.variant, row.fit, row.stratum, row.metric)


def _is_better(row: Summary, other: Summary) -> bool:
    sign = 1 if row.higher_is_better else -1
    return sign * (row.value or 0.0) > sign * (other.value or 0.0)
