"""Where grids come from: what a run must make, and what is made again when grids change."""

from __future__ import annotations

import re

import pytest
from pixel_road import FORM, PixelRoad, prompt, some_grid

from gensight.cli.checkout import load_checkout
from gensight.errors import SpecError
from gensight.footers import read_footer

WORDS = {"kind": "text", "content": "free"}
NAME, REDRAW = "config/benchmarks/name.yaml", "config/benchmarks/redraw.yaml"
REQUESTS = "results/requests/name/letter_8.parquet"
ANSWERS = "results/generations/reader/name/letter_8/all.parquet"
READ = "results/predictions/painter/redraw/grid_8/grid.parquet"


@pytest.fixture
def road(tmp_path, monkeypatch):
    """A road whose source leaves rank 1 without an answer, and draws rank 2 wrong."""
    monkeypatch.chdir(tmp_path)
    made = PixelRoad(tmp_path)
    made.run_of(
        models=["painter", "reader"],
        benchmarks=["redraw", "name"],
        prompts=["grid_8", "letter_8"],
    )
    made.edit("config/config.yaml", unresolved="keep")
    made.edit(NAME, source__model="painter")
    made.answers["reader"] = lambda question: "A"
    made.answers["painter"] = gap_and_mistake
    return made


def rank_of(question):
    return int(question.sample_id[-6:])


def painted(question):
    return some_grid(8, seed=rank_of(question)).text()


def gap_and_mistake(question):
    return {1: None, 2: "[]"}.get(rank_of(question), painted(question))


def asked(road, benchmark="name"):
    """The ranks that scripted models were asked about since the last call."""
    found = [rank_of(question) for question in road.asked if question.benchmark == benchmark]
    road.asked.clear()
    return found


# -- freshness


def test_a_grid_that_came_late_makes_its_question_and_no_other(road):
    """The source's gap is closed by a later run: only that question is asked now."""
    road.make()
    assert asked(road) == [0, 3, 4, 5]
    before = {
        row.rank: row.request_key for row in road.rows("generations/reader/name/letter_8/all")
    }
    road.answers["painter"] = painted  # what is in the ledger is not asked again
    made = road.make()
    assert {REQUESTS, ANSWERS, READ} <= set(made)
    assert asked(road) == [1]
    after = {row.rank: row.request_key for row in road.rows("generations/reader/name/letter_8/all")}
    assert {rank for rank in after if after[rank] != before[rank]} == {1}
    assert road.make() == []


def test_a_source_that_answers_anew_is_asked_about_anew_and_the_old_answers_stay(road):
    """Another setting of the source gives other grids of some samples, and then the old ones."""
    road.make()
    road.asked.clear()
    road.answers["painter"] = lambda q: "{}" if rank_of(q) == 0 else painted(q)
    road.edit("config/models/painter.yaml", generation__max_output_tokens=128)
    road.make()
    # Rank 0 has no grid any more, 1 and 2 have one now; 3 to 5 drew the same again.
    assert asked(road) == [1, 2]
    (unasked,) = (
        row.rank
        for row in road.rows("generations/reader/name/letter_8/all")
        if row.outcome == "no_source"
    )
    assert unasked == 0
    # Back again (the gap is still one): nothing is asked that was answered.
    road.edit("config/models/painter.yaml", generation__max_output_tokens=64)
    road.answers["painter"] = gap_and_mistake
    road.make()
    assert asked(road) == []


def unasked(road):
    """Return why questions were not put, by rank."""
    return {row.rank: row.unasked for row in road.rows("requests/name/letter_8") if row.unasked}


def test_a_gap_of_the_source_that_turns_out_to_be_no_grid_asks_nobody(road):
    """While nobody knows the grid its question is a gap; then it is one that cannot be put."""
    road.make()
    assert unasked(road) == {1: "source_missing", 2: "no_source"}
    assert read_footer(ANSWERS).gaps == {"source_missing": 1}
    road.asked.clear()
    road.answers["painter"] = lambda q: "{}" if rank_of(q) in (1, 2) else painted(q)
    made = road.make()
    assert {READ, REQUESTS, ANSWERS} <= set(made)
    assert unasked(road) == {1: "no_source", 2: "no_source"}
    assert read_footer(ANSWERS).gaps == {} and asked(road) == []


def test_questions_about_other_grids_are_outdated_whatever_the_times(road):
    """Predictions of the same plan with other grids lie there: requests, then answers, follow."""
    road.make()
    road.asked.clear()
    kept = {path: (road.folder / path).read_bytes() for path in (READ, REQUESTS, ANSWERS)}
    road.answers["painter"] = painted
    road.make()
    assert asked(road) == [1]
    # The old answers are laid back: they saw other questions.
    (road.folder / ANSWERS).write_bytes(kept[ANSWERS])
    made = road.make()
    assert ANSWERS in made and REQUESTS not in made
    assert asked(road) == []
    # The old questions are laid back: they saw other grids.
    (road.folder / REQUESTS).write_bytes(kept[REQUESTS])
    made = road.make()
    assert {REQUESTS, ANSWERS} <= set(made)
    assert asked(road) == []
    assert {row.outcome for row in road.rows("generations/reader/name/letter_8/all")} == {
        "ok",
        "no_source",  # rank 2, drawn wrong
    }


def test_where_the_sources_files_are_gone_the_answers_stand(road):
    road.make()
    road.asked.clear()
    (road.folder / READ).unlink()
    (road.folder / REQUESTS).unlink()
    made = road.make("name/letter_8/letter")
    assert {READ, REQUESTS} <= set(made)
    assert asked(road) == []


def test_a_raised_version_of_what_reads_grids_asks_nobody_again(road, monkeypatch):
    """Then every file behind it is another one, and every answer is in the ledger."""
    from gensight.plan import determinants

    road.make()
    road.asked.clear()
    version = determinants.version_of

    def raised(room, name):
        return version(room, name) + (name == "palette_grid")

    monkeypatch.setattr(determinants, "version_of", raised)
    made = road.make()
    assert {READ, REQUESTS, ANSWERS} <= set(made)
    # The painter's gap is asked about once more, as in every run.
    assert (asked(road, "redraw"), asked(road)) == ([1], [])


# -- what a run must make


def refusal():
    with pytest.raises(SpecError) as caught:
        load_checkout()
    assert "\n" not in str(caught.value)
    return str(caught.value)


ASKS = "'name' under the prompt 'letter_8' asks about grids of 'painter' on 'redraw'; add "


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("models", ["nearest", "reader"], "painter"),
        ("benchmarks", ["name"], "redraw"),
        ("prompts", ["grid_16", "letter_8"], "grid_8"),
    ],
)
def test_a_run_without_the_sources_parts_is_one_line(road, key, value, wanted):
    road.run_of(**{key: value})
    assert refusal() == f"config/config.yaml: run.{key}: {ASKS}'{wanted}'"


def test_a_run_that_asks_nothing_about_grids_needs_no_source(road):
    road.run_of(models=["reader"], benchmarks=["name"], prompts=["options_only"])
    assert road.plan().files()


def test_a_source_that_does_not_answer_is_one_line(road):
    road.edit("config/models/painter.yaml", tasks=["text_to_pixel"])
    told = "source.model: 'painter' does not answer the prompt 'grid_8' of 'redraw' in this run"
    assert told in refusal()
    road.edit("config/models/painter.yaml", tasks=["image_to_pixel"], answers="image")
    assert told in refusal()
    road.edit("config/models/painter.yaml", answers="text")
    load_checkout()
    road.run_of(subjects={"others": ["reader"]}, prompt_subjects={"grid_8": "others"})
    assert told in refusal()


def test_a_source_gives_one_grid_of_a_sample(road):
    spoilt = {"method": "drawer", "grid_disturbance": "collapse", "severities": [2, 4]}
    road.edit("config/models/drawer.yaml", generation=spoilt)
    road.edit(NAME, source={"model": "drawer", "benchmark": "draw", "prompt": "grid"})
    road.run_of(models=["drawer", "reader"], benchmarks=["draw", "name"])
    assert "source.model: 'drawer' answers once for each of its severities" in refusal()


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"n": {"redraw": 4}}, "asks about 6 samples under 'letter_8', .* 'grid_8' for 4;"),
        ({"n": {"name": "all"}}, "asks about all samples under 'letter_8', .* 'grid_8' for 6;"),
        ({"prompt_ranks": {"grid_8": 3}}, "asks about 6 samples .* 'grid_8' for 3;"),
    ],
)
def test_a_source_that_answers_about_fewer_samples_is_one_line(road, run, told):
    road.run_of(**run)
    assert re.search(told, refusal())


@pytest.mark.parametrize(
    "run",
    [
        {"n": {"name": 4}},
        {"n": {"redraw": "all"}},
        {"prompt_ranks": {"letter_8": 3, "grid_8": 3}},
        {"prompt_ranks": {"letter_8": 3}, "n": {"redraw": 3}},
    ],
)
def test_a_source_may_answer_about_more_samples_than_are_asked_about(road, run):
    road.run_of(**run)
    load_checkout()


# -- what a benchmark must say


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"source": ...}, "source: missing, and the prompt 'letter_8' asks about grids"),
        ({"source__model": "nobody"}, "source.model: 'nobody' is not known"),
        ({"source__benchmark": "redrew"}, "source.benchmark: 'redrew' is not known.*'redraw'"),
        ({"source__prompt": "letter"}, "source.prompt: 'letter_8' is not known"),
        ({"source__reading": "found"}, "source.reading: 'found' is not known.*grid"),
        ({"source__variant": "loose"}, "source.variant: 'loose' is not known.*lenient, strict"),
        ({"prompts": ["letter_8", "letter_4"]}, "prompts: 'letter_4' is not known"),
    ],
)
def test_what_is_wrong_with_a_source_is_one_line(road, changes, told):
    road.edit(NAME, **changes)
    assert re.match(f"config/benchmarks/name.yaml: {told}", refusal())


def test_a_variant_that_the_reading_does_not_have_is_one_line(road):
    road.edit(REDRAW, scorers__grid__parameters={"variants": ["strict"]})
    road.edit(REDRAW, scorers__found__parameters={"variants": ["strict"]})
    assert "source.variant: 'lenient' is not known" in refusal()
    road.edit(NAME, source__variant="strict")
    load_checkout()


def test_a_source_that_asks_for_words_is_one_line(road):
    words = prompt("image_to_pixel", "Say it in {size} words.", WORDS, sizes=[8, 16])
    road.write("resources/prompts/image_to_pixel/say.yaml", words)
    road.edit(REDRAW, prompts=["grid_8", "say_8", "say_16"])
    road.edit(NAME, source__prompt="say")
    assert "source.prompt: 'say' of 'redraw' asks for no grid" in refusal()


def test_a_source_that_shows_grids_itself_is_one_line(road):
    """It could be its own source, without end."""
    again = prompt("pixel_understanding", "{grid}", {**FORM, "shape": "grid"}, sizes=[8, 16])
    road.write("resources/prompts/pixel_understanding/letter.yaml", again)
    road.edit(NAME, source={"model": "reader", "benchmark": "name", "prompt": "letter"})
    assert "source.prompt: 'letter' of 'name' shows grids of its own source" in refusal()


def test_a_reading_of_something_else_is_one_line(road):
    words = {"extractor": "text", "measure": "text_match", "metrics": ["exact_match"]}
    road.edit(REDRAW, scorers__words=words)
    road.edit(NAME, source__reading="text")
    assert "source.reading: 'text' of 'redraw' reads no grids" in refusal()


@pytest.mark.parametrize(
    "change",
    [
        {"dataset__parameters__seed": 1},
        {"dataset__parameters__drawings": "emoji"},
        {"dataset": {"module": "pixelbench_concepts"}},
    ],
)
def test_a_benchmark_of_other_samples_than_its_sources_is_one_line(road, change):
    road.edit(NAME, **change)
    assert refusal() == (
        "config/benchmarks/name.yaml: dataset: its samples are not those of the source 'redraw'; "
        "give both the same module, manifest and parameters, but for the task"
    )


def test_a_parameter_may_be_said_or_left_to_its_default(road):
    road.edit(NAME, dataset__parameters__seed=0)
    load_checkout()


@pytest.mark.parametrize("file", [NAME, REDRAW])
def test_samples_that_are_drawn_afresh_cannot_be_shared(road, file):
    road.edit(file, dataset__parameters__seed="fresh")
    told = refusal()
    assert told.startswith(f"{file}: dataset.parameters.seed: 'fresh' draws other samples")


def test_sources_are_told_by_sizes_that_they_have(road):
    road.edit(REDRAW, prompts=["grid_8"])
    assert "source.prompt: 'grid_16' is not known" in refusal()
    road.edit(NAME, prompts=["letter_8", "options_only"])
    load_checkout()
