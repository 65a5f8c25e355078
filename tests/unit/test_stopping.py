"""`stop_when`: its mistakes, the ranks that are planned, and what is told about them."""

from __future__ import annotations

import copy
import json

import pytest
from spine_project import CONFIG, PROJECT, edited, plan_of, raise_version, use_copy_of_library

from gensight.errors import SpecError
from gensight.plan.stopping import keep, superseded
from gensight.specs.stops import Stop

MASKS, ORACLE = "config/benchmarks/tiny_masks.yaml", "config/models/oracle.yaml"
MID = "resources/prompts/segmentation/mid.yaml"
RULE = {
    "models": ["oracle", "sharded"],
    "prompt": "mid",
    "scorer": "mask",
    "metric": "giou",
    "variant": "otsu",
    "scale": 100,
    "first": 4,
    "step": 6,
}
SAMPLES, TABLE = "results/samples/tiny_masks.parquet", "results/tables/masks.tex"


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path / "library")


def config_of(rule=RULE, **run):
    config = copy.deepcopy(CONFIG)
    config["run"] |= {"stop_when": {"tiny_masks": rule}, **run}
    return config


def plan_with(root, files=PROJECT, rule=RULE, **run):
    return plan_of(root, files, config_of(rule, **run))


def n_of(plan):
    return plan.files()[SAMPLES].determinants["n"]


def notes_of(plan):
    return " ".join(plan.files()[TABLE].determinants["protocol"])


EDITS = [
    ({"models": ["oracle", "sharted"]}, "models: 'sharted' is not known (did you mean 'sharded'?)"),
    ({"prompt": "midd"}, "stop_when.tiny_masks.prompt: 'midd' is not known (did you mean 'mid'?)"),
    ({"scorer": "depth"}, "stop_when.tiny_masks.scorer: 'depth' is not known"),
    ({"metric": "absrel"}, "stop_when.tiny_masks.metric: 'absrel' is not known"),
    ({"metric": "ciou"}, "no average of the samples' own scores from 0 upwards, so"),
    ({"metric": "ciou"}, "of 'mask' these can: giou"),
    ({"variant": "ostu"}, "stop_when.tiny_masks.variant: 'ostu' is not known"),
    ({"fit": "depth"}, "stop_when.tiny_masks.fit: 'depth' is not known"),
    ({"scale": 1}, "scale: the scores of 'giou' go up to 100; write scale: 100"),
    ({"first": 21}, "first: 21 is more than the 20 samples of 'tiny_masks'; lower it or raise"),
    ({"models": ["oracle"]}, "stop_when.tiny_masks.models"),
    ({"models": ["oracle", "oracle"]}, "'oracle' is listed twice"),
    ({"widht": 0.1}, "did you mean 'width'?"),
    ({"models": ["oracle", "planner"]}, "'planner' has no scores of 'mask' under the prompt 'mid'"),
]


@pytest.mark.parametrize(("change", "words"), EDITS)
def test_a_wrong_rule_is_one_line(tmp_path, change, words):
    with pytest.raises(SpecError) as caught:
        plan_with(tmp_path, rule={**RULE, **change})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value) and str(tmp_path) not in str(caught.value)


RUNS = [
    ({"stop_when": {"tiny_mask": RULE}}, "run.stop_when: 'tiny_mask' is not known"),
    ({"prompts": ["plan"], "tables": []}, "stop_when.tiny_masks.prompt: 'mid' is not known"),
    ({"prompt_ranks": {"mid": 10}}, "run.prompt_ranks.mid ends at 10 ranks, before the 20 of"),
    ({"n": {"tiny_masks": 501}}, "501 reaches into the held-out ranks"),
]


@pytest.mark.parametrize(("run", "words"), RUNS)
def test_a_rule_that_does_not_fit_its_run_is_one_line(tmp_path, run, words):
    with pytest.raises(SpecError) as caught:
        plan_with(tmp_path, **run)
    assert words in str(caught.value)


def test_a_scorer_of_fewer_ranks_cannot_be_followed(tmp_path):
    files = edited(PROJECT, MASKS, "scorers.mask.ranks", 10)
    with pytest.raises(SpecError, match=r"scorers.mask.ranks ends at 10 ranks"):
        plan_with(tmp_path, files)
    assert n_of(plan_with(tmp_path, edited(PROJECT, MASKS, "scorers.mask.ranks", 20))) == 4


def test_a_rule_says_at_most_how_many(tmp_path, library):
    tiny = library / "datasets/tiny.py"
    tiny.write_text(f"{tiny.read_text()}def population(parameters): ...\n")
    files = edited(PROJECT, MASKS, "n", "all")
    with pytest.raises(SpecError, match=r"n: all; say at most how many with run.n.tiny_masks"):
        plan_with(tmp_path, files)
    files = edited(files, "config/models/sharded.yaml", "shard_size", None)
    assert n_of(plan_with(tmp_path, files, n={"tiny_masks": 9})) == 4


def test_nothing_kept_plans_the_first_ranks_of_that_benchmark_alone(tmp_path):
    plan = plan_with(tmp_path)
    assert n_of(plan) == 4
    assert plan.files()["results/samples/tiny_depth.parquet"].determinants["n"] == 7
    assert not (tmp_path / "ledger").exists()
    assert len(plan.generation_paths(plan.cells("tiny_masks")[1])) == 2


def test_kept_ranks_are_planned_and_only_n_differs_from_a_run_without_a_rule(tmp_path):
    keep(plan_with(tmp_path), "tiny_masks", Stop(10))
    plan = plan_with(tmp_path)
    plain = plan_of(tmp_path, PROJECT, config_of(n={"tiny_masks": 10}) | {"ledger": "other"})
    assert n_of(plan) == 10
    plain_run = copy.deepcopy(CONFIG)
    plain_run["run"]["n"] = {"tiny_masks": 10}
    plain = plan_of(tmp_path, PROJECT, plain_run)
    differing = {p for p, f in plan.files().items() if plain.files()[p].digest != f.digest}
    assert differing == {TABLE, "results/tables/all.tex"}


def test_more_than_the_benchmark_has_is_never_planned(tmp_path):
    keep(plan_with(tmp_path), "tiny_masks", Stop(16))
    assert n_of(plan_with(tmp_path, n={"tiny_masks": 12})) == 12
    assert n_of(plan_with(tmp_path)) == 16


def decide(root, stop, **changes):
    """Keep a decision about the scores of the ranks that it names."""
    keep(plan_with(root), "tiny_masks", Stop(stop.n))
    keep(plan_with(root), "tiny_masks", stop)
    return plan_with(root, **changes)


TOLD = Stop(10, "told_apart", 9, 0.02, 0.21)


def test_a_decision_is_told_with_its_bounds_on_the_metrics_own_scale(tmp_path):
    plan = decide(tmp_path, TOLD)
    assert plan.project.stops == {"tiny_masks": TOLD}
    notes = notes_of(plan)
    assert "Tiny masks: 10 of at most 20 samples, in the order of their ranks; stopped" in notes
    assert "Oracle minus Sharded (giou, otsu, prompt mid) excluded 0 (2 to 21 at 95 %" in notes
    assert "after 9 clusters); intervals and ranks printed here are made for a number" in notes
    assert "n = 10" in notes


@pytest.mark.parametrize(
    ("stop", "words", "warned"),
    [
        (Stop(10, "narrow", 10, -0.05, 0.04), "was narrow enough (-5 to 4 at 95 %", True),
        (Stop(20, "all", 20, -0.4, 0.3), "all were asked, and the confidence sequence", False),
        (Stop(10), "10 of at most 20 samples, in the order of their ranks; not decided yet", False),
    ],
)
def test_every_reason_is_told(tmp_path, stop, words, warned):
    plan = decide(tmp_path, stop) if stop.decided else None
    if plan is None:
        keep(plan_with(tmp_path), "tiny_masks", stop)
        plan = plan_with(tmp_path)
    assert words in notes_of(plan)
    assert ("larger and surer than it is" in notes_of(plan)) is warned


def test_closing_words_say_how_to_go_on(tmp_path):
    words = plan_with(tmp_path).closing_words()
    assert "complete as far as it was asked" in words
    assert "Tiny masks: 4 of at most 20 samples, in the order of their ranks; not decided" in words
    assert "gensight spend" in words
    words = decide(tmp_path, TOLD).closing_words()
    assert "stopped because" in words and "gensight spend" not in words
    assert "stop_when" not in plan_of(tmp_path).closing_words()


CHANGES = [
    (PROJECT, {**RULE, "width": 0.3}),
    (PROJECT, {**RULE, "models": ["sharded", "oracle"]}),
    (edited(PROJECT, MID, "turns.0.parts.1.text", "Colour {query}."), RULE),
    (edited(PROJECT, ORACLE, "generation.bit_depth", 16), RULE),
    (edited(PROJECT, MASKS, "dataset.parameters.seed", 2), RULE),
    (edited(PROJECT, MASKS, "held_out.n", 5), RULE),
]


@pytest.mark.parametrize(("files", "rule"), CHANGES)
def test_another_question_starts_again_from_the_first_ranks(tmp_path, files, rule):
    assert n_of(decide(tmp_path, TOLD)) == 10
    plan = plan_with(tmp_path, files, rule)
    assert n_of(plan) == 4
    assert plan.project.stops["tiny_masks"] == Stop(4)
    assert superseded(plan, "tiny_masks") == 10
    assert superseded(plan_with(tmp_path), "tiny_masks") is None


def test_what_asks_nothing_new_keeps_the_ranks(tmp_path):
    decide(tmp_path, TOLD)
    files = edited(PROJECT, ORACLE, "display.label", "Truth")
    assert plan_with(tmp_path, files).project.stops["tiny_masks"] == TOLD
    assert "Truth minus Sharded" in notes_of(plan_with(tmp_path, files))
    assert n_of(plan_with(tmp_path, n={"tiny_masks": 300})) == 10


def test_scores_that_are_made_anew_are_looked_at_anew(tmp_path, library):
    decide(tmp_path, TOLD)
    raise_version(library, "extractors", "mask")
    plan = plan_with(tmp_path)
    assert plan.project.stops["tiny_masks"] == Stop(10)
    assert superseded(plan, "tiny_masks") is None


def test_all_is_no_decision_once_there_are_more(tmp_path):
    stop = Stop(20, "all", 20, -0.4, 0.3)
    assert decide(tmp_path, stop).project.stops["tiny_masks"] == stop
    assert plan_with(tmp_path, n={"tiny_masks": 30}).project.stops["tiny_masks"] == Stop(20)
    told = Stop(20, "told_apart", 20, 0.1, 0.3)
    decide(tmp_path, told)
    assert plan_with(tmp_path, n={"tiny_masks": 30}).project.stops["tiny_masks"] == told


def test_two_runs_keep_their_own_progress(tmp_path):
    decide(tmp_path, TOLD)
    assert n_of(plan_with(tmp_path, name="other")) == 4


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"n": 4}', "state", "drop", "type", "word"])
def test_a_damaged_file_is_one_line(tmp_path, text):
    decide(tmp_path, TOLD)
    path = tmp_path / "ledger/stops/small/tiny_masks.json"
    state = json.loads(path.read_text())
    damaged = {
        "state": json.dumps({**state, "more": 1}),
        "drop": json.dumps({k: v for k, v in state.items() if k != "low"}),
        "type": json.dumps({**state, "n": "10"}),
        "word": json.dumps({**state, "decided": "maybe"}),
    }
    path.write_text(damaged.get(text, text))
    with pytest.raises(SpecError, match="holds no progress; remove it to start from the first"):
        plan_with(tmp_path)


def test_a_ledger_that_cannot_be_written_is_one_line(tmp_path):
    plan = plan_with(tmp_path)
    (tmp_path / "ledger").write_text("a file")
    with pytest.raises(SpecError, match="ledger: cannot keep the progress of 'tiny_masks'"):
        keep(plan, "tiny_masks", Stop(10))
