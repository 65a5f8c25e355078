"""Features and galleries: what is embedded, how often, and what a change embeds again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pixel_road import FOUND, ROOT, PixelRoad, reference, some_grid

from gensight import encoders, images
from gensight.cli.checkout import load_checkout
from gensight.errors import RecordError, SpecError
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.resampling import box_reduced
from gensight.records import Candidate, Feature, Prediction, write_rows
from gensight.stages.embed import AT_ONCE, embed
from gensight.stages.features import CellFeatures

DRAW, REDRAW = "config/benchmarks/draw.yaml", "config/benchmarks/redraw.yaml"
DESCRIPTOR = "config/encoders/descriptor.yaml"
SETTINGS = encoders.complete("descriptor", {})


@pytest.fixture
def road(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = PixelRoad(tmp_path)
    made.run_of(models=["painter", "nearest"], benchmarks=["redraw"], prompts=["grid_8"])
    made.answers["painter"] = lambda question: some_grid(8, seed=rank_of(question)).text()
    return made


@pytest.fixture
def embedded(monkeypatch):
    """Every picture that an encoder is given, in order; the encoder embeds it all the same."""
    seen, opened = [], encoders.open_encoder

    def watched(*arguments):
        encoder = opened(*arguments)

        class Watched:
            setup = encoder.setup

            def pictures(self, pictures):
                seen.append([picture.shape for picture in pictures])
                return encoder.pictures(pictures)

            def texts(self, texts):
                seen.append(list(texts))
                return encoder.texts(texts)

        return Watched()

    monkeypatch.setattr(encoders, "open_encoder", watched)
    return seen


def rank_of(question):
    return int(question.sample_id[-6:])


def vector_of(*pictures):
    return encoders.open_encoder("descriptor", SETTINGS, Path()).pictures(pictures)


# -- features


def test_a_reading_has_the_vector_of_its_enlarged_grid(road):
    road.make("features/painter/redraw/grid_8/descriptor")
    rows = road.rows("features/painter/redraw/grid_8/descriptor")
    predictions = {
        (row.sample_id, row.variant): row.text
        for row in road.rows("predictions/painter/redraw/grid_8/grid")
    }
    assert [(row.sample_id, row.variant) for row in rows] == list(predictions)
    for row in rows:
        grid = stored_grid(predictions[row.sample_id, row.variant])
        # 64 x 64 px a cell: 512 = 8 * 64.
        (expected,) = vector_of(grid.enlarged(64))
        assert np.array_equal(np.array(row.vector, np.float32), expected)
        assert np.linalg.norm(row.vector) == pytest.approx(1, abs=1e-5)


def test_equal_grids_are_embedded_once(road, embedded):
    """Two readings each of six answers, of which four are alike: three distinct grids."""
    road.answers["painter"] = lambda q: some_grid(8, seed=max(3, rank_of(q))).text()
    road.make("features/painter/redraw/grid_8/descriptor")
    rows = road.rows("features/painter/redraw/grid_8/descriptor")
    assert (len(rows), embedded) == (12, [[(512, 512, 3)] * 3])
    vectors = {row.sample_id: row.vector for row in rows}
    assert len({tuple(vector) for vector in vectors.values()}) == 3


def predicted(texts):
    for rank, text in enumerate(texts):
        ok = text is not None
        yield Prediction(
            sample_id=f"s{rank}",
            rank=rank,
            cluster_id="c",
            variant="strict",
            status="ok" if ok else "invalid",
            outcome="ok",
            text=text,
        )


def planned(predictions):
    plan = {"stage": "features", "module": "descriptor", "settings": SETTINGS}
    return {**plan, "predictions": predictions}


def test_equal_grids_of_different_batches_are_embedded_once(tmp_path, monkeypatch, embedded):
    monkeypatch.chdir(tmp_path)
    grids = [some_grid(4, seed=seed).text() for seed in range(3)]
    texts = [grids[rank % 2] for rank in range(2 * AT_ONCE)] + [None, grids[2], grids[0]]
    write_rows("read.parquet", Prediction, predicted(texts), {"stage": "predictions"})
    number = embed("read.parquet", "features.parquet", planned({"stage": "predictions"}))
    assert number == 2 * AT_ONCE + 2
    assert [len(batch) for batch in embedded] == [2, 1]


def test_without_a_valid_grid_no_encoder_is_opened(tmp_path, monkeypatch):
    """Its weights need not be there."""
    monkeypatch.chdir(tmp_path)
    write_rows("read.parquet", Prediction, predicted([None, None]), {"stage": "predictions"})
    plan = {**planned({"stage": "predictions"}), "module": "no_such_encoder"}
    assert embed("read.parquet", "features.parquet", plan) == 0


def test_readings_of_other_determinants_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows("read.parquet", Prediction, predicted([None]), {"stage": "predictions", "ranks": 3})
    with pytest.raises(RecordError, match=r"^read\.parquet: [^\n]*ranks[^\n]*$"):
        embed("read.parquet", "features.parquet", planned({"stage": "predictions", "ranks": 4}))
    assert not Path("features.parquet").exists()


# -- galleries


def test_without_a_template_candidates_are_the_samples_pictures_and_those_reduced(road, embedded):
    road.run_of(prompts=["grid_8", "grid_16"])
    road.make("galleries/redraw/descriptor")
    rows = road.rows("galleries/redraw/descriptor")
    samples = {row.sample_id: row.image["bytes"] for row in road.rows("samples/redraw")}
    own = [row for row in rows if row.size is None]
    assert [row.name for row in own] == list(samples)
    assert all(row.narrow for row in own)
    assert embedded == [[(64, 64, 3)] * 6, [(512, 512, 3)] * 6, [(512, 512, 3)] * 6]
    for row in rows:
        picture = images.decode_rgb(samples[row.name], matte=(255, 255, 255))
        if row.size is not None:
            picture = encoders.enlarged(box_reduced(picture, row.size), SETTINGS)
            assert not row.narrow
        (expected,) = vector_of(picture)
        assert np.array_equal(np.array(row.vector, np.float32), expected)
    assert sorted({row.size for row in rows} - {None}) == [8, 16]


def test_with_a_template_candidates_are_texts_about_the_labels(road, embedded):
    road.run_of(models=["drawer"], benchmarks=["draw"])
    road.make("galleries/draw/descriptor")
    labels = [row.query for row in road.rows("samples/draw")]
    rows = road.rows("galleries/draw/descriptor")
    assert [(row.name, row.narrow, row.size) for row in rows] == [
        (label, True, None) for label in labels
    ]
    assert embedded == [[f"a pixel art icon depicting {label}." for label in labels]]


def test_labels_that_a_model_is_not_told_are_candidates_all_the_same(road):
    road.edit(REDRAW, candidates={"template": "a pixel art icon depicting {label}."})
    road.edit(REDRAW, scorers__found={**FOUND, "settings": {"target": "label"}})
    road.make("scores/nearest/redraw/grid_8/found")
    rows = road.rows("galleries/redraw/descriptor")
    assert [row.name for row in rows] == [row.target_text for row in road.rows("samples/redraw")]
    scores = road.rows("scores/nearest/redraw/grid_8/found")
    assert {row.status for row in scores} == {"ok"}


def test_candidates_without_a_picture_or_a_template_are_one_line(road):
    road.run_of(models=["drawer"], benchmarks=["draw"])
    road.edit(DRAW, candidates={})
    with pytest.raises(SpecError) as caught:
        road.make("galleries/draw/descriptor")
    assert str(caught.value) == (
        "config/benchmarks/draw.yaml: candidates: sample 'icons_own_0_000000' has no picture of "
        "its own; give the candidates a template"
    )


# -- what is made again


def test_a_new_model_embeds_its_own_grids_alone(road, embedded):
    road.make()
    embedded.clear()
    road.edit("config/models/noise.yaml", role="measured")
    road.run_of(models=["painter", "nearest", "noise"])
    made = road.make()
    touched = [path for path in made if path.startswith(("results/features", "results/galleries"))]
    assert touched == ["results/features/noise/redraw/grid_8/descriptor.parquet"]
    assert embedded == [[(512, 512, 3)] * 6]


def digests(road, stage):
    files = road.plan().files().values()
    return {planned.path: planned.digest for planned in files if planned.stage == stage}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        # The gallery follows from samples, candidates, sizes and the encoder.
        (lambda road: road.run_of(models=["nearest", "flat", "painter"]), True),
        (lambda road: road.edit(REDRAW, scorers__found__metrics=["paired_cosine"]), True),
        (lambda road: road.edit(REDRAW, display={"label": "Other"}), True),
        (lambda road: road.edit(DESCRIPTOR, display={"label": "Other"}), True),
        (lambda road: road.edit("config/models/painter.yaml", repeats=2), True),
        (lambda road: road.run_of(n={"redraw": 7}), False),
        # Of the benchmark, not of the run: two runs share the file.
        (lambda road: road.run_of(prompts=["grid_8", "grid_16"]), True),
        (lambda road: road.edit(REDRAW, exif="ignore"), False),
        (lambda road: road.edit(DESCRIPTOR, settings={"assumed_bins": 5}), False),
        (
            lambda road: road.edit(REDRAW, candidates={"template": "an icon of {label}."}),
            False,
        ),
    ],
)
def test_what_a_gallery_depends_on(road, change, same):
    before = digests(road, "galleries")
    change(road)
    assert (digests(road, "galleries") == before) == same


def test_sizes_are_no_matter_to_a_gallery_of_texts(road):
    road.run_of(models=["drawer"], benchmarks=["draw"])
    before = digests(road, "galleries")
    road.run_of(prompts=["grid_16", "grid_8"])
    assert digests(road, "galleries") == before


def test_settings_of_the_encoder_change_features_and_the_scores_that_go_by_them(road):
    road.make()
    before = [row.value for row in road.rows("scores/nearest/redraw/grid_8/found")]
    road.edit(DESCRIPTOR, settings={"assumed_gradient_share": 0.0, "assumed_thumbnail_share": 0.0})
    made = road.make()
    assert set(made) == {
        "results/galleries/redraw/descriptor.parquet",
        *(
            f"results/{stage}/{model}/redraw/grid_8/{file}.parquet"
            for model in ("painter", "nearest")
            for stage, file in (("features", "descriptor"), ("scores", "found"))
        ),
        "results/summaries/redraw.parquet",
    }
    after = [row.value for row in road.rows("scores/nearest/redraw/grid_8/found")]
    assert len(after) == len(before) and after != before


def test_a_second_encoder_has_files_of_its_own(road):
    road.make()
    small = {"assumed_side_px": 32, "assumed_cell_px": 8}
    road.write(
        "config/encoders/small.yaml",
        {"module": "descriptor", "settings": small, "stand_in": True, "display": {"label": "s"}},
    )
    road.edit(REDRAW, scorers__small={**FOUND, "encoder": "small"})
    road.edit(REDRAW, scorers__small__settings={"target": "sample"})
    made = road.make()
    assert not any(path.endswith(("descriptor.parquet", "found.parquet")) for path in made)
    lengths = {
        name: {len(row.vector) for row in road.rows(f"features/nearest/redraw/grid_8/{name}")}
        for name in ("descriptor", "small")
    }
    assert lengths["small"] == {len(row.vector) for row in road.rows("galleries/redraw/small")}
    assert lengths["small"] != lengths["descriptor"]


# -- what a measure is given


@pytest.fixture
def cell(road):
    road.answers["painter"] = lambda q: "no" if rank_of(q) == 2 else some_grid(8, seed=1).text()
    road.run_of(prompts=["grid_8", "grid_16"])
    road.make("redraw/grid_8/found")
    features = "results/features/painter/redraw/grid_8/descriptor.parquet"
    gallery = "results/galleries/redraw/descriptor.parquet"
    scores = "results/scores/painter/redraw/grid_8/found.parquet"
    return road, features, gallery, road.plan().files()[scores].determinants


def test_a_measure_is_given_the_cells_vectors_and_the_candidates_in_order(cell):
    road, features, gallery, plan = cell
    given = CellFeatures(features, gallery, plan)
    rows = road.rows("galleries/redraw/descriptor")
    own = [row for row in rows if row.size is None]
    assert given.names == [row.name for row in own]
    assert given.narrow.tolist() == [True] * 6
    assert given.vectors.dtype == np.float32 and len(given.vectors) == 6
    assert np.array_equal(given.vectors, np.array([row.vector for row in own], np.float32))
    for prediction in road.rows("predictions/painter/redraw/grid_8/grid"):
        vector = given.of(prediction)
        assert (vector is None) == (prediction.status != "ok")
        assert vector is None or vector.shape == given.vectors[0].shape
    # The reduced pictures of the cell's own size.
    (expected,) = (r.vector for r in rows if (r.name, r.size) == (own[3].name, 8))
    assert np.array_equal(given.reduced(own[3].name), np.array(expected, np.float32))
    assert given.reduced("somebody else") is None


@pytest.mark.parametrize("which", [0, 1])
def test_files_of_another_plan_are_refused(cell, which):
    _, features, gallery, plan = cell
    key = ("features", "gallery")[which]
    other = {**plan, key: {**plan[key], "module_version": 99}}
    with pytest.raises(RecordError) as caught:
        CellFeatures(features, gallery, other)
    assert str(caught.value).startswith(f"{(features, gallery)[which]}: ")
    assert "module_version" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("which", [0, 1])
def test_vectors_of_two_checkpoints_are_not_compared(cell, which):
    road, features, gallery, plan = cell
    path, row, key = ((features, Feature, "features"), (gallery, Candidate, "gallery"))[which]
    rows = road.rows(path.removeprefix("results/").removesuffix(".parquet"))
    other = json.dumps({"weights": None, "revision": "0123abc", "libraries": {}})
    newer = json.dumps({"weights": None, "libraries": {"scikit-image": "99"}})
    for setup, refused in ((newer, False), (other, True)):
        write_rows(path, row, [replace(one, setup=setup) for one in rows], plan[key], [])
        if not refused:
            CellFeatures(features, gallery, plan)
            continue
        with pytest.raises(RecordError, match="several checkpoints of one encoder") as caught:
            CellFeatures(features, gallery, plan)
        assert f"{path} with None at 0123abc" in str(caught.value)


def test_severities_and_variants_are_told_apart(road):
    spoilt = reference("drawer", "text_to_pixel", grid_disturbance="fade", severities=[0, 50])
    road.write("config/models/drawer.yaml", spoilt)
    road.run_of(models=["drawer"], benchmarks=["draw"])
    road.make("scores/drawer/draw/grid_8/found")
    rows = road.rows("features/drawer/draw/grid_8/descriptor")
    by_severity = {row.severity: row.vector for row in rows if row.sample_id.endswith("000000")}
    assert set(by_severity) == {0.0, 50.0}
    assert by_severity[0.0] != by_severity[50.0]


# -- what is refused


def refusal():
    with pytest.raises(SpecError) as caught:
        load_checkout()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_an_encoder_needs_is_told_before_anything_is_made(road):
    road.edit(REDRAW, candidates=...)
    assert "redraw.yaml: candidates: missing, and scorers.found.encoder compares" in refusal()
    road.edit(REDRAW, candidates={}, scorers__found__encoder="descripter")
    assert "scorers.found.encoder: 'descripter' is not known" in refusal()
    letters = {"extractor": "letter", "measure": "retrieval", "encoder": "descriptor"}
    road.edit(REDRAW, scorers__found={**letters, "metrics": ["retrieval_top1"]})
    assert "scorers.found.extractor: an encoder is shown grids, and 'letter' reads" in refusal()


def test_an_encoder_embeds_one_reading_of_a_benchmark(road):
    other = {**FOUND, "reading": "other", "settings": {"target": "sample"}}
    road.edit(REDRAW, scorers__other=other)
    assert "scorers.other.reading: 'descriptor' embeds 'grid' already" in refusal()


def test_an_encoder_without_words_has_no_texts_for_candidates(road):
    shutil.copy(ROOT / "config/encoders/dinov2_large.yaml", "config/encoders/dinov2.yaml")
    road.edit(DRAW, scorers__found__encoder="dinov2")
    assert refusal() == (
        "config/benchmarks/draw.yaml: scorers.found.encoder: 'dinov2' reads no texts, which the "
        "candidates are; take another encoder, or say `candidates: {}`"
    )
    road.edit(DRAW, scorers__found__encoder="descriptor")
    road.edit(REDRAW, scorers__found__encoder="dinov2")
    load_checkout()
