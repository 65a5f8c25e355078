"""Whole cells of the pixel tasks, from samples to summaries: baselines, drawers and floors."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from pixel_road import ROOT, PixelRoad, reference

from gensight import images
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.methods import METHODS, pixelated
from gensight.pixels.quantisation import median_cut
from gensight.pixels.resampling import box_reduced
from gensight.stages.generate import Shard, conversation_of

WHITE = (255, 255, 255)


@pytest.fixture
def road(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return PixelRoad(tmp_path)


def metric(road, benchmark, name, model, prompt="grid_8", variant="strict"):
    """The number of a cell in its benchmark's summary."""
    (row,) = (
        row
        for row in road.rows(f"summaries/{benchmark}")
        if (row.model, row.prompt, row.metric, row.variant) == (model, prompt, name, variant)
        and row.stratum is None
        and row.severity is None
    )
    return row.value


def pictures_shown(road, path="results/generations/nearest/redraw/grid_8/all.parquet"):
    """The pictures that a cell's model is shown, by sample."""
    planned = road.plan().files()[path]
    shard = Shard.of(*planned.inputs, planned.determinants)
    talk = conversation_of(shard, "ledger")
    questions = [
        talk.first_question(request, shard.about(request), setting)
        for request, setting in shard.questions()
    ]
    return {question.sample_id: question.turn.parts[0].image for question in questions}


# -- end to end


@pytest.mark.parametrize("method", ["nearest", "box", "dpid_half"])
def test_a_baseline_answers_the_whole_road(road, method):
    road.edit("config/models/nearest.yaml", generation__method=method)
    road.run_of(models=["nearest"], benchmarks=["redraw"], n={"redraw": 3})
    road.make()
    shown = pictures_shown(road)
    predictions = road.rows("predictions/nearest/redraw/grid_8/grid")
    assert [(row.sample_id, row.variant) for row in predictions] == [
        (sample_id, variant) for sample_id in shown for variant in ("strict", "lenient")
    ]
    for row in predictions:
        picture = images.decode_rgb(shown[row.sample_id], matte=WHITE)
        assert row.text == pixelated(picture, 8, method).text()
    assert metric(road, "redraw", "valid_grid_share", "nearest") == 100
    assert metric(road, "redraw", "flat_grid_share", "nearest") == 0


def test_every_baseline_has_a_spec_that_names_it():
    """The ten of Table 25, and no method without a model."""
    specs = [yaml.safe_load(p.read_text()) for p in (ROOT / "config/models").glob("*.yaml")]
    named = [s["generation"]["method"] for s in specs if s["adapter"] == "pixelise"]
    assert sorted(named) == sorted(METHODS)


def test_drawers_and_floors_are_scored_as_they_are(road):
    """Ceiling, noise and one colour, each told apart by the numbers of the same road."""
    road.run_of(models=["drawer", "noise", "flat"], benchmarks=["draw"])
    road.make()
    for model in ("drawer", "noise", "flat"):
        assert metric(road, "draw", "valid_grid_share", model) == 100
    assert metric(road, "draw", "flat_grid_share", "flat") == 100
    assert metric(road, "draw", "flat_grid_share", "noise") == 0
    found = {
        model: metric(road, "draw", "retrieval_top1", model)
        for model in ("drawer", "noise", "flat")
    }
    assert found["drawer"] > max(found["noise"], found["flat"])
    for row in road.rows("predictions/drawer/draw/grid_8/grid"):
        (sample,) = (s for s in road.rows("samples/draw") if s.sample_id == row.sample_id)
        drawing = images.decode_rgb(sample.target_image["bytes"], matte=WHITE)
        assert row.text == median_cut(box_reduced(drawing, 8)).text()


def test_a_disturbed_drawer_has_a_number_for_every_severity(road):
    spoilt = reference("drawer", "text_to_pixel", grid_disturbance="collapse", severities=[0, 2, 8])
    road.write("config/models/drawer.yaml", {**spoilt, "role": "disturbed"})
    failing = {
        "extractor": "palette_grid",
        "reading": "grid",
        "measure": "grid_failures",
        "metrics": ["mean_collapse_factor"],
    }
    road.edit("config/benchmarks/draw.yaml", scorers__failures=failing)
    road.run_of(models=["drawer"], benchmarks=["draw"])
    road.make()
    grids = {
        row.severity: stored_grid(row.text)
        for row in road.rows("predictions/drawer/draw/grid_8/grid")
        if row.rank == 0
    }
    assert set(grids) == {0, 2, 8}
    assert len(np.unique(grids[8].cells)) == 1
    factors = {
        row.severity: row.value
        for row in road.rows("summaries/draw")
        if (row.metric, row.variant, row.stratum) == ("mean_collapse_factor", "strict", None)
    }
    assert factors[0] < 2 <= factors[2]


def test_a_choice_of_the_first_letter_is_right_where_a_is(road):
    road.run_of(models=["nearest", "first_option"], benchmarks=["redraw", "name"])
    road.make()
    letters = [row.target_text for row in road.rows("samples/name")]
    expected = 100 * letters.count("A") / len(letters)
    for prompt in ("letter_8", "shuffled_8"):
        found = metric(road, "name", "exact_match", "first_option", prompt)
        assert found == pytest.approx(expected)
