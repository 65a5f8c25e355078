"""Figures from files as the stages write them: what is chosen, read, passed over and logged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gensight import images
from gensight.figures import GallerySource, draw_gallery, figure_png
from gensight.records import Generation, Prediction, Sample, Score, write_rows
from gensight.specs.figures import parse_figure
from gensight.stages.plot import plot

N = 20  # more than one row group of pictures
SIZE = (24, 32)
MODELS = ("alpha", "beta")
SPEC = {
    "kind": "gallery",
    "title": "T",
    "caption": "C",
    "task": "counting",
    "benchmark": "things",
    "scorer": "dots",
    "metric": "mae",
    "metric_label": "error",
    "models": [{"model": name} for name in (*MODELS, "absent")],
}
ALPHA = {"models": [{"model": "alpha"}]}


def picture(rank, blue=0):
    rgb = np.full((*SIZE, 3), 100, np.uint8)
    rgb[:, :, 0] = rank
    rgb[:, :, 2] = blue
    return {"bytes": images.encode_png(rgb), "path": None}


def head(rank):
    return {"sample_id": f"s{rank}", "rank": rank, "cluster_id": "c"}


def samples(licences):
    return [
        Sample(
            **head(rank),
            licence=licences.get(rank, "gensight"),
            image=picture(rank),
            width=SIZE[1],
            height=SIZE[0],
            query="dots",
            target_count=rank % 3,
        )
        for rank in range(N)
    ]


def generations(blue):
    """Two turns, of which the last is the answer."""
    return [
        Generation(
            request_key=f"{rank}{turn}",
            request_id=f"r{rank}",
            sample_ids=[f"s{rank}"],
            rank=rank,
            turn=turn,
            final=turn == 1,
            outcome="ok",
            image=picture(rank, blue * turn),
        )
        for rank in range(N)
        for turn in (0, 1)
    ]


def predictions():
    kinds = {"status": "ok", "outcome": "ok", "work_width": SIZE[1], "work_height": SIZE[0]}
    return [
        Prediction(**head(rank), **kinds, variant=variant, count=rank + extra, points=[])
        for rank in range(N)
        for extra, variant in enumerate(("diff_red_blob", "red_open_cc"))
    ]


def scores(classes):
    return [
        Score(
            **head(rank),
            variant="diff_red_blob",
            status="ok",
            outcome="ok",
            format_valid=True,
            failure_blind=classes.get(rank, "ok"),
            kind="metric",
            name="mae",
            raw=float(rank),
            value=float(rank),
        )
        for rank in range(N)
    ]


@pytest.fixture
def lay(tmp_path, monkeypatch):
    """Write the files of a run below the working folder; return their paths."""
    monkeypatch.chdir(tmp_path)

    def lay(licences=(), classes=(), twin=False):
        path = "results/samples/things.parquet"
        parameters = {"stage": "samples", "parameters": {"twin": True} if twin else {}}
        write_rows(path, Sample, samples(dict(licences)), parameters)
        files = [path]
        for blue, model in zip((80, 160), MODELS, strict=True):
            rows = generations(blue)
            for shard, part in (("part_000", rows[:20]), ("part_001", rows[20:])):
                files.append(f"results/generations/{model}/things/mid/{shard}.parquet")
                write_rows(files[-1], Generation, part, {"stage": "generations"})
            files.append(f"results/predictions/{model}/things/mid/red_dots.parquet")
            write_rows(files[-1], Prediction, predictions(), {"stage": "predictions"})
            files.append(f"results/scores/{model}/things/mid/dots.parquet")
            determinants = {"stage": "scores", "settings": {}}
            write_rows(files[-1], Score, scores(dict(classes)), determinants)
        return files

    return lay


def determinants(spec):
    display = {name: {"display": {"label": name.title()}} for name in MODELS}
    return {
        "figure": "figure",
        "spec": spec,
        "models": display,
        "exif": {"things": "apply"},
        "readings": {"things": {"dots": "red_dots"}},
        "native": dict.fromkeys(MODELS, "depth"),
    }


def source(files, **changes):
    spec = SPEC | changes
    return GallerySource(parse_figure("f.yaml", spec), files, determinants(spec))


def shown_ids(shown):
    return [(item.model_label, item.sample_id) for item in shown.items]


def test_each_model_of_the_run_is_shown_with_its_own_answer(lay):
    shown, log = source(lay()).shown()
    assert shown_ids(shown) == [("Alpha", "s10"), ("Beta", "s10")]
    alpha, beta = shown.items
    # The answer of the last turn, of the right model, from the second shard.
    assert (alpha.output, beta.output) == (picture(10, 80)["bytes"], picture(10, 160)["bytes"])
    assert alpha.input_png == picture(10)["bytes"] and alpha.truth.target_count == 1
    assert alpha.extracted.variant == "diff_red_blob" and alpha.extracted.count == 10
    assert (alpha.score, alpha.number, alpha.failure) == ("error\n10.0", "10.0", None)
    assert [row.model for row in log.examples] == list(MODELS) and shown.notes == []


def test_a_sample_that_may_not_be_shown_is_passed_over(lay):
    files = lay({10: "nyuv2", 11: "dram", 3: "unheard_of"})
    shown, log = source(files, rules=["quantile_50", "worst"]).shown()
    assert {sample_id for _, sample_id in shown_ids(shown)} == {"s9", "s19"}
    assert log.examples[0].restricted == 3
    (note,) = shown.notes
    assert note.endswith(": 3.") and "NYU Depth V2" in note and "DRAM" in note


def test_nothing_of_a_restricted_data_set_is_shown_unless_it_is_asked_for(lay):
    files = lay(dict.fromkeys(range(N), "scannet"))
    shown, log = source(files).shown()
    assert shown.items == [] and len(log.gaps) == 2
    assert shown.gaps == [(name, "none of 20 answers may be shown") for name in ("Alpha", "Beta")]
    followed, _ = source(files, kind="comparison").shown()
    assert followed.items == [] and followed.gaps == shown.gaps
    shown, _ = source(files, show_restricted=True).shown()
    assert len(shown.items) == 2 and shown.notes[0].startswith("For your own eyes only")


def test_a_synthetic_twin_may_be_shown_whatever_the_licence(lay):
    shown, _ = source(lay(dict.fromkeys(range(N), "scannet"), twin=True)).shown()
    assert len(shown.items) == 2 and shown.notes == []


def test_a_comparison_follows_one_model_of_the_run(lay):
    files = lay({10: "nyuv2"})
    for leader, told in (("beta", "Beta"), ("absent", "Alpha"), (None, "Alpha")):
        changes = {"kind": "comparison", "chosen_on": leader, "rules": ["best"]}
        shown, log = source(files, **changes).shown()
        assert shown_ids(shown) == [("Alpha", "s0"), ("Beta", "s0")] and shown.leader == told
        assert {row.chosen_on for row in log.examples} == {told.lower()}
    # Of a model alone nobody follows.
    shown, _ = source(files, kind="comparison", models=[{"model": "beta"}]).shown()
    assert shown.leader is None and len(shown.items) == 1


def test_a_disturbed_leader_is_followed_by_its_other_severities(lay):
    files = lay()
    rows = [replace(row, severity=s, raw=row.raw * s) for row in scores({}) for s in (1.0, 2.0)]
    path = next(path for path in files if path.startswith("results/scores/alpha"))
    write_rows(path, Score, rows, {"stage": "scores", "settings": {}})
    entries = [{"model": "alpha", "severity": severity} for severity in (2.0, 1.0)]
    gallery = source(files, models=entries, chosen_on="alpha", rules=["quantile_25"])
    for name in MODELS:
        gallery.plan["models"][name]["severity_unit"] = "%"
    shown, log = gallery.shown()
    assert shown_ids(shown) == [("Alpha 2 %", "s15"), ("Alpha 1 %", "s15")]
    assert [row.raw for row in log.examples] == [30.0, 15.0] and shown.leader == "Alpha 2 %"


def test_a_gallery_chooses_on_each_model_where_its_leader_is_not_in_the_run(lay):
    shown, log = source(lay(), chosen_on="absent").shown()
    assert shown.leader is None and [row.chosen_on for row in log.examples] == list(MODELS)


def test_a_failure_says_its_class_and_an_unmarked_copy_of_nothing_is_none(lay):
    # s3 has nothing to be marked.
    classes = {3: "unmarked_copy", 4: "unmarked_copy", 5: "unmarked_copy", 7: "drift:global"}
    shown, _ = source(lay(classes=classes), kind="failures").shown()
    assert [(i.sample_id, i.failure) for i in shown.items] == [("s4", "unmarked copy")] * 2


def test_scores_alone_give_tiles_of_words(lay):
    files = [path for path in lay() if path.split("/")[1] in ("samples", "scores")]
    shown, _ = source(files).shown()
    assert len(shown.items) == 2
    assert all(item.output is None and item.extracted is None for item in shown.items)


def test_the_native_fit_goes_by_the_model(lay):
    gallery = source(lay(), fit="native")
    gallery.plan["native"]["beta"] = "disparity"
    assert [gallery._fitted(entry).fit for entry in gallery.spec.models[:2]] == [
        "depth",
        "disparity",
    ]


def test_panels_are_drawn_and_logged_with_the_same_bytes_each_time(lay):
    files = lay({10: "nyuv2"})
    panels = [
        SPEC | {"title": "Rows", **ALPHA},
        SPEC | {"kind": "comparison", "title": "Columns", "chosen_on": "beta"},
        SPEC | {"kind": "failures", "title": "Failures"},
        SPEC | {"kind": "decoder_steps", "title": "Steps", "rules": ["best"], **ALPHA},
    ]
    spec = {"kind": "panels", "title": "All", "caption": "C", "panels": panels}
    for stem in ("one", "two"):
        plot(files, f"{stem}.png", determinants(spec))
    for ending in (".png", ".pdf", ".json"):
        first, second = (Path(stem + ending).read_bytes() for stem in ("one", "two"))
        assert first == second
    log = json.loads(first)
    assert [row["panel"] for row in log] == [
        "Rows",
        *["Columns"] * 2,
        *["Failures"] * 2,
        "Steps",
    ]
    assert [row["sample_id"] for row in log] == [*["s9"] * 3, None, None, "s0"]
    assert log[4]["why"] == "none of 19 answers failed"


def test_a_single_gallery_is_logged_without_a_panel(lay):
    plot(lay(), "single.png", determinants(SPEC))
    first, _ = json.loads(Path("single.json").read_text())
    assert first["sample_id"] == "s10" and "panel" not in first


def test_a_restricted_picture_leaves_no_trace_in_the_figure(lay):
    """The same bytes whatever the pictures are that may not be shown."""
    drawn = []
    for tag in ("nyuv2", "scannet"):
        gallery = source(lay({10: tag}))
        shown, _ = gallery.shown()
        shown.notes.clear()
        drawn.append(figure_png(draw_gallery(gallery.spec, shown), "mark"))
    assert drawn[0] == drawn[1]
