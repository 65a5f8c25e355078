"""`gensight suspects`: labels that strong models of different vendors contradict together."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
import spine_project
import yaml
from cli_files import answer, call, error
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight import cli, images
from gensight.errors import RecordError
from gensight.records import Prediction, Sample, Score, write_rows
from gensight.stages.score import score
from gensight.suspects import (
    ModelCell,
    Place,
    Rule,
    effects,
    find_suspects,
    largest_group,
    strongest,
)

SIDE = 10
ADAPTERS = {
    "banana": "google_generate",
    "banana_pro": "google_generate",
    "gpt": "openai_images",
    "flux": "bfl_task",
    "local_a": "diffusers_edit",
    "local_b": "diffusers_edit",
    "compatible": "openai_chat",
}
HOSTED = {"generation": {"model": "m"}}
SAYS = {
    "diffusers_edit": {"generation": {"pipeline": "Flux2Pipeline", "model": "m"}},
    "openai_chat": {
        "generation": {"model": "m", "service": "vllm", "weights_revision": "r"},
        "answers": "text",
    },
}


def band(first: int, last: int) -> np.ndarray:
    mask = np.zeros((SIDE, SIDE), np.bool_)
    mask[first:last] = True
    return mask


TRUE, WRONG, ELSEWHERE, EMPTY = band(0, 2), band(7, 9), band(4, 6), band(0, 0)
FAILED = None


def sample(rank: int, **changes) -> Sample:
    grey = images.encode_png(np.full((SIDE, SIDE), 90, np.uint8))
    facts = {
        "sample_id": f"set/{rank}",
        "rank": rank,
        "cluster_id": "c",
        "licence": "gensight",
        "image": {"bytes": grey, "path": None},
        "width": SIDE,
        "height": SIDE,
        "query": f"thing {rank}",
        "target_mask": images.encode_mask(TRUE),
    }
    return Sample(**facts | changes)


def prediction(rank: int, mask: np.ndarray | None, **changes) -> Prediction:
    facts = {
        "sample_id": f"set/{rank}",
        "rank": rank,
        "cluster_id": "c",
        "variant": "otsu",
        "status": "no_output" if mask is None else "ok",
        "outcome": "refused_output" if mask is None else "ok",
        "mask": None if mask is None else images.encode_mask(mask),
    }
    return Prediction(**facts | changes)


PLAN = {"stage": "samples", "n": 8}


def lay_samples(*samples: Sample) -> None:
    write_rows("results/samples/tiny_masks.parquet", Sample, samples, PLAN)


def lay(model: str, *answers: np.ndarray | Prediction | None) -> None:
    """Write a model's predictions in the order of ranks, and score them by the stage itself."""
    rows = [
        found if isinstance(found, Prediction) else prediction(rank, found)
        for rank, found in enumerate(answers)
    ]
    planned = {
        "stage": "predictions",
        "extractor": "mask",
        "generations": {"model": model, "requests": {"samples": PLAN}},
    }
    path = f"results/predictions/{model}/tiny_masks/mid/mask.parquet"
    samples = "results/samples/tiny_masks.parquet"
    write_rows(path, Prediction, rows, planned, [samples])
    determinants = {
        "stage": "scores",
        "predictions": planned,
        "classes": None,
        "measure": "overlap",
        "settings": {"failure": "zero"},
        "metrics": {"giou": {}, "ciou": {}},
    }
    score(samples, [path], scores_of(model), determinants)


def scores_of(model: str) -> str:
    return f"results/scores/{model}/tiny_masks/mid/mask.parquet"


def cells(*models: str, **vendors: str) -> list[ModelCell]:
    place = Place(Path(), "tiny_masks")
    return [ModelCell(place, model, vendors.get(model, model)) for model in models]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Write the project of the spine's tests with measured models, as a checkout."""
    spine_project.use_copy_of_library(monkeypatch, tmp_path / "library")
    monkeypatch.setitem(cli.COMMANDS, "suspects", "List labels that models contradict.")
    files = dict(spine_project.PROJECT)
    for model, adapter in ADAPTERS.items():
        spec = {"adapter": adapter, "display": {"label": model}, **SAYS.get(adapter, HOSTED)}
        files[f"config/models/{model}.yaml"] = spec
    spine_project.write(tmp_path, files)
    (tmp_path / "config/config.yaml").write_text(yaml.safe_dump(spine_project.CONFIG))
    (tmp_path / "Snakefile").touch()


# Which samples


@pytest.mark.parametrize(
    ("answers", "suspect"),
    [
        ([WRONG, WRONG, WRONG], True),
        ([WRONG, WRONG, TRUE], False),
        ([WRONG, WRONG, ELSEWHERE], False),
        ([TRUE, TRUE, TRUE], False),
        ([WRONG, WRONG, FAILED], False),
        ([EMPTY, EMPTY, EMPTY], False),
        # Returned at another size: brought to that of the target first.
        ([WRONG, WRONG.repeat(3, 0).repeat(3, 1), WRONG.repeat(2, 0)], True),
    ],
)
def test_three_that_agree_and_miss_make_a_suspect(answers, suspect):
    lay_samples(sample(0))
    for model, mask in zip("abc", answers, strict=True):
        lay(model, mask)
    found = find_suspects(cells("a", "b", "c"))
    assert [one.sample_id for one in found] == (["set/0"] if suspect else [])


def test_every_iou_is_given_once():
    lay_samples(sample(0))
    shifted = band(7, 10)
    for model, mask in zip("abcd", [WRONG, WRONG, shifted, ELSEWHERE], strict=True):
        lay(model, mask)
    (one,) = find_suspects(cells("a", "b", "c", "d"), Rule(agree=0.6))
    assert one.models == ("a", "b", "c")
    assert one.between == {("a", "b"): 1.0, ("a", "c"): 2 / 3, ("b", "c"): 2 / 3}
    assert one.truth == {"a": 0.0, "b": 0.0, "c": 0.0}
    assert (one.query, one.rank) == ("thing 0", 0)


def test_the_bounds_agree_from_and_miss_below():
    eight, ten = np.zeros((SIDE, SIDE), np.bool_), np.zeros((SIDE, SIDE), np.bool_)
    eight[9, :8], ten[9] = True, True
    target = np.zeros((SIDE, SIDE), np.bool_)
    target[9, :3] = True  # IoU 3 / 8 and .3, exactly
    lay_samples(sample(0, target_mask=images.encode_mask(target)))
    for model, mask in zip("abc", [ten, ten, ten], strict=True):
        lay(model, mask)
    assert find_suspects(cells("a", "b", "c"), Rule(miss=0.3)) == []
    assert len(find_suspects(cells("a", "b", "c"), Rule(miss=0.31))) == 1
    for model, mask in zip("abc", [ten, eight, ten], strict=True):
        lay(model, mask)
    assert len(find_suspects(cells("a", "b", "c"), Rule(agree=0.8, miss=0.4))) == 1
    assert find_suspects(cells("a", "b", "c"), Rule(agree=0.81, miss=0.4)) == []


def test_models_of_one_vendor_are_one_voice():
    lay_samples(sample(0))
    for model in "abc":
        lay(model, WRONG)
    assert find_suspects(cells("a", "b", "c", a="google", b="google")) == []
    (one,) = find_suspects(cells("a", "b", "c", a="google", b="google"), Rule(least=2))
    assert one.models == ("a", "c")


def test_answers_that_say_nothing_about_the_label_do_not_count():
    lay_samples(sample(0), sample(1))
    lay("a", WRONG, WRONG)
    lay("b", WRONG, WRONG)
    inverted = prediction(0, WRONG, failure_blind="inverted")
    flat = prediction(1, WRONG, degenerate_output=True)
    lay("c", inverted, flat)
    assert find_suspects(cells("a", "b", "c")) == []
    lay("c", prediction(0, WRONG, failure_blind="drift:local"), flat)
    assert [one.sample_id for one in find_suspects(cells("a", "b", "c"))] == ["set/0"]


def test_ignored_pixels_part_nobody():
    lay_samples(sample(0, ignore_mask=images.encode_mask(ELSEWHERE)))
    for model, mask in zip("abc", [WRONG, WRONG | ELSEWHERE, WRONG], strict=True):
        lay(model, mask)
    (one,) = find_suspects(cells("a", "b", "c"))
    assert set(one.between.values()) == {1.0}


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] < p[1])))
@settings(max_examples=60, deadline=None)
def test_the_largest_group_is_that_of_trying_every_group(pairs):
    names = "abcdefg"
    named = {(names[a], names[b]) for a, b in pairs}
    groups = [
        group
        for size in range(len(names), 0, -1)
        for group in itertools.combinations(names, size)
        if all(pair in named for pair in itertools.combinations(group, 2))
    ]
    assert largest_group(names, named) == groups[0]


# Which models, which numbers


def test_strong_is_above_the_median():
    lay_samples(sample(0), sample(1))
    for model, masks in {"a": [TRUE, TRUE], "b": [TRUE, WRONG], "c": [WRONG, FAILED]}.items():
        lay(model, *masks)
    assert strongest(cells("c", "b", "a")) == ["a"]
    assert strongest(cells("a")) == []
    assert strongest([]) == []


def test_numbers_with_and_without_are_over_the_same_answers():
    lay_samples(*(sample(rank) for rank in range(4)))
    lay("a", WRONG, TRUE, FAILED, TRUE)
    lay("b", WRONG, TRUE, TRUE)
    lay("c", WRONG, FAILED, TRUE, TRUE)
    found = cells("a", "b", "c")
    by_model = {one.model: one for one in effects(found, find_suspects(found))}
    # Rank 3 is not b's; rank 0 is suspect; a failed answer is 0 and stays in the mean.
    assert {(one.n, one.n_without) for one in by_model.values()} == {(3, 2)}
    assert by_model["a"].metrics["giou"] == pytest.approx((100 / 3, 50))
    assert by_model["b"].metrics["giou"] == pytest.approx((200 / 3, 100))
    # 20 of (20 + 20) + 20 + 20 pixels; without, 20 of 40.
    assert by_model["c"].metrics["ciou"] == pytest.approx((100 * 20 / 80, 50))


def test_without_any_sample_left_there_is_no_number():
    lay_samples(sample(0))
    for model in "abc":
        lay(model, WRONG)
    found = cells("a", "b", "c")
    assert effects(found, find_suspects(found))[0].metrics["giou"] == (0.0, None)


def test_scores_of_other_predictions_are_refused():
    lay_samples(sample(0))
    lay("a", WRONG)
    kept = Path(scores_of("a")).read_bytes()
    lay("a", TRUE)
    Path(scores_of("a")).write_bytes(kept)
    with pytest.raises(RecordError, match="has changed since"):
        cells("a")


def test_what_holds_no_masks_or_no_plain_answer_is_refused():
    lay_samples(sample(0))
    lay("a", prediction(0, WRONG, severity=5.0))
    with pytest.raises(RecordError, match="disturbed answers only; leave a out"):
        cells("a")
    write_rows(scores_of("a"), Score, [], {"stage": "scores", "measure": "depth_fit"})
    with pytest.raises(RecordError, match="no scores of masks"):
        cells("a")


# The command


def lay_demo() -> None:
    lay_samples(
        sample(0), sample(1, licence="manga109"), sample(2, label_flag=True), *map(sample, (3, 4))
    )
    good = [WRONG, WRONG, WRONG, TRUE, TRUE]
    for model in ("banana", "gpt", "flux"):
        lay(model, *good)
    for model in ("local_a", "local_b", "oracle"):
        lay(model, ELSEWHERE, WRONG, TRUE, WRONG, WRONG)
    lay("banana_pro", WRONG, WRONG, WRONG, WRONG, FAILED)


def test_json_holds_the_rule_the_suspects_and_both_numbers(checkout):
    lay_demo()
    found = answer("suspects", "tiny_masks", "--models", "banana,gpt,flux")
    assert found["vendors"]["banana"] == "google"
    assert (found["agree"], found["miss"], found["least"]) == (0.8, 0.3, 3)
    assert [one["sample_id"] for one in found["suspects"]] == ["set/0", "set/1", "set/2"]
    assert found["suspects"][0]["iou_with_each_other"][0] == {"models": ["banana", "gpt"], "iou": 1}
    assert [one["query"] for one in found["suspects"]] == ["thing 0", None, "thing 2"]
    numbers = {one["model"]: one["metrics"]["giou"] for one in found["models"]}
    assert numbers["gpt"] == pytest.approx({"with": 40, "without": 100})
    assert numbers["local_a"] == pytest.approx({"with": 20, "without": 0})
    assert "oracle" not in numbers


def test_the_strong_are_found_and_reference_models_take_no_part(checkout):
    lay_demo()
    found = answer("suspects", "tiny_masks")
    assert sorted(found["strong"]) == ["banana", "flux", "gpt"]
    found = answer("suspects", "tiny_masks", "--models", "banana,gpt,oracle")
    assert "oracle" in found["vendors"]
    assert [one["sample_id"] for one in found["suspects"]] == ["set/1"]


def test_vendors_can_be_told(checkout):
    lay_demo()
    models = "banana,banana_pro,gpt"
    assert "3 strong models" in error("suspects", "tiny_masks", "--models", models)
    found = answer("suspects", "tiny_masks", "--models", models, "--vendors", "banana_pro=other")
    assert len(found["suspects"]) == 3


def test_an_interface_is_no_vendor(checkout):
    lay_samples(sample(0))
    for model in ("compatible", "local_a", "gpt"):
        lay(model, WRONG)
    found = answer("suspects", "tiny_masks", "--models", "compatible,local_a,gpt")
    assert found["vendors"] == {"compatible": "compatible", "local_a": "local_a", "gpt": "openai"}


def test_the_list_is_for_review_and_never_overwritten(checkout):
    lay_demo()
    options = ("suspects", "tiny_masks", "--models", "banana,gpt,flux", "--output", "list.csv")
    lines = call(*options).stdout.splitlines()
    assert lines[1] == "suspect: 3 labels; 5 samples answered by all"
    with Path("list.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["verdict"] for row in rows] == ["", "", ""]
    assert rows[2]["label_flag"] == "yes"
    assert rows[0]["iou_with_truth"] == "banana 0.000; gpt 0.000; flux 0.000"
    assert rows[0]["iou_with_each_other"].split("; ")[1] == "banana, flux 1.000"
    assert "perhaps filled" in error(*options)


def test_pictures_are_those_that_may_be_shown(checkout):
    lay_demo()
    options = ("--models", "banana,gpt,flux", "--pictures", "shown")
    result = call("suspects", "tiny_masks", *options)
    assert "2 pictures written, 1 may not be shown" in result.stdout
    names = sorted(path.name for path in Path("shown").iterdir())
    assert names == ["000_set_0.png", "001_set_2.png"]
    row = images.decode_rgb(Path("shown", names[0]).read_bytes(), matte=(0, 0, 0))
    # Input, label, three masks: the label is tinted at the top, the masks near the bottom.
    assert row.shape == (320, 5 * 320 + 4 * 8, 3)
    tinted = (row[..., 0].astype(int) - row[..., 2] > 40).mean(axis=1)
    assert tinted[30] == pytest.approx(320 / row.shape[1], abs=0.01)
    assert tinted[255] == pytest.approx(3 * 320 / row.shape[1], abs=0.01)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["tiny_mask"], "did you mean 'tiny_masks'"),
        (["tiny_masks", "--scorer", "masks"], "did you mean 'mask'"),
        (["tiny_masks", "--prompt", "long"], "'long' is not known"),
        (["tiny_masks", "--variant", "kmeans", "--models", "gpt"], "allowed: otsu"),
        (["tiny_masks", "--models", "gptt"], "did you mean 'gpt'"),
        (["tiny_masks", "--vendors", "gpt"], "MODEL=VENDOR"),
        (["tiny_masks", "--vendors", "gemini=google"], "'gemini' is not known"),
        (["tiny_masks", "--output", "nowhere/list.csv", "--models", "gpt,flux,banana"], "nowhere"),
    ],
)
def test_mistakes_are_one_line(checkout, options, reason):
    lay_demo()
    assert reason in error("suspects", *options)
