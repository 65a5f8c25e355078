"""Measured models through the whole road: classes, losses, ranks, best sets, a sweep, repeats.

Reference models play the part of measured ones: a clear winner, a weaker one, and one whose answers
do not have the asked format.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml
from conftest import Checkout, write_small_config

from gensight.records import RowFile, Score, Summary

pytestmark = pytest.mark.workflow

MEASURED = {
    "winner": {"method": "oracle"},
    "weaker": {"method": "prior_centre"},
    "copier": {"method": "echo"},
}
CLASSIFY = {
    "extractor": "failure_class",
    "prompts": ["mid"],
    "roles": ["measured"],
    "measure": "failure_class",
    "metrics": ["class_share"],
}
TABLE = {
    "title": "Measured",
    "caption": "Measured.",
    "label": "tab:measured",
    "columns": [
        {
            "benchmark": "scenes_segmentation",
            "scorer": "mask",
            "variant": "otsu",
            "metric": "giou",
            "header": "gIoU",
        },
        {
            "benchmark": "scenes_segmentation",
            "scorer": "failures",
            "fit": "copy",
            "metric": "class_share",
            "header": "copies",
            "ranked": False,
        },
    ],
    "options": {"bold": "best_set", "show_rank": True},
}
SWEEP = {
    "benchmark": "scenes_counting",
    "scorer": "swept",
    "metric": "mae",
    "subjects": "swept",
    "previous": {"min_circularity": 0.6, "saturation_floor": 150},
    "adopted": {"min_circularity": 0.6, "saturation_floor": 160},
}
SWEPT = {
    "extractor": "grid",
    "prompts": ["mid"],
    "subjects": "swept",
    "ranks": 6,
    "parameters": {
        "extractor": "dots",
        "variant": "diff_red_blob",
        "grid": {"min_circularity": [0.6, 0.7], "saturation_floor": [150, 160]},
    },
    "measure": "count_match",
    "metrics": ["mae"],
    "summarised": False,
}
SWEPT_TABLE = {
    "title": "Swept",
    "caption": "Swept.",
    "label": "tab:swept",
    "rows": {
        "heading": "Parameter",
        "entries": [
            {
                "label": "Saturation floor",
                "select": {"metric": "saturation_floor", "variant": "parameters"},
                "decimals": 0,
            },
            {"label": "Validation", "select": {"variant": "validation"}, "decimals": 2},
        ],
    },
    "columns": [
        {
            "benchmark": "toy_sweep",
            "model": point,
            "scorer": "swept",
            "metric": "mae",
            "header": point,
        }
        for point in ("previous", "argmin", "adopted")
    ],
    "options": {"bold": "none", "show_coverage": False},
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Checkout:
    """A run of three measured models on 24 small scenes, with classes, a sweep and repeats."""
    made = Checkout(tmp_path_factory.mktemp("measured") / "checkout")
    models = ["oracle", "constant", *MEASURED, "voter"]
    write_small_config(
        made,
        models=models,
        prompts=["mid"],
        tables=["measured", "swept"],
        subjects={"swept": ["oracle", "copier"]},
    )
    for name, generation in MEASURED.items():
        spec = {"adapter": "reference", "generation": generation, "fitted": name == "weaker"}
        spec |= {"display": {"label": name.capitalize(), "group": "generalist"}}
        made.write_yaml(f"config/models/{name}.yaml", spec)
    made.write_yaml(
        "config/models/voter.yaml",
        {
            "adapter": "reference",
            "generation": {"method": "oracle", "disturbance": "noise", "severities": [30]},
            "repeats": 3,
            "tasks": ["segmentation"],
            "role": "disturbed",
            "display": {"label": "Voter"},
        },
    )
    made.write_yaml("config/tables/measured.yaml", TABLE)
    made.write_yaml("config/tables/swept.yaml", SWEPT_TABLE)
    (made.folder / "config/sweeps/toy_sweep.yaml").write_text(yaml.safe_dump(SWEEP))
    path = "config/benchmarks/scenes_segmentation.yaml"
    classify = {**CLASSIFY, "parameters": {"task": "segmentation"}}
    made.edit(path, n=24, subsets=[6], scorers__failures=classify)
    path = "config/benchmarks/scenes_counting.yaml"
    made.edit(path, n=6, scorers__swept=SWEPT)
    made.run()
    return made


def summary(checkout: Checkout, **wanted: object) -> Summary:
    rows = RowFile(checkout.folder / "results/summaries/scenes_segmentation.parquet", Summary)
    (row,) = [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]
    return row


def table(checkout: Checkout, name: str) -> dict[tuple[str, str], dict[str, str]]:
    text = (checkout.folder / f"results/tables/{name}.csv").read_text()
    return {(row["label"], row["column"]): row for row in csv.DictReader(text.splitlines())}


def test_classes_reach_the_scores_of_measured_models_alone(measured: Checkout) -> None:
    for model, expected in (("copier", {"copy"}), ("oracle", {None})):
        path = measured.folder / f"results/scores/{model}/scenes_segmentation/mid/mask.parquet"
        assert {row.failure_blind for row in RowFile(path, Score)} == expected
    assert not Path(
        measured.folder / "results/predictions/oracle/scenes_segmentation/mid/failure_class.parquet"
    ).exists()


def test_a_model_that_copies_prints_a_cross_and_the_others_are_ranked(measured: Checkout) -> None:
    cells = table(measured, "measured")
    copier, winner = cells["Copier", "gIoU"], cells["Winner", "gIoU"]
    assert (copier["status"], copier["printed"]) == ("failed", "×")
    assert (winner["printed"], winner["best"]) == ("100.0", "True")
    assert winner["group_rank_low"] == winner["group_rank_high"] == "1"
    assert cells["Weaker", "gIoU"]["best"] == "False"
    assert cells["Copier", "copies"]["printed"] == "100.0"
    assert cells["Oracle", "gIoU"]["group_rank_low"] == ""


def test_the_first_ranks_are_summarised_by_themselves(measured: Checkout) -> None:
    place = {"model": "winner", "scorer": "mask", "metric": "giou"}
    assert summary(measured, **place, stratum="first_6").n == 6
    assert summary(measured, **place, stratum=None).n == 24


def test_repeats_agree_on_more_than_each_of_them_says(measured: Checkout) -> None:
    place = {"model": "voter", "scorer": "mask", "metric": "giou", "stratum": None}
    alone = summary(measured, **place, variant="otsu")
    agreed = summary(measured, **place, variant="otsu_consensus")
    assert (alone.n, alone.repeats, agreed.n, agreed.repeats) == (24, 3, 24, 1)
    assert agreed.value > alone.value


def test_a_sweep_shows_its_points(measured: Checkout) -> None:
    cells = table(measured, "swept")
    assert cells["Saturation floor", "previous"]["printed"] == "150"
    assert cells["Saturation floor", "adopted"]["printed"] == "160"
    assert float(cells["Validation", "argmin"]["number"]) >= 0
    folds = (measured.folder / "results/sweeps/toy_sweep.folds.csv").read_text().splitlines()
    assert folds[0] == "cluster_id,fold" and len(folds) == 7


def test_nothing_is_to_be_done_afterwards(measured: Checkout) -> None:
    assert measured.planned() == {}


def test_a_classifier_of_another_version_is_asked_again_and_no_model_is(
    measured: Checkout,
) -> None:
    path = "src/gensight/extractors/failure_class.py"
    text = (measured.folder / path).read_text()
    changed = text.replace("\nVERSION = 2\n", "\nVERSION = 99\n")
    assert changed != text
    (measured.folder / path).write_text(changed)
    jobs = measured.planned()
    (measured.folder / path).write_text(text)
    assert not any(name.startswith("generate") for name in jobs)
    # Three measured cells are classified again; their masks are scored again, not read again.
    assert jobs["extract"] == 3
    assert jobs["score"] == 6
