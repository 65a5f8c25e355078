"""Sources, stops and rubrics that do not fit each other end with one line beforehand."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from gensight.errors import SpecError
from gensight.plan import Plan
from gensight.specs.base import read_yaml
from gensight.specs.pixel_checks import check_pixels
from gensight.specs.project import load_project

ROOT = Path(__file__).resolve().parents[2]
STOP = {
    "models": ["nearest", "box"],
    "prompt": "grid_32",
    "scorer": "descriptor",
    "variant": "strict",
    "metric": "retrieval_top1",
    "scale": 100,
    "first": 4,
}


def config_with(**run):
    config = copy.deepcopy(read_yaml(ROOT / "config/config.yaml"))
    config["run"] |= run
    return config


def message_of(config):
    with pytest.raises(SpecError) as caught:
        load_project(config, ROOT)
    return str(caught.value)


def test_a_rank_among_the_samples_is_no_score_to_stop_by():
    alone = {"benchmarks": ["icons_i2p"], "tables": [], "figures": [], "n": {"icons_i2p": 12}}
    message = message_of(config_with(stop_when={"icons_i2p": STOP}, **alone))
    assert "run.stop_when.icons_i2p.metric: 'retrieval_top1' looks an answer up among" in message


def test_a_benchmark_whose_grids_are_asked_about_does_not_stop():
    rule = {**STOP, "scorer": "likeness", "metric": "ssim", "scale": 1}
    message = message_of(config_with(stop_when={"icons_i2p": rule}))
    assert "run.stop_when.icons_i2p: 'icons_understanding' asks about its grids" in message


@pytest.fixture(scope="module")
def project():
    return load_project(read_yaml(ROOT / "config/config.yaml"), ROOT)


def test_a_rubric_is_about_the_task_that_it_judges(project):
    judged = project.benchmarks["icons_t2p"].scorers["examiner"]
    benchmark = project.benchmarks["icons_i2p"]
    wrong = benchmark.model_copy(update={"scorers": {**benchmark.scorers, "points": judged}})
    with pytest.raises(SpecError, match="'pixel_icon' of 'pixel_icon_examiner' is about text_to"):
        check_pixels("b.yaml", wrong, project)


def test_cells_that_no_encoder_embeds_are_no_companions():
    """`across` names prompts whose grids another scorer's limits keep from being embedded."""
    project = load_project(config_with(prompts=["grid_16", "grid_32"]), ROOT)
    benchmark = project.benchmarks["icons_i2p"]
    found = benchmark.scorers["descriptor"].model_copy(
        update={
            "prompts": ["grid_32"],
            "across": ["grid_16", "grid_32"],
            "measure": "size_consistency",
            "settings": {},
            "metrics": ["size_consistency"],
        }
    )
    others = {**benchmark.scorers, "descriptor": found}
    project.benchmarks["icons_i2p"] = benchmark.model_copy(update={"scorers": others})
    planned = Plan(project).files()
    scores = planned["results/scores/box/icons_i2p/grid_32/descriptor.parquet"]
    assert not any("grid_16" in path for path in scores.inputs)
