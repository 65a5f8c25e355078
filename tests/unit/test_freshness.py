"""Which files are current is decided by digests and contents; what was laid in is checked."""

import os
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from spine_project import (
    CONFIG,
    PROJECT,
    edited,
    plan_of,
    raise_version,
    use_copy_of_library,
)
from spine_rows import ROWS, generation, lay

from gensight.errors import RecordError
from gensight.footers import mark, read_footer
from gensight.freshness import MARKER, settle
from gensight.models import Reply
from gensight.plan import STAGE_VERSIONS
from gensight.records import Generation, write_rows
from gensight.runner.adoption import answered_keys
from gensight.runner.ledger import Ledger
from gensight.specs.model import RetiredSpec
from gensight.specs.project import load_project
from gensight.stages.gaps import note
from gensight.stamps import STATE, mark_built

MASKS = "config/benchmarks/tiny_masks.yaml"
SAMPLES = "results/samples/tiny_masks.parquet"
REQUESTS = "results/requests/tiny_masks/mid.parquet"
GENERATION = "results/generations/oracle/tiny_masks/mid/all.parquet"
PREDICTION = "results/predictions/oracle/tiny_masks/mid/mask.parquet"
SCORE = "results/scores/oracle/tiny_masks/mid/mask.parquet"
SUMMARY = "results/summaries/tiny_masks.parquet"
TABLE, ALL = "results/tables/masks.tex", "results/tables/all.tex"
PARQUET = [SAMPLES, REQUESTS, GENERATION, PREDICTION, SCORE, SUMMARY]
CHAIN = [*PARQUET, TABLE, ALL]


@pytest.fixture(autouse=True)
def library(monkeypatch, tmp_path):
    """A checkout whose only model is the oracle, as the working directory."""
    package = use_copy_of_library(monkeypatch, tmp_path / "library")
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    return package


RUN = {**CONFIG["run"], "models": ["oracle"], "benchmarks": ["tiny_masks"], "prompts": ["mid"]}
SMALL = {**CONFIG, "run": RUN}


def files_of(files=PROJECT):
    return plan_of(Path.cwd(), files, SMALL).files()


def judge(files, main_process=True):
    project = load_project(SMALL, Path.cwd())
    return settle(files, project, main_process=main_process)


def lay_all(files, paths=CHAIN, tag="first"):
    """Write files of a run; nothing is remembered as made here."""
    for path in paths:
        lay_one(files[path], tag)


def lay_one(planned, tag="first"):
    if planned.stage in ROWS:
        lay(planned, tag)
        return
    contents = {path: read_footer(path).content for path in planned.inputs}
    for path in (planned.path, *planned.siblings):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(f"% {mark(planned.digest, contents)}\n")


def make_here(planned, tag="first"):
    lay_one(planned, tag)
    mark_built(planned.path, read_footer(planned.path).content)


def times(paths):
    return [Path(path).stat().st_mtime_ns for path in paths]


def test_nothing_is_there_and_nothing_is_judged():
    verdict = judge(files_of())
    assert (verdict.current, verdict.outdated, verdict.adopted) == (set(), set(), [])


def test_a_tree_that_was_laid_in_is_current_and_adopted_once():
    files = files_of()
    lay_all(files)
    first = judge(files)
    assert first.current == set(CHAIN) and not first.outdated
    assert first.adopted == [path for path in files if path in CHAIN]
    second = judge(files)
    assert second.current == set(CHAIN) and second.adopted == []


def test_a_current_file_is_given_only_the_inputs_that_exist():
    files = files_of()
    lay_all(files, [GENERATION, SCORE])
    verdict = judge(files)
    assert verdict.inputs(files[GENERATION]) == []
    assert verdict.inputs(files[SCORE]) == []
    assert verdict.inputs(files[PREDICTION]) == [SAMPLES, GENERATION]
    assert verdict.inputs(files[SUMMARY]) == [SCORE]


def test_a_picture_that_is_gone_is_not_made_again_for_a_gallery_if_its_scores_are_current():
    files = files_of()
    gallery = replace(
        files[TABLE],
        path="results/figures/gallery.png",
        inputs=(SAMPLES, GENERATION, PREDICTION, SCORE),
        spared={GENERATION: SCORE, PREDICTION: SCORE},
    )
    assert judge(files).inputs(gallery) == [SAMPLES, GENERATION, PREDICTION, SCORE]
    lay_all(files, [SCORE])
    assert judge(files).inputs(gallery) == [SAMPLES, SCORE]
    lay_all(files, [PREDICTION])
    assert judge(files).inputs(gallery) == [SAMPLES, PREDICTION, SCORE]


@pytest.mark.parametrize("step", [1, -1])
def test_times_are_put_in_order_whatever_they_were(step):
    files = files_of()
    lay_all(files)
    for i, path in enumerate(CHAIN):
        os.utime(path, ns=(10**18 + step * i * 10**9,) * 2)
    csv = "results/tables/masks.csv"
    os.utime(csv, ns=(10**17,) * 2)
    judge(files)
    for path in CHAIN:
        for source in files[path].inputs:
            if Path(source).exists():
                assert times([path]) >= times([source])
    assert times([csv]) >= times([SUMMARY])
    before = times(CHAIN)
    judge(files)
    assert times(CHAIN) == before


def test_times_that_are_in_order_are_left_alone():
    files = files_of()
    lay_all(files)
    before = times(CHAIN)
    judge(files)
    assert times(CHAIN) == before


def everything_below(folder="."):
    found = Path(folder).rglob("*")
    return {str(path): Path(path).stat().st_mtime_ns for path in found if path.is_file()}


def test_only_the_main_process_writes():
    files = files_of()
    lay_all(files)
    for i, path in enumerate(reversed(CHAIN)):
        os.utime(path, ns=(10**18 + i * 10**9,) * 2)
    before = everything_below()
    verdict = judge(files, main_process=False)
    assert verdict.current == set(CHAIN)
    assert everything_below() == before
    judge(files)
    assert everything_below() != before


# Made here, and the plan has changed since: made again


def test_what_was_made_here_is_outdated_when_the_plan_changes():
    for planned in files_of().values():
        make_here(planned)
    files = files_of(edited(PROJECT, MASKS, "n", 40))
    verdict = judge(files)
    assert verdict.outdated == set(CHAIN) and not verdict.current
    assert verdict.inputs(files[SCORE]) == [SAMPLES, PREDICTION]
    assert verdict.marker(files[SCORE]) == [str(MARKER)]
    assert times([MARKER]) >= [max(times(CHAIN))]


def test_what_had_been_current_here_is_outdated_when_the_plan_changes(library):
    lay_all(files_of())
    judge(files_of())
    raise_version(library, "extractors", "mask")
    verdict = judge(files_of())
    assert verdict.current == {SAMPLES, REQUESTS, GENERATION}
    assert verdict.outdated == {PREDICTION, SCORE, SUMMARY, TABLE, ALL}


def test_an_outdated_file_that_is_made_again_is_current():
    files = files_of()
    make_here(files[SAMPLES])
    grown = files_of(edited(PROJECT, MASKS, "n", 40))
    assert judge(grown).outdated == {SAMPLES}
    make_here(grown[SAMPLES])
    assert judge(grown).current == {SAMPLES}


def test_a_label_outdates_tables_alone():
    for planned in files_of().values():
        make_here(planned)
    files = files_of(edited(PROJECT, MASKS, "display.label", "Other"))
    assert judge(files).outdated == {TABLE, ALL}


# The chain of contents


def test_a_generation_with_other_content_outdates_its_prediction_alone():
    files = files_of()
    lay_all(files)
    judge(files)
    lay(files[GENERATION], "another")
    verdict = judge(files)
    assert verdict.outdated == {PREDICTION}
    assert verdict.marker(files[PREDICTION]) == [str(MARKER)]


def test_a_generation_made_again_with_the_same_content_outdates_nothing():
    files = files_of()
    lay_all(files)
    judge(files)
    lay(files[GENERATION])
    assert judge(files).outdated == set()


@pytest.mark.parametrize(
    ("changed", "outdated"), [(PREDICTION, {SCORE}), (SCORE, {SUMMARY}), (SAMPLES, set())]
)
def test_each_link_of_the_chain_is_checked(changed, outdated):
    files = files_of()
    lay_all(files)
    lay(files[changed], "another")
    assert judge(files).outdated == outdated


def test_a_missing_link_is_not_held_against_a_file():
    files = files_of()
    lay_all(files)
    Path(GENERATION).unlink()
    Path(SCORE).unlink()
    verdict = judge(files)
    assert verdict.current == set(CHAIN) - {GENERATION, SCORE}


def test_a_table_of_another_summary_is_outdated():
    files = files_of()
    lay_all(files)
    stage, rows = ROWS["summaries"]
    write_rows(SUMMARY, stage, rows("") * 2, files[SUMMARY].determinants, [SCORE])
    assert judge(files).outdated == {TABLE}


def test_a_table_without_its_siblings_is_outdated():
    files = files_of()
    lay_all(files)
    Path("results/tables/masks.csv").unlink()
    assert judge(files).outdated == {TABLE}


# Laid in, and never what the plan wants: refused


def refusal(files):
    with pytest.raises(RecordError) as caught:
        judge(files)
    message = str(caught.value)
    assert "\n" not in message
    return message


# (key edited, value, dotted key in the message, old, new)
FOREIGN = [
    ("n", 40, "n", "20", "40"),
    ("dataset.parameters.seed", 7, "parameters.seed", "1", "7"),
    ("held_out.n", 6, "held_out.n", "4", "6"),
]


@pytest.mark.parametrize("laid", [SAMPLES, GENERATION, PREDICTION, SCORE])
@pytest.mark.parametrize(("key", "value", "named", "old", "new"), FOREIGN)
def test_another_n_or_seed_is_refused(laid, key, value, named, old, new):
    lay_all(files_of(), [laid])
    message = refusal(files_of(edited(PROJECT, MASKS, key, value)))
    assert message.startswith(f"{laid} was laid in and is not what this run plans: ")
    assert re.search(rf"[ .]{re.escape(named)} is {old} in the file and {new} in the plan", message)
    assert "gensight archive adopt" in message


def test_a_refused_file_stays_refused_and_is_left_alone():
    lay_all(files_of(), [SAMPLES])
    before = Path(SAMPLES).read_bytes()
    files = files_of(edited(PROJECT, MASKS, "n", 40))
    assert refusal(files) == refusal(files)
    assert Path(SAMPLES).read_bytes() == before
    assert not MARKER.exists()


def test_a_file_laid_in_over_one_made_here_is_refused():
    files = files_of()
    make_here(files[SAMPLES])
    judge(files)
    grown = files_of(edited(PROJECT, MASKS, "n", 40))
    lay(grown[SAMPLES], "another")
    assert "n is 40 in the file and 20 in the plan" in refusal(files)


def test_what_a_person_chose_is_named_before_versions_of_code(library):
    lay_all(files_of(), [PREDICTION])
    raise_version(library, "extractors", "mask")
    files = files_of(edited(PROJECT, MASKS, "n", 40))
    assert ".n is 20 in the file and 40 in the plan" in refusal(files)


@pytest.mark.parametrize("path", [PREDICTION, SCORE])
def test_predictions_of_another_version_are_made_again(library, path):
    lay_all(files_of(), [GENERATION, path])
    raise_version(library, "extractors", "mask")
    verdict = judge(files_of())
    assert verdict.current == {GENERATION} and verdict.outdated == {path}


def test_generations_of_another_adapter_version_are_refused(library):
    lay_all(files_of(), [GENERATION])
    raise_version(library, "models", "reference")
    assert "adapter_version is 2 in the file and 3 in the plan" in refusal(files_of())


def test_generations_of_another_stage_version_are_refused(monkeypatch):
    lay_all(files_of(), [GENERATION])
    monkeypatch.setitem(STAGE_VERSIONS, "generations", STAGE_VERSIONS["generations"] + 1)
    assert "stage_version is 3 in the file and 4 in the plan" in refusal(files_of())


@pytest.mark.parametrize("path", [SUMMARY, TABLE])
def test_summaries_and_tables_are_made_again_never_refused(path):
    files = files_of()
    lay_all(files)
    for other in set(CHAIN) - {path}:
        Path(other).unlink()
    assert judge(files_of(edited(PROJECT, MASKS, "n", 40))).outdated == {path}


def test_a_damaged_file_is_one_line():
    files = files_of()
    lay_all(files, [SAMPLES, GENERATION])
    Path(GENERATION).write_bytes(Path(GENERATION).read_bytes()[:-20])
    assert refusal(files).startswith(f"{GENERATION}: cannot be read (")


def lay_generations(files, *rows):
    write_rows(GENERATION, Generation, rows, files[GENERATION].determinants, note=note)


@pytest.mark.parametrize(
    ("config", "outcome", "asks_again"),
    [
        ({}, "bad_request", True),
        ({}, "in_doubt", True),
        ({"unresolved": "keep"}, "bad_request", True),
        ({"unresolved": "keep"}, "error", True),
        ({"unresolved": "keep"}, "in_doubt", False),
        ({"unresolved": "keep"}, "pending", True),
        ({"unresolved": "keep"}, "model_gone", True),
        ({"unresolved": "keep", "hosted": {"in_doubt": "resend"}}, "in_doubt", True),
    ],
)
def test_gaps_are_asked_again_unless_they_are_left_alone(config, outcome, asks_again):
    files = files_of()
    lay_generations(files, generation(0), generation(1, outcome=outcome, image=None))
    assert read_footer(GENERATION).gaps == {outcome: 1}
    verdict = settle(files, load_project({**SMALL, **config}, Path.cwd()), main_process=True)
    assert (GENERATION in verdict.outdated) == asks_again
    assert (GENERATION in verdict.current) != asks_again


def test_answers_of_a_model_that_is_not_asked_for_any_more_stop_the_run():
    files = files_of()
    lay_generations(files, generation(0, answered_model="other-2"), generation(1))
    told = refusal(files)
    assert told.startswith(f"{GENERATION}: holds answers of other-2")
    assert "answered_as" in told and "remove the file" in told


def with_oracle(**changes):
    """Return the project with another kind of model under the oracle's name."""
    project = load_project(SMALL, Path.cwd())
    changed = project.models["oracle"].model_copy(update=changes)
    return replace(project, models={**project.models, "oracle": changed})


def test_gaps_of_a_model_that_is_known_to_be_gone_are_left_alone():
    files = files_of()
    lay_generations(files, generation(0), generation(1, outcome="model_gone", image=None))
    retired = RetiredSpec(date=date(2026, 1, 1), source="a page")
    project = with_oracle(retired=retired)
    kept = replace(project, config=project.config.model_copy(update={"unresolved": "keep"}))
    assert GENERATION in settle(files, kept, main_process=True).current


def adopted():
    return list(Path("ledger").glob("adopted/oracle/*.parquet"))


def test_a_ledger_that_was_lost_is_answered_for_by_the_generations_that_are_here():
    files, local = files_of(), with_oracle(adapter="diffusers_edit")
    make_here(files[GENERATION])
    settle(files, local, main_process=True)
    assert adopted() == [], "nothing is to be asked"
    grown = files_of(edited(PROJECT, MASKS, "n", 40))
    settle(grown, local, main_process=False)
    assert adopted() == []
    # Some other answer of the model is there already: that says nothing about these.
    Path("ledger/replies/oracle").mkdir(parents=True)
    for _ in range(2):
        settle(grown, local, main_process=True)
        assert len(adopted()) == 1


def test_a_ledger_that_has_every_answer_is_left_as_it_is():
    files = files_of()
    make_here(files[GENERATION])
    kept = Ledger(Path("ledger"), "oracle")
    for key in answered_keys(Path(GENERATION)):
        kept.record(key, Reply("ok", images=(b"painted",)), {}, None)
    local = with_oracle(adapter="diffusers_edit")
    settle(files_of(edited(PROJECT, MASKS, "n", 40)), local, main_process=True)
    assert adopted() == []


def test_a_file_that_was_laid_in_with_gaps_answers_for_its_keys_and_is_asked_the_rest():
    files = files_of()
    lay_generations(files, generation(0), generation(1, outcome="bad_request", image=None))
    Path("ledger/replies/oracle").mkdir(parents=True)
    verdict = judge(files)
    assert GENERATION in verdict.outdated and GENERATION in verdict.adopted
    assert len(adopted()) == 1


def test_files_outside_the_run_are_not_looked_at():
    files = files_of()
    other = Path("results/generations/other/tiny_masks/mid/all.parquet")
    other.parent.mkdir(parents=True)
    other.write_bytes(b"rubbish")
    assert judge(files).current == set()


# What is remembered between runs


@pytest.mark.parametrize("content", ["", "{", '{"results/x.parquet": [1'])
def test_a_cache_cut_short_costs_nothing_but_time(content):
    files = files_of()
    lay_all(files)
    judge(files)
    (STATE / "footers.json").write_text(content)
    verdict = judge(files)
    assert verdict.current == set(CHAIN) and verdict.adopted == []


def test_the_cache_never_hides_a_file_that_was_replaced():
    files = files_of()
    lay_all(files)
    judge(files)
    lay(files[GENERATION], "another")
    (moment,) = times([SCORE])
    os.utime(GENERATION, ns=(moment + 1,) * 2)
    assert judge(files).outdated == {PREDICTION}


def test_generations_that_were_laid_in_go_to_the_ledger():
    files = files_of()
    lay_all(files)
    judge(files)
    adopted = list(Path("ledger/adopted/oracle").glob("*.parquet"))
    assert [path.read_bytes() for path in adopted] == [Path(GENERATION).read_bytes()]
    judge(files)
    assert list(Path("ledger/adopted/oracle").glob("*.parquet")) == adopted
