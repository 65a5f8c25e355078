"""Sweeps: no picture on both sides, the argmin of the training fold, every point of the grid."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.digests import digest_of
from gensight.errors import RecordError
from gensight.extractors import grid
from gensight.records import RowFile, Score, Summary, write_rows
from gensight.stages.sweep import FOLDS, deal, sweep

GRID = {"floor": [150, 160], "shape": [0.5, 0.6, 0.7]}
MODELS = ("one", "two", "three")
PICTURES = 10


def error_of(model: str, picture: int, floor: int, shape: float) -> float:
    """An error that depends on everything, so that no two points are equal."""
    model_part = MODELS.index(model) * 0.7
    return abs(picture - 4) * (170 - floor) / 10 + abs(shape - 0.6) * picture + model_part


def scores(model: str) -> list[Score]:
    rows = []
    for point in grid.combinations(GRID):
        for picture in range(PICTURES):
            error = error_of(model, picture, **point)
            head = {
                "sample_id": f"picture{picture}/cups",
                "rank": picture,
                "cluster_id": f"picture{picture}",
                "variant": grid.variant_name(point),
                "status": "ok",
                "outcome": "ok",
                "format_valid": True,
            }
            for name, kind in (("absolute_error", "part"), ("mae", "metric")):
                rows.append(Score(**head, kind=kind, name=name, raw=error, value=error))
    return rows


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """The sweep's rows by (point, fold or parameters, metric), and the folds by picture."""
    monkeypatch.chdir(tmp_path)
    paths = {}
    for model in MODELS:
        planned = {"stage": "scores", "model": model, "metrics": {"mae": {}}}
        path = f"results/scores/{model}/toy/mid/sweep.parquet"
        write_rows(path, Score, scores(model), planned)
        paths[path] = digest_of(planned)
    sweep("results/sweeps/toy.parquet", "results/sweeps/toy.folds.csv", determinants(paths))
    rows = RowFile("results/sweeps/toy.parquet", Summary)
    with Path("results/sweeps/toy.folds.csv").open(encoding="utf-8") as file:
        folds = {row["cluster_id"]: row["fold"] for row in csv.DictReader(file)}
    return {(row.model, row.variant, row.metric): row for row in rows}, folds


def determinants(paths):
    return {
        "stage": "sweeps",
        "sweep": "toy",
        "parameters": {"grid": GRID},
        "scores": paths,
        "spec": {
            "benchmark": "toy",
            "prompt": "mid",
            "scorer": "sweep",
            "metric": "mae",
            "subjects": "some",
            "folds": {"assumed_seed": 0, "train_share": 0.5},
            "previous": {"floor": 150, "shape": 0.6},
            "adopted": {"floor": 160, "shape": 0.6},
        },
    }


def mean_error(folds, fold, point):
    """The pooled error of a fold, by hand."""
    pictures = [p for p in range(PICTURES) if folds[f"picture{p}"] == fold]
    errors = [error_of(m, p, **point) for m, p in product(MODELS, pictures)]
    return sum(errors) / len(errors), len(errors)


def test_every_point_of_the_grid_has_both_folds_pooled_over_models(swept):
    rows, folds = swept
    for point, fold in product(grid.combinations(GRID), FOLDS):
        row = rows[grid.variant_name(point), fold, "mae"]
        value, n = mean_error(folds, fold, point)
        assert row.value == pytest.approx(value)
        assert row.n == n == 15


def test_the_argmin_is_the_training_folds_and_the_validation_fold_reports(swept):
    rows, folds = swept
    points = grid.combinations(GRID)
    best = min(points, key=lambda point: mean_error(folds, "train", point)[0])
    row = rows["argmin", "validation", "mae"]
    assert row.value == pytest.approx(mean_error(folds, "validation", best)[0])
    found = {name: rows["argmin", "parameters", name].value for name in GRID}
    assert found == best


@pytest.mark.parametrize("name", ["previous", "adopted"])
def test_named_points_have_their_parameters_and_numbers(swept, name):
    rows, folds = swept
    point = determinants({})["spec"][name]
    assert {key: rows[name, "parameters", key].value for key in GRID} == point
    value, _ = mean_error(folds, "validation", point)
    assert rows[name, "validation", "mae"].value == pytest.approx(value)


def test_a_picture_lies_in_one_fold_whichever_model_answered(swept):
    _, folds = swept
    assert len(folds) == PICTURES
    assert sorted(folds.values()) == ["train"] * 5 + ["validation"] * 5


@settings(max_examples=60, deadline=None)
@given(st.sets(st.text(min_size=1, max_size=4), min_size=2, max_size=30), st.integers(0, 5))
def test_folds_part_the_clusters_and_both_hold_some(clusters, seed):
    folds = deal(clusters, seed, 0.5)
    assert set(folds) == clusters
    assert set(folds.values()) == set(FOLDS)
    assert folds == deal({*sorted(clusters)}, seed, 0.5)


def test_another_seed_deals_otherwise():
    clusters = {f"c{i}" for i in range(40)}
    assert deal(clusters, 0, 0.5) != deal(clusters, 1, 0.5)


def test_a_sweep_without_models_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordError, match=r"list its models under run\.subjects\.some"):
        sweep("x.parquet", "x.csv", determinants({}))


def test_while_answers_are_missing_no_point_is_best(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        replace(row, outcome="quota", status="no_output", raw=None, value=None)
        if row.sample_id.startswith("picture3/")
        else row
        for row in scores("one")
    ]
    planned = {"stage": "scores", "metrics": {"mae": {}}}
    path = "results/scores/one/toy/mid/sweep.parquet"
    write_rows(path, Score, rows, planned)
    sweep("x.parquet", "x.csv", determinants({path: digest_of(planned)}))
    found = {(row.model, row.variant): row for row in RowFile("x.parquet", Summary)}
    assert ("argmin", "train") not in found
    both = [found["previous", fold] for fold in FOLDS]
    assert sum(row.infrastructure for row in both) == 1
    assert sum(row.n for row in both) == PICTURES - 1
