"""Which answers make a summary: incomplete and failing cells, repeats, native spaces, told gaps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from gensight.digests import digest_of
from gensight.records import RowFile, Score, Summary, write_rows
from gensight.stages.summarize import summarize

N = 60


def rows(
    errors: Iterable[float | None],
    *,
    outcome: str = "refused_output",
    repeats: int = 1,
    variant: str = "dots",
    fit: str | None = None,
    names: tuple[str, str] = ("absolute_error", "mae"),
) -> list[Score]:
    """Scores of counts, one per sample and repeat; None is an answer with this outcome."""
    found = []
    for rank, error in enumerate(errors):
        for repeat in range(repeats):
            ok = error is not None
            head = {
                "sample_id": f"s{rank}",
                "rank": rank,
                "cluster_id": f"s{rank}",
                "repeat": repeat,
                "variant": variant,
                "fit": fit,
                "status": "ok" if ok else "no_output",
                "outcome": "ok" if ok else outcome,
                "format_valid": ok,
            }
            value = error if ok else (None if outcome == "quota" else 40.0)
            for name, kind in zip(names, ("part", "metric"), strict=True):
                found.append(Score(**head, kind=kind, name=name, raw=error, value=value))
    return found


@pytest.fixture
def summed(tmp_path, monkeypatch):
    """Summarise score rows by (model, prompt); return the rows by (model, prompt, variant, fit)."""
    monkeypatch.chdir(tmp_path)

    def _summed(cells, *, metric="mae", roles=None, native=None):
        models = {model for model, _ in cells}
        paths = {}
        for (model, prompt), found in cells.items():
            planned = {"stage": "scores", "cell": [model, prompt], "metrics": {metric: {}}}
            path = f"results/scores/{model}/toy/{prompt}/some.parquet"
            write_rows(path, Score, found, planned)
            paths[path] = digest_of(planned)
        plan = {
            "stage": "summaries",
            "benchmark": "toy",
            "subsets": [],
            "scores": paths,
            "roles": {model: (roles or {}).get(model, "measured") for model in models},
            "native": {model: (native or {}).get(model, "depth") for model in models},
            "failed_above": dict.fromkeys(models, 0.5),
            "groups": dict.fromkeys(models, "models"),
        }
        summarize("results/summaries/toy.parquet", plan)
        found = RowFile("results/summaries/toy.parquet", Summary)
        return {(row.model, row.prompt, row.variant, row.fit): row for row in found}

    return _summed


def noisy(seed: int, mean: float) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).gamma(2.0, mean / 2, N)]


def test_a_cell_that_waits_for_answers_is_ranked_with_nobody(summed):
    full = {("one", "mid"): rows(noisy(0, 2.0)), ("two", "mid"): rows(noisy(1, 9.0))}
    waiting = rows([*noisy(2, 5.0)[:5], *[None] * (N - 5)], outcome="quota")
    alone, together = summed(full), summed({**full, ("late", "mid"): waiting})
    late = together["late", "mid", "dots", None]
    assert (late.infrastructure, late.n, late.rank_low) == (N - 5, 5, None)
    for name in ("one", "two"):
        assert together[name, "mid", "dots", None] == alone[name, "mid", "dots", None]


def test_a_model_that_fails_by_its_format_leaves_the_common_answers_alone(summed):
    full = {("one", "mid"): rows(noisy(0, 2.0)), ("two", "mid"): rows(noisy(1, 9.0))}
    failing = rows([1.0, *[None] * (N - 1)])
    found = summed({**full, ("failing", "mid"): failing})
    assert found["one", "mid", "dots", None].common_n == N
    assert found["failing", "mid", "dots", None].common_n == 1


def test_n_counts_samples_however_often_each_was_asked_about(summed):
    row = summed({("one", "mid"): rows(noisy(0, 2.0), repeats=5)})["one", "mid", "dots", None]
    assert (row.n, row.n_valid, row.repeats, row.clusters) == (N, N, 5, N)


def test_a_native_row_is_bounded_in_its_own_space(summed):
    def both(depth: float, disparity: float) -> list[Score]:
        names = ("absrel", "absrel")
        return [
            *rows([depth] * N, fit="depth", names=names),
            *rows([disparity] * N, fit="disparity", names=names),
        ]

    cells = {
        ("plain", "mid"): both(0.2, 0.4),
        ("inverse", "mid"): both(0.4, 0.2),
        ("blind", "mid"): both(0.708, 0.468),
    }
    found = summed(
        cells, metric="absrel", roles={"blind": "floor"}, native={"inverse": "disparity"}
    )
    plain, inverse = (found[name, "mid", "dots", "native"] for name in ("plain", "inverse"))
    assert plain.value == pytest.approx(inverse.value)
    assert (plain.floor, inverse.floor) == (
        found["blind", "mid", "dots", "depth"].value,
        found["blind", "mid", "dots", "disparity"].value,
    )


def test_settings_of_one_model_are_told_apart_by_their_pairs(summed):
    base = noisy(0, 9.0)
    other = [value + 0.5 + 0.01 * (rank % 3) for rank, value in enumerate(base)]
    cells = {
        ("one", "mid"): [*rows(base), *rows(other, variant="other")],
        ("one", "short"): rows(other),
        ("two", "mid"): rows(noisy(5, 9.0)),
    }
    row = summed(cells)["one", "mid", "dots", None]
    # Two readings of the same answers differ by next to nothing but a constant.
    assert row.smallest_difference_variants < 0.01 < 1.0 < row.smallest_difference
    assert row.smallest_difference_prompts < 0.01
