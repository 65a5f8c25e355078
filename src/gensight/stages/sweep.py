"""Sweeps: every point of a grid of parameters, on the fold that chooses and the fold that reports.

Source: ProbeGen A.2. All answers about one source picture (one cluster) lie in the same fold,
whichever model gave them, so no picture is seen on both sides. The best point is found on the
training fold alone; the number to report is the validation fold's. Answers of all models are
pooled with equal weight, failed ones under the benchmark's failure policy.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gensight import metrics
from gensight.atomic import write_text
from gensight.errors import RecordError
from gensight.extractors import grid
from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.records import RowFile, Score, Summary, write_rows
from gensight.specs.conventions import POINTS

FOLDS = ("train", "validation")


def sweep(output: str, folds: str, determinants: Mapping[str, Any]) -> int:
    """Write a sweep's numbers and its folds; return the number of rows.

    One row per point and fold, in the columns of a summary: `model` is the point, `variant` the
    fold. The points `previous`, `argmin` and `adopted` come first, with one more row for each
    parameter (metric: its name).
    """
    plan = determinants["spec"]
    points = {
        grid.variant_name(p): p for p in grid.combinations(determinants["parameters"]["grid"])
    }
    pools = _pools(determinants)
    fold_of = deal(
        {cluster for pool in pools.values() for cluster in pool.clusters}, **plan["folds"]
    )
    metric = metrics.load(plan["metric"])
    found = {
        (name, fold): pool.summary(metric, [fold_of[c] == fold for c in pool.clusters])
        for name, pool in pools.items()
        for fold in FOLDS
    }
    named = _named(points, found, plan, metric)
    write_text(Path(folds), _folds_csv(fold_of))
    rows = _rows(determinants, points, found, named, metric)
    return write_rows(output, Summary, rows, determinants, determinants["scores"])


def deal(clusters: set[str], assumed_seed: int, train_share: float) -> dict[str, str]:
    """Return the fold of every cluster: the first share by sha256("{seed}/{cluster}") trains.

    The training fold holds at least one cluster and leaves one, where there are two.

    >>> sorted(deal({"a", "b", "c", "d"}, 0, 0.5).values())
    ['train', 'train', 'validation', 'validation']
    """
    order = sorted(
        clusters, key=lambda c: (hashlib.sha256(f"{assumed_seed}/{c}".encode()).hexdigest(), c)
    )
    cut = min(max(1, round(train_share * len(order))), max(1, len(order) - 1))
    return {cluster: FOLDS[place >= cut] for place, cluster in enumerate(order)}


class Found(NamedTuple):
    """What a point reads on one fold; `missing` answers never arrived."""

    value: float | None
    n: int
    n_valid: int
    missing: int


@dataclass
class _Pool:
    """The parts of every answer that one point of the grid read, over all models."""

    keys: dict[tuple[str, str, int], int] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    arrived: list[bool] = field(default_factory=list)
    parts: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, model: str, score: Score) -> None:
        key = (model, score.sample_id, score.repeat)
        if key not in self.keys:
            self.keys[key] = len(self.keys)
            self.clusters.append(score.cluster_id)
            self.valid.append(score.format_valid)
            self.arrived.append(score.outcome not in INFRASTRUCTURE_OUTCOMES)
        if score.kind == "part" and score.value is not None:
            self.parts[score.name][self.keys[key]] = score.value

    def summary(self, metric: ModuleType, fold: Sequence[bool]) -> Found:
        """Return the metric over the answers of a fold that arrived, and how many there are."""
        arrived = np.array(self.arrived, np.bool_)
        keep = np.array(fold, np.bool_) & arrived
        columns = {}
        for name, found in self.parts.items():
            column = np.full(len(self.keys), np.nan)
            column[list(found)] = list(found.values())
            columns[name] = column[keep]
        return Found(
            value=metric.aggregate(columns) if keep.any() else None,
            n=int(keep.sum()),
            n_valid=int((keep & np.array(self.valid, np.bool_)).sum()),
            missing=int((np.array(fold, np.bool_) & ~arrived).sum()),
        )


def _pools(determinants: Mapping[str, Any]) -> dict[str, _Pool]:
    pools: dict[str, _Pool] = defaultdict(_Pool)
    for path, digest in determinants["scores"].items():
        model = path.split("/")[2]
        for score in RowFile(path, Score, digest):
            pools[score.variant].add(model, score)
    if not pools:
        raise RecordError(
            f"sweep '{determinants['sweep']}' has no scores to pool; list its models under "
            f"run.subjects.{determinants['spec']['subjects']}"
        )
    return dict(pools)


Points = Mapping[str, Mapping[str, Any]]
FoundByFold = Mapping[tuple[str, str], Found]


def _named(
    points: Points, found: FoundByFold, plan: Mapping[str, Any], metric: ModuleType
) -> dict[str, str]:
    """Return the grid's name of each named point; of equal points the first by name is best.

    While answers are missing no point is called best.
    """
    by_values = {tuple(sorted(point.items())): name for name, point in points.items()}
    named = {key: by_values[tuple(sorted(plan[key].items()))] for key in ("previous", "adopted")}
    sign = -1 if metric.HIGHER_IS_BETTER else 1
    measured = {n: found[(n, "train")].value for n in sorted(points)}
    known = {name: value for name, value in measured.items() if value is not None}
    if known and not any(one.missing for one in found.values()):
        named["argmin"] = min(known, key=lambda name: sign * known[name])
    return named


def _rows(
    determinants: Mapping[str, Any],
    points: Points,
    found: FoundByFold,
    named: Mapping[str, str],
    metric: ModuleType,
) -> Iterator[Summary]:
    spec = determinants["spec"]
    facts = {
        "benchmark": determinants["sweep"],
        "prompt": spec["prompt"],
        "scorer": spec["scorer"],
        "coverage": None,
        "clusters": 0,
    }
    listed = [(key, named[key]) for key in POINTS if key in named]
    listed += [(name, name) for name in sorted(points)]
    for (shown, name), fold in product(listed, FOLDS):
        one = found[(name, fold)]
        yield Summary(
            **facts,
            model=shown,
            variant=fold,
            metric=spec["metric"],
            higher_is_better=metric.HIGHER_IS_BETTER,
            unit=metric.UNIT,
            value=one.value,
            n=one.n,
            n_valid=one.n_valid,
            infrastructure=one.missing,
        )
    for key, name in listed[: len(named)]:
        for parameter, setting in sorted(points[name].items()):
            yield Summary(
                **facts,
                model=key,
                variant="parameters",
                metric=parameter,
                higher_is_better=True,
                unit="",
                value=float(setting),
                n=0,
                n_valid=0,
            )


def _folds_csv(fold_of: Mapping[str, str]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("cluster_id", "fold"))
    writer.writerows(sorted(fold_of.items()))
    return buffer.getvalue()
