"""`gensight failures`: one answer classified, sheets written, filled and compared."""

import csv

import numpy as np
import pytest
from cli_files import BAD_PICTURES, answer, call, error, halves, marked_pair, save
from images_by_hand import photograph
from spine_rows import generation, sample

from gensight.images import encode_png
from gensight.records import Generation, Sample, write_rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_classify(folder):
    source = save(folder / "input.png", photograph(96, 128))
    found = answer("failures", "classify", "--input", source, source, "--task", "segmentation")
    assert found["failure_class"] == "copy"
    assert found["features"]["ssim"] == pytest.approx(1)
    assert (found["task"], found["input"]) == ("segmentation", str(source))
    assert "synthetic validation only" in found["note"]


def test_classify_for_people(folder):
    source, marked = marked_pair()
    save(folder / "in.png", source)
    save(folder / "out.png", marked)
    result = call("failures", "classify", "--input", "in.png", "out.png", "--task", "counting")
    assert result.exit_code == 0
    assert "failure_class  ok" in result.stdout
    assert "dots" in result.stdout


@pytest.mark.parametrize("name", BAD_PICTURES)
def test_an_unreadable_answer_has_a_class(folder, name):
    content, reason = BAD_PICTURES[name]
    save(folder / "in.png", halves())
    save(folder / name, content)
    found = answer("failures", "classify", "--input", "in.png", name, "--task", "depth")
    assert found["failure_class"] == "unreadable"
    assert reason in found["detail"]


def test_user_errors_of_classify(folder):
    save(folder / "in.png", halves())
    command = ("failures", "classify", "--task", "depth")
    assert "nowhere.png" in error(*command, "--input", "in.png", "nowhere.png")
    save(folder / "bad.png", b"")
    assert "bad.png" in error(*command, "--input", "bad.png", "in.png")
    result = call(*command, "in.png")
    assert result.exit_code == 2
    assert "--input" in result.stderr


def results(folder, n=4):
    """Lay a small cell: copies of their inputs, one answer refused, one a picture of noise."""
    pictures = [encode_png(photograph(48, 64, seed=i)) for i in range(n)]
    samples = folder / "results/samples/tiny.parquet"
    rows = [sample(i, picture=pictures[i], width=64, height=48) for i in range(n)]
    samples.parent.mkdir(parents=True)
    write_rows(samples, Sample, rows, {"stage": "samples"})
    path = folder / "results/generations/oracle/tiny/mid/0.parquet"
    path.parent.mkdir(parents=True)
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    answers = [generation(i, pictures[i]) for i in range(n - 2)]
    answers += [generation(n - 2, None, outcome="refused_output")]
    answers += [generation(n - 1, encode_png(noise), severity=2.0)]
    write_rows(path, Generation, answers, {"stage": "generations"})
    return samples, path


def read(path):
    """Return the lines of a sheet."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def fill(path, classes):
    """Fill the class column by sample."""
    rows = read(path)
    for row in rows:
        row["class"] = classes.get(row["sample"], "")
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def label(folder, target="sheets", **options):
    samples, generations = results(folder)
    extra = [word for name, value in options.items() for word in (f"--{name}", value)]
    return answer(
        *("failures", "label", generations, target, "--samples", samples),
        *("--task", "segmentation", *extra),
    )


def test_sheets_are_written_with_their_pictures(folder):
    found = label(folder)
    assert (found["answers"], found["pictures"]) == (3, 6)
    sheets = [folder / name for name in found["sheets"]]
    first, second = (read(sheet) for sheet in sheets)
    assert sorted(r["item"] for r in first) == sorted(r["item"] for r in second)
    assert {r["model"] for r in first} == {"oracle"}
    assert {(r["benchmark"], r["prompt"], r["task"]) for r in first} == {
        ("tiny", "mid", "segmentation")
    }
    assert {r["sample"] for r in first} == {"s0", "s1", "s3"}
    assert {r["severity"] for r in first if r["sample"] == "s3"} == {"2"}
    for row in first:
        assert row["class"] == ""
        assert (folder / "sheets" / row["answer_file"]).exists()
        assert (folder / "sheets" / row["input_file"]).exists()


def test_raters_and_classifier_are_compared(folder):
    first, second = label(folder)["sheets"]
    fill(folder / first, {"s0": "copy", "s1": "copy", "s3": "degenerate"})
    fill(folder / second, {"s0": "copy", "s1": "filter", "s3": "degenerate"})
    found = answer("failures", "agree", first, second)
    assert (found["labelled_by_both"], found["agreed"]) == (3, 2)
    # Agreed 2/3; by chance (2/3 * 1/3 + 1/3 * 1/3) = 1/3.
    assert found["kappa"] == pytest.approx(0.5)
    assert found["note"] == "synthetic validation only (3 of 200 human labels)"
    recall = {row["class"]: row["recall"] for row in found["recall"]}
    assert recall == {"copy": 100, "degenerate": 100}
    shown = call("failures", "agree", first, second)
    assert "kappa" in shown.stdout
    assert "recall" in shown.stdout


def test_fewer_answers_are_some_of_all(folder):
    some = label(folder, n=2)
    assert some["answers"] == 2
    rows = read(folder / some["sheets"][0])
    samples, generations = (
        folder / "results/samples/tiny.parquet",
        next((folder / "results/generations").rglob("*.parquet")),
    )
    every = answer(
        *("failures", "label", generations, "more", "--samples", samples, "--task", "depth")
    )
    more = read(folder / every["sheets"][0])
    assert {row["item"] for row in rows} < {row["item"] for row in more}


def test_filled_sheets_are_never_overwritten(folder):
    label(folder)
    samples = folder / "results/samples/tiny.parquet"
    generations = next((folder / "results/generations").rglob("*.parquet"))
    arguments = ("failures", "label", generations, "sheets", "--samples", samples)
    assert "holds sheets already" in error(*arguments, "--task", "depth")


def test_user_errors_of_agree(folder):
    first, second = label(folder)["sheets"]
    assert "there is no such file" in error("failures", "agree", first, "third.csv")
    fill(folder / first, {"s0": "coppy"})
    assert "did you mean 'copy'" in error("failures", "agree", first, second)
    fill(folder / first, {"s0": "copy"})
    fill(folder / second, {"s0": "copy"})
    for picture in (folder / "sheets").glob("*.png"):
        picture.unlink()
    assert "there is no such file" in error("failures", "agree", first, second)
