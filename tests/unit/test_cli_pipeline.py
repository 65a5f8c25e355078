"""The numbers of the command line are those of the stages, for the same bytes."""

import numpy as np
import pytest
from cli_files import answer, halves, marked_pair, ramp_mm, save

from gensight import images
from gensight.records import Generation, RowFile, Sample, Score, Summary, write_rows
from gensight.stages.extract import extract
from gensight.stages.score import score
from gensight.stages.summarize import summarize

CELL = "some_model/some_benchmark/mid"
SCORERS = {
    "segmentation": ("mask", "overlap", ["giou", "ciou"]),
    "depth": ("depth", "depth_fit", ["absrel", "delta1", "rmse_m"]),
    "counting": ("dots", "count_match", ["mae", "rmse", "log_count_error"]),
}


def sample(index, source, **truth):
    height, width = source.shape[:2]
    return Sample(
        sample_id=f"s{index}",
        rank=index,
        cluster_id=f"s{index}",
        image={"bytes": images.encode_png(source), "path": None},
        width=width,
        height=height,
        **truth,
    )


def generation(index, answer_bytes):
    return Generation(
        request_key=f"k{index}",
        request_id=f"q{index}",
        sample_ids=[f"s{index}"],
        rank=index,
        turn=0,
        final=True,
        outcome="ok",
        image={"bytes": answer_bytes, "path": None},
    )


def pipeline(task, samples, answers, settings):
    """Run the stages behind generation on these rows; return the summaries by (fit, metric)."""
    extractor, measure, metrics = SCORERS[task]
    sampled = {"stage": "samples"}
    write_rows("results/samples.parquet", Sample, samples, sampled)
    generated = {
        "stage": "generations",
        "requests": {"samples": sampled, "turns": [{"answer_form": {}}]},
        "exif": "apply",
        "repeats": 1,
    }
    path = f"results/generations/{CELL}.parquet"
    rows = [generation(i, data) for i, data in enumerate(answers)]
    write_rows(path, Generation, rows, generated, ["results/samples.parquet"])
    predicted = {"extractor": extractor, "parameters": {}, "generations": generated, "ranks": None}
    predictions = f"results/predictions/{CELL}/{extractor}.parquet"
    extract("results/samples.parquet", [path], predictions, predicted)
    scored = {
        "measure": measure,
        "metrics": metrics,
        "settings": settings,
        "predictions": predicted,
        "classes": None,
    }
    scores = f"results/scores/{CELL}/{extractor}.parquet"
    score("results/samples.parquet", [predictions], scores, scored)
    digest = RowFile(scores, Score).footer.digest
    summed = {
        "benchmark": "some_benchmark",
        "scores": {scores: digest},
        "subsets": [],
        "roles": {"some_model": "measured"},
        "native": {"some_model": "depth"},
        "failed_above": {"some_model": 0.5},
        "groups": {"some_model": "models"},
    }
    summarize("results/summaries.parquet", summed)
    return {(row.fit, row.metric): row for row in RowFile("results/summaries.parquet", Summary)}


def same(found, summaries):
    """Check every number of the command line against the pipeline's."""
    fits = found.get("fits") or {None: found}
    alone = found["valid_only"].get("fits") or {None: found["valid_only"]}
    for (fit, metric), row in summaries.items():
        if fit == "native":
            continue
        assert fits[fit][metric] == row.value, (fit, metric)
        assert alone[fit][metric] == row.valid_only, (fit, metric)
        assert (found["n"], found["n_valid"]) == (row.n, row.n_valid)
    assert len(summaries) >= 2


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def noisy(picture, seed):
    noise = np.random.default_rng(seed).normal(0, 20, picture.shape)
    return (picture + noise).clip(0, 255).astype(np.uint8)


def files(folder, stem, contents):
    return [save(folder / f"{stem}{i}.png", content) for i, content in enumerate(contents)]


def options(name, values):
    return [word for value in values for word in (name, value)]


def test_segmentation(folder):
    masks = [halves(20 + 7 * i) for i in range(3)]
    answers = [noisy(halves(24 + 5 * i, 128, 80), i) for i in range(2)] + [b"<html>"]
    targets, predictions = files(folder, "target", masks), files(folder, "prediction", answers)
    samples = [
        sample(i, np.zeros((48, 64, 3), np.uint8), target_mask=images.encode_mask(m > 0))
        for i, m in enumerate(masks)
    ]
    summaries = pipeline("segmentation", samples, [p.read_bytes() for p in predictions], {})
    pairs = options("--prediction", predictions) + options("--target", targets)
    same(answer("score", "segmentation", *pairs), summaries)


def test_depth(folder):
    depths = [np.roll(ramp_mm(), 9 * i, axis=1) for i in range(3)]
    answers = [noisy(255 - d / 40, i) for i, d in enumerate(depths[:2])] + [b""]
    targets, predictions = files(folder, "target", depths), files(folder, "prediction", answers)
    samples = [
        sample(
            i,
            np.zeros((48, 64, 3), np.uint8),
            target_depth_m=images.encode_array((d / 1000).astype(np.float32)),
            min_depth_m=1.5,
            max_depth_m=9.0,
        )
        for i, d in enumerate(depths)
    ]
    settings = {"answer_form": {"kind": "depth", "near": "bright"}}
    summaries = pipeline("depth", samples, [p.read_bytes() for p in predictions], settings)
    pairs = options("--prediction", predictions) + options("--target", targets)
    caps = ["--min-depth", "1.5", "--max-depth", "9"]
    same(answer("score", "depth", *pairs, *caps), summaries)


def test_counting(folder):
    source, marked = marked_pair()
    answers = [marked, source, b"sorry"]
    predictions, (given,) = files(folder, "prediction", answers), files(folder, "source", [source])
    samples = [sample(i, source, target_count=count) for i, count in enumerate((5, 1, 8))]
    data = [p.read_bytes() for p in predictions]
    summaries = pipeline("counting", samples, data, {"failure_constant": 4.0})
    pairs = options("--prediction", predictions) + options("--target", [5, 1, 8])
    inputs = options("--input", [given] * 3)
    found = answer("score", "counting", *pairs, *inputs, "--failure-constant", 4)
    same(found, summaries)
