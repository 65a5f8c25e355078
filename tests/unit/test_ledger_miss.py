"""`gensight ledger explain-miss`: why a question is not answered by what is kept."""

import pytest
from cli_files import answer, call, error
from planned_checkout import PAINTED, TOLD, PlannedCheckout

from gensight.models import Reply
from gensight.runner.ledger import Ledger

CELL = "painter/shapes/mid"
MODEL = "config/models/painter.yaml"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checkout = PlannedCheckout(tmp_path)
    checkout.make_requests()
    return checkout


def told(*arguments):
    done = call("ledger", "explain-miss", *arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_changed_setting_is_named_with_both_values(checkout):
    checkout.ask("painter")
    checkout.edit(MODEL, generation__assumed_image_size="2K")
    found = answer("ledger", "explain-miss", CELL)
    assert (found["questions"], found["answered"]) == (6, 0)
    first = found["first"]
    assert (first["state"], first["compared"], first["turn"]) == ("unknown", 6, 0)
    assert first["changes"] == [
        {"name": "generation.assumed_image_size", "kept": "1K", "asked": "2K"}
    ]
    assert told(CELL)[-1] == '    generation.assumed_image_size: "1K" -> "2K"'


def test_the_nearest_is_the_reply_about_the_same_sample(checkout):
    questions = checkout.questions("painter")
    checkout.ask("painter")
    checkout.edit(MODEL, generation__assumed_image_size="2K")
    for question in questions:
        first = answer("ledger", "explain-miss", CELL, question.sample_id)["first"]
        assert (first["sample"], first["nearest"]) == (question.sample_id, question.key)


def test_changed_words_are_shown_where_they_part(checkout):
    checkout.ask("painter")
    name = "resources/prompts/segmentation/mid.yaml"
    checkout.edit(name, turns=[{**_turn(), "parts": [{"image": "input"}, {"text": _words()}]}])
    checkout.make_requests()
    (change,) = answer("ledger", "explain-miss", CELL)["first"]["changes"]
    assert change["name"] == "parts.1.text"
    line = told(CELL)[-1]
    assert "white." in line
    assert "pure black instead." in line


def _words():
    return "Paint {query} white. Paint all of the rest pure black instead."


def _turn():
    from planned_checkout import MASK_FORM

    return {"parts": [], "answer_form": MASK_FORM}


def test_what_was_not_there_before_is_told_as_absent(checkout):
    checkout.ask("painter")
    path = next((checkout.folder / "ledger/replies/painter").rglob("*.json"))
    assert path.exists()
    checkout.edit(MODEL, generation__temperature=0.5)
    changes = answer("ledger", "explain-miss", CELL)["first"]["changes"]
    assert [change["name"] for change in changes] == ["generation.temperature"]
    assert changes[0]["asked"] == 0.5


def test_a_cell_that_is_answered_says_so(checkout):
    checkout.ask("painter")
    found = answer("ledger", "explain-miss", CELL)
    assert (found["questions"], found["answered"], found["first"]) == (6, 6, None)
    assert told(CELL) == [f"{CELL}: 6 of 6 questions are answered"]


def test_only_what_is_missing_is_explained(checkout):
    checkout.ask("painter", at_most=2)
    found = answer("ledger", "explain-miss", CELL)
    assert found["answered"] == 2
    assert found["first"]["sample"] == checkout.questions("painter")[2].sample_id
    # The samples differ in their picture, and perhaps in what is looked for.
    assert "parts.0.image" in [change["name"] for change in found["first"]["changes"]]


def test_a_later_turn_is_explained_once_the_earlier_ones_are_answered(checkout):
    checkout.run_of("painter", prompts=["plan"])
    checkout.make_requests()
    replies = iter([TOLD_BY_PAINTER, PAINTED])
    checkout.ask("painter", reply=lambda _: next(replies), at_most=1, prompt="plan")
    found = answer("ledger", "explain-miss", "painter/shapes/plan")
    assert (found["answered"], found["first"]["turn"]) == (0, 1)
    assert ", turn 2 is asked under" in told("painter/shapes/plan")[1]


TOLD_BY_PAINTER = Reply("ok", text="left", answered_model="gemini-3.1-flash-image")


def test_an_empty_ledger_has_nothing_to_compare_with(checkout):
    first = answer("ledger", "explain-miss", CELL)["first"]
    assert (first["state"], first["nearest"], first["compared"]) == ("unknown", None, 0)
    assert "no reply of this model" in told(CELL)[-1]
    assert not (checkout.folder / "ledger").exists()


def test_a_question_that_was_sent_says_when_and_what_it_may_have_cost(checkout):
    checkout.attempt(checkout.questions("painter")[0], "in_doubt", usd=0.5)
    first = answer("ledger", "explain-miss", CELL)["first"]
    assert first["state"] == "sent"
    assert any("(in_doubt), 0.50 USD at most" in line for line in told(CELL))


def test_a_question_that_ended_without_an_answer_is_told_by_its_end(checkout):
    checkout.ask("painter", reply=Reply("quota"), at_most=1)
    first = answer("ledger", "explain-miss", CELL)["first"]
    assert (first["state"], first["detail"]) == ("no_answer", "quota")
    assert "got no answer (quota)" in told(CELL)[-1]


def test_a_picture_that_is_not_here_any_more_is_told(checkout):
    checkout.ask("painter", at_most=1)
    for blob in (checkout.folder / "ledger/blobs").rglob("*"):
        if blob.is_file():
            blob.unlink()
    assert answer("ledger", "explain-miss", CELL)["first"]["state"] == "picture_gone"
    assert "the picture is not here" in told(CELL)[-1]


def test_an_answer_of_another_model_is_told_with_what_allows_it(checkout):
    checkout.ask("painter", reply=Reply("ok", images=PAINTED.images, answered_model="other-1"))
    found = answer("ledger", "explain-miss", CELL)
    assert (found["answered"], found["strangers"], found["first"]) == (0, ["other-1"], None)
    assert "answered_as in config/models/painter.yaml" in told(CELL)[1]
    checkout.edit(MODEL, answered_as=["other-*"])
    assert answer("ledger", "explain-miss", CELL)["answered"] == 6


def test_a_local_model_is_not_asked(checkout):
    found = answer("ledger", "explain-miss", "echo/shapes/mid")
    assert (found["questions"], found["answered"]) == (6, 0)
    assert not (checkout.folder / "ledger").exists()
    checkout.write_generations("echo")
    assert answer("ledger", "explain-miss", "echo/shapes/mid")["answered"] == 6


def test_an_entry_that_cannot_be_read_is_left_out_of_the_comparison(checkout):
    key = checkout.questions("painter")[0].key
    checkout.ask("painter")
    Ledger(checkout.folder / "ledger", "painter").entry_path(key).write_text("{")
    checkout.edit(MODEL, generation__assumed_image_size="2K")
    assert answer("ledger", "explain-miss", CELL)["first"]["compared"] == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["paintr/shapes/mid"], "did you mean 'painter/shapes/mid'?"),
        (["painter"], "give MODEL/BENCHMARK/PROMPT"),
        (["teller/numbers/mid"], "is no cell of the run 'small'"),
        ([CELL, "shapes-999"], "is not known"),
    ],
)
def test_mistakes_are_one_line(checkout, arguments, words):
    assert words in error("ledger", "explain-miss", *arguments)


def test_samples_that_are_not_made_are_told_with_what_makes_them(checkout):
    for path in (checkout.folder / "results").rglob("*.parquet"):
        path.unlink()
    assert "snakemake" in error("ledger", "explain-miss", CELL)


def test_replies_of_text_models_are_explained_too(checkout):
    checkout.run_of("teller", benchmarks=["numbers"])
    checkout.make_requests()
    checkout.ask("teller", reply=TOLD)
    checkout.edit("config/models/teller.yaml", generation__max_output_tokens=128)
    (change,) = answer("ledger", "explain-miss", "teller/numbers/mid")["first"]["changes"]
    assert (change["kept"], change["asked"]) == (64, 128)
