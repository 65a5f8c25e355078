"""Score files of made-up models, and the determinants of an aggregate over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gensight.digests import digest_of
from gensight.records import RowFile, Score, Summary, write_rows
from gensight.specs.aggregates import AggregateSpec
from gensight.stages.aggregate import aggregate

#: The two parts that `exact_match` (a rate, in percent) and `giou` (a mean, in percent) read.
EXACT, IOU = "exact", "iou"
Values = Sequence[float | None]


class Cells:
    """Score files by model, benchmark and prompt under the scorer `read`, as they are written."""

    def __init__(self) -> None:
        self.scores: dict[str, str] = {}

    def add(
        self,
        model: str,
        place: str,
        parts: Mapping[str, Values],
        *,
        lost: Sequence[int] = (),
        invalid: Sequence[int] = (),
        order: Sequence[int] | None = None,
        clusters: Sequence[str] | None = None,
        scorer: str = "read",
    ) -> None:
        """Write one file: `parts` by name over samples; of a lost answer nothing arrived."""
        n = len(next(iter(parts.values())))
        rows = []
        for item in range(n) if order is None else order:
            head = {
                "sample_id": f"s{item:03}",
                "rank": item,
                "cluster_id": clusters[item] if clusters else f"c{item:03}",
                "variant": "plain",
                "status": "no_output" if item in lost else "ok",
                "outcome": "quota" if item in lost else "ok",
                "format_valid": item not in lost and item not in invalid,
            }
            for name, values in parts.items():
                number = None if item in lost else values[item]
                raw = None if item in invalid else number
                rows.append(Score(**head, kind="part", name=name, raw=raw, value=number))
        planned = {"stage": "scores", "model": model, "place": place, "scorer": scorer}
        path = f"results/scores/{model}/{place}/{scorer}.parquet"
        write_rows(path, Score, rows, planned)
        self.scores[path] = digest_of(planned)


def number(place: str, metric: str, **more: str) -> dict[str, str]:
    benchmark, prompt = place.split("/")
    found = {"benchmark": benchmark, "prompt": prompt, "scorer": "read", "metric": metric}
    return {**found, **more}


def made(
    spec: Mapping,
    scores: Mapping[str, str],
    name: str = "both",
    roles: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    aggregates: Mapping[str, str] | None = None,
) -> dict[tuple[str, str], Summary]:
    """Write an aggregate's file and return its rows by (model, metric); kept: its digest."""
    models = {path.split("/")[2] for path in scores}
    determinants = {
        "stage": "aggregates",
        "stage_version": 1,
        "aggregate": name,
        "spec": AggregateSpec.model_validate(spec).model_dump(),
        "roles": roles or dict.fromkeys(sorted(models), "measured"),
        "groups": groups or {},
        "scores": dict(scores),
        "aggregates": dict(aggregates or {}),
    }
    path = Path(f"results/aggregates/{name}.parquet")
    written = aggregate(str(path), determinants)
    rows = list(RowFile(path, Summary, determinants))
    assert written == len(rows)
    return {(r.model, r.metric): r for r in rows if r.scorer == "aggregate"}


def digest_at(name: str) -> str:
    return RowFile(f"results/aggregates/{name}.parquet", Summary).footer.digest
