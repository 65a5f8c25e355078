"""Summaries of several models: coverage, what all answered validly, floors and ceilings."""

from __future__ import annotations

import pytest

from gensight.digests import digest_of
from gensight.records import RowFile, Score, Summary, write_rows
from gensight.stages.summarize import summarize

#: model: the absolute error of each of four counts, None where the answer failed.
ERRORS = {
    "brave": [0.0, 2.0, 4.0, 30.0],
    "shy": [1.0, 3.0, 5.0, None],
    "steady": [2.0, 2.0, 2.0, 2.0],
    "blind": [9.0, 9.0, 9.0, 9.0],
    "truth": [0.0, 0.0, 0.0, 0.0],
}
ROLES = dict.fromkeys(("brave", "shy", "steady"), "measured")
ROLES |= {"blind": "floor", "truth": "ceiling"}
#: What a failed answer is scored as.
POLICY = 40.0


def scores(errors: list[float | None]) -> list[Score]:
    rows = []
    for rank, error in enumerate(errors):
        ok = error is not None
        head = {
            "sample_id": f"s{rank}",
            "rank": rank,
            "cluster_id": f"s{rank}",
            "variant": "dots",
            "status": "ok" if ok else "no_output",
            "outcome": "ok" if ok else "refused_output",
            "format_valid": ok,
        }
        value = error if ok else POLICY
        for name, kind in (("absolute_error", "part"), ("mae", "metric")):
            rows.append(Score(**head, kind=kind, name=name, raw=error, value=value))
    return rows


@pytest.fixture
def summary_rows(tmp_path, monkeypatch) -> dict[tuple[str, str | None], Summary]:
    """The rows of a summary by model and stratum."""
    monkeypatch.chdir(tmp_path)
    planned = {"stage": "scores", "metrics": {"mae": {"metric_version": 1}}}
    paths = {}
    for model, errors in ERRORS.items():
        path = f"results/scores/{model}/toy/mid/dots.parquet"
        write_rows(path, Score, scores(errors), planned)
        paths[path] = digest_of(planned)
    determinants = {
        "stage": "summaries",
        "benchmark": "toy",
        "subsets": [2],
        "scores": paths,
        "roles": ROLES,
        "native": dict.fromkeys(ERRORS, "depth"),
        "failed_above": dict.fromkeys(ERRORS, 0.5),
        "groups": {"brave": "models", "shy": "models", "steady": "others"},
    }
    summarize("results/summaries/toy.parquet", determinants)
    rows = RowFile("results/summaries/toy.parquet", Summary)
    return {(row.model, row.stratum): row for row in rows}


@pytest.fixture
def summaries(summary_rows) -> dict[str, Summary]:
    """The rows of all samples, by model."""
    return {model: row for (model, stratum), row in summary_rows.items() if stratum is None}


def test_a_failure_counts_and_is_left_out_beside_it(summaries):
    shy = summaries["shy"]
    assert (shy.value, shy.valid_only) == (49.0 / 4, 3.0)
    assert (shy.n, shy.n_valid, shy.coverage) == (4, 3, 0.75)


def test_the_common_value_is_over_what_every_measured_model_answered(summaries):
    found = {name: summaries[name].common_valid for name in ("brave", "shy", "steady")}
    assert found == {"brave": 2.0, "shy": 3.0, "steady": 2.0}
    assert {summaries[name].common_n for name in found} == {3}


def test_reference_rows_take_no_part_in_it(summaries):
    assert summaries["blind"].common_valid is None
    assert summaries["truth"].common_n is None


def test_floor_and_ceiling_are_those_of_the_roles(summaries):
    row = summaries["brave"]
    assert (row.floor, row.floor_model, row.ceiling, row.ceiling_model) == (
        9.0,
        "blind",
        0.0,
        "truth",
    )


def test_the_first_ranks_have_a_row_of_their_own(summary_rows):
    first = summary_rows["brave", "first_2"]
    assert (first.value, first.n) == (1.0, 2)
    assert {stratum for _, stratum in summary_rows} == {None, "first_2"}


def test_measured_models_are_ranked_in_the_column_and_in_their_group(summaries):
    sizes = {name: (row.family_size, row.group_size) for name, row in summaries.items()}
    assert sizes == {
        "brave": (3, 2),
        "shy": (3, 2),
        "steady": (3, 1),
        "blind": (None, None),
        "truth": (None, None),
    }
    for name in ("brave", "shy", "steady"):
        row = summaries[name]
        assert 1 <= row.rank_low <= row.rank_high <= 3
