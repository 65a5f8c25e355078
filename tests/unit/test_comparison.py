"""`gensight compare`: the paired difference, what differs in protocol, and what flipped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_files import answer, call, error
from click.testing import Result

from gensight import images
from gensight.comparison import Choice, Side, _opened, compare
from gensight.errors import RecordError, SpecError
from gensight.records import Generation, Sample, Score, write_rows

N = 40
LICENCES = ["gensight", "manga109"]


def scores(ious: list[float | None], variants=("otsu",), severity=None) -> list[Score]:
    rows = []
    for rank, iou in enumerate(ious):
        for variant in variants:
            head = {
                "sample_id": f"set/{rank:03}",
                "rank": rank,
                "cluster_id": f"image{rank // 2}",
                "variant": variant,
                "severity": severity,
                "status": "ok" if iou is not None else "no_output",
                "outcome": "ok" if iou is not None else "refused_output",
                "format_valid": iou is not None,
            }
            value = iou or 0.0
            for kind, name, number in (("part", "iou", value), ("metric", "giou", 100 * value)):
                raw = None if iou is None else number
                rows.append(Score(**head, kind=kind, name=name, raw=raw, value=number))
    return rows


def write_scores(model: str, ious, variants=("otsu",), severities=(None,), **plan) -> str:
    path = f"results/scores/{model}/toy/mid/mask.parquet"
    rows = [row for severity in severities for row in scores(ious, variants, severity)]
    generations = {"model": model, "adapter": "reference", "requests": {"samples": {"n": N}}}
    planned = {
        "stage": "scores",
        "metrics": {"giou": {}},
        "settings": {"failure": "zero", **plan},
        "predictions": {"generations": generations},
    }
    write_rows(path, Score, rows, planned)
    return path


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def ious(mean: float) -> list[float]:
    spread = np.linspace(-0.15, 0.15, N)
    return [float(value) for value in mean + spread]


def test_the_difference_is_paired_and_its_sign_is_b_minus_a():
    first, second = write_scores("one", ious(0.6)), write_scores("two", ious(0.7))
    found = compare(first, second)
    assert (found.metric, found.variant, found.unit) == ("giou", "otsu", "percent")
    assert found.first == pytest.approx(60)
    assert found.test.difference == pytest.approx(10)
    # Every sample differs by the same: the pairs leave no doubt at all.
    assert found.test.interval.low == pytest.approx(10)
    assert found.test.interval.high == pytest.approx(10)
    assert not found.fell
    assert compare(second, first).fell


def test_a_failed_answer_keeps_its_pair_and_flips():
    second = ious(0.7)
    second[3] = None
    found = compare(write_scores("one", ious(0.7)), write_scores("two", second))
    assert len(found.items) == N
    assert [item.sample_id for item in found.flipped] == ["set/003"]
    assert found.flipped[0].second == 0.0


def test_half_right_is_where_a_sample_flips():
    low, high = [0.49] * N, [0.49] * (N - 1) + [0.5]
    found = compare(write_scores("one", low), write_scores("two", high))
    assert [item.sample_id for item in found.flipped] == [f"set/{N - 1:03}"]


def test_only_what_both_hold_is_compared():
    found = compare(write_scores("one", ious(0.6)), write_scores("two", ious(0.6)[:30]))
    assert (len(found.items), found.left_out) == (30, 10)


def test_the_protocol_names_what_differs_but_not_who_was_asked():
    first = write_scores("one", ious(0.6), failure="zero")
    second = write_scores("two", ious(0.6), failure="constant")
    assert compare(first, second).protocol == [("settings.failure", "zero", "constant")]


def test_several_variants_have_to_be_told_apart():
    paths = [write_scores(m, ious(0.6), ("otsu", "kmeans")) for m in ("one", "two")]
    with pytest.raises(SpecError, match="name a variant"):
        compare(*paths)
    assert compare(*paths, Choice(variant="kmeans")).variant == "kmeans"
    with pytest.raises(SpecError, match="'otsuu' is not known"):
        compare(*paths, Choice(variant="otsuu"))


def test_samples_that_share_nothing_are_one_line():
    first = write_scores("one", ious(0.6))
    second = "results/scores/two/other/mid/mask.parquet"
    rows = scores(ious(0.6))
    renamed = [type(row)(**{**vars(row), "sample_id": f"other/{row.rank}"}) for row in rows]
    write_rows(second, Score, renamed, {"stage": "scores", "metrics": {"giou": {}}})
    with pytest.raises(RecordError, match="share no sample"):
        compare(first, second)


def test_answers_of_several_severities_are_compared_at_one():
    first, second = (
        write_scores("one", ious(0.6)),
        write_scores("two", ious(0.7), severities=(1, 3)),
    )
    with pytest.raises(SpecError, match=r"two/toy/mid/mask\.parquet: .*choose .*: 1, 3$"):
        compare(first, second)
    with pytest.raises(SpecError, match="2 is none of them; choose with --severity: 1, 3"):
        compare(first, second, Choice(severity=2))
    with pytest.raises(SpecError, match="neither file holds answers of several severities"):
        compare(first, first, Choice(severity=2))
    # The undisturbed side has no severity, so there is nothing to choose of it.
    found = answer("compare", first, second, "--severity", "3")
    assert (found["severities"], found["n"], found["left_out"]) == ([None, 3], N, 0)
    told = call("compare", second, second, "--severity", "1").stdout
    assert told.startswith(f"A  {second}, severity 1\nB  {second}, severity 1\n")


WHO = ("bird", "pond", "mid", "mask")


def lay_named(path: str) -> None:
    """Write scores whose determinants say which cell they are of."""
    model, benchmark, prompt, scorer = WHO
    requests = {"samples": {"benchmark": benchmark}, "prompt": prompt}
    generations = {"model": model, "requests": requests}
    planned = {"stage": "scores", "scorer": scorer, "metrics": {"giou": {}}}
    planned["predictions"] = {"generations": generations}
    write_rows(path, Score, scores(ious(0.6)), planned)


def test_the_cell_is_what_determined_the_file_wherever_it_lies():
    for path in ("mask.parquet", "results/scores/other/things/short/otsu.parquet"):
        lay_named(path)
        assert _opened(Path(path)).cell == WHO
        assert compare(path, path).test.difference == 0


def test_a_cell_that_is_not_named_is_that_of_the_place(tmp_path, monkeypatch):
    path = Path(write_scores("one", ious(0.6)))
    assert _opened(path).cell == ("one", "toy", "mid", "mask")
    monkeypatch.chdir(path.parent)
    assert _opened(Path(path.name)).cell == ("one", "toy", "mid", "mask")


def test_a_file_that_says_no_cell_is_one_line():
    side = Side(Path("/x.parquet"), {})
    with pytest.raises(RecordError, match=r"^/x\.parquet: does not say which cell it is of; give"):
        _ = side.cell


@pytest.mark.parametrize("name", ["results", "nothing.csv", "results/scores/one/toy/mid"])
def test_what_is_no_parquet_is_one_line(name):
    first = write_scores("one", ious(0.6))
    assert f"{name}: is no file of scores; give results/scores/" in error("compare", first, name)


def test_pictures_need_a_results_tree():
    lay_named("copied.parquet")
    line = error("compare", "copied.parquet", "copied.parquet", "--pictures", "shown")
    assert "--pictures: copied.parquet is not in a results tree" in line


@pytest.mark.parametrize("folder", ["taken", "taken/below"])
def test_pictures_need_a_folder_that_can_be_written(tmp_path, folder):
    lay_pictures()
    first = write_scores("one", [0.9] * N)
    (tmp_path / "taken").write_text("a file")
    line = error("compare", first, first, "--pictures", folder)
    assert f"{folder}: cannot be made: " in line


def lay_pictures() -> None:
    grey = images.encode_png(np.full((8, 12), 90, np.uint8))
    samples = [
        Sample(
            sample_id=f"set/{rank:03}",
            rank=rank,
            cluster_id="c",
            licence=LICENCES[rank % 2],
            image={"bytes": grey, "path": None},
            width=12,
            height=8,
        )
        for rank in range(N)
    ]
    write_rows("results/samples/toy.parquet", Sample, samples, {"stage": "samples"})
    generations = [
        Generation(
            request_key=str(rank),
            request_id=str(rank),
            sample_ids=[f"set/{rank:03}"],
            rank=rank,
            turn=0,
            final=True,
            outcome="ok",
            image={"bytes": grey, "path": None},
        )
        for rank in range(N)
    ]
    path = "results/generations/one/toy/mid/all.parquet"
    write_rows(path, Generation, generations, {"stage": "generations"})


def test_pictures_of_flipped_samples_are_written_where_they_may_be_shown(tmp_path):
    lay_pictures()
    first, second = write_scores("one", [0.9] * N), write_scores("two", [0.9] * (N - 2) + [0.1] * 2)
    result = call("compare", first, second, "--pictures", "shown")
    assert result.exit_code == 0
    # Of the two that flipped one may not be shown.
    (written,) = (tmp_path / "shown").iterdir()
    assert written.name == f"000_set_{N - 2:03}.png"
    tile = images.decode_rgb(written.read_bytes(), matte=(0, 0, 0))
    assert tile.shape == (320, 480 * 2 + 320 + 16, 3)


def test_json_holds_everything_and_a_fall_has_its_exit_code():
    first, second = write_scores("one", ious(0.7)), write_scores("two", ious(0.6))
    found = answer("compare", second, first)
    assert found["difference"] == pytest.approx(10)
    assert (found["fell"], found["n"], found["left_out"]) == (False, N, 0)
    fallen: Result = call("compare", first, second)
    assert fallen.exit_code == 1
    assert "B is significantly worse than A" in fallen.stdout


def test_another_file_is_one_line():
    write_rows("results/samples/toy.parquet", Sample, [], {"stage": "samples"})
    line = error("compare", "results/samples/toy.parquet", "results/samples/toy.parquet")
    assert "holds samples, not scores" in line


def test_pictures_are_those_of_the_severity_that_is_compared(tmp_path):
    lay_pictures()
    plain = write_scores("one", [0.9] * N)
    path = "results/scores/shifted/toy/mid/mask.parquet"
    rows = [replace(row, severity=s) for s in (1.0, 8.0) for row in scores([0.1] * N)]
    generations = {"model": "shifted", "requests": {"samples": {"n": N}}}
    plan = {"stage": "scores", "metrics": {"giou": {}}, "predictions": {"generations": generations}}
    write_rows(path, Score, rows, plan)
    answers = [
        Generation(
            request_key=f"{rank}/{severity}",
            request_id=str(rank),
            sample_ids=[f"set/{rank:03}"],
            rank=rank,
            turn=0,
            final=True,
            severity=severity,
            outcome="ok",
            image={"bytes": images.encode_png(np.full((8, 12), level, np.uint8)), "path": None},
        )
        for rank in range(N)
        for severity, level in ((1.0, 10), (8.0, 240))
    ]
    path_of_answers = "results/generations/shifted/toy/mid/all.parquet"
    write_rows(path_of_answers, Generation, answers, {"stage": "generations"})
    result = call("compare", plain, path, "--severity", "8", "--pictures", "shown")
    assert "pictures written (input, A, B)" in result.stdout
    for written in (tmp_path / "shown").iterdir():
        tile = images.decode_rgb(written.read_bytes(), matte=(0, 0, 0))
        assert tile[10, -10].tolist() == [240, 240, 240]
    line = error("compare", plain, path, "--severity", "8", "--pictures", "shown")
    assert "shown is not empty; name another folder" in line


def test_readings_of_two_kinds_are_one_line():
    first, second = write_scores("one", ious(0.6)), write_scores("two", ious(0.6), ("strict",))
    with pytest.raises(SpecError, match="no variant in common; they hold otsu and strict"):
        compare(first, second)
