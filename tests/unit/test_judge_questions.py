"""What a judge is asked and shown, and how often: filled texts, named pictures, attempts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_turns import sample

from gensight import images
from gensight.errors import ImageError, SpecError
from gensight.judges.attempts import Attempt, first_attempts, is_rescored, next_attempt
from gensight.judges.pictures import Shown, enlargement
from gensight.judges.questions import Reference, answer_form, questions, rubric_hash
from gensight.judges.replies import Verdict
from gensight.pixels import PaletteGrid
from gensight.specs.judge import JudgeSpec
from gensight.specs.rubric import PicturesSpec, RubricSpec

RUBRIC = RubricSpec.model_validate(
    {
        "task": "text_to_pixel",
        "reply": "json",
        "dimensions": [{"name": "subject", "most": 20}, {"name": "detail", "least": 1, "most": 5}],
        "notes": ["seen"],
        "parts": [
            {"text": "Is it {label}, at {size}? subject {subject}, detail {detail}; {{}}\n"},
            {"picture": "answer"},
        ],
    }
)
COMPARED = RubricSpec.model_validate(
    {
        "task": "text_to_pixel",
        "reply": "score_line",
        "dimensions": [{"name": "kept", "most": 2, "line": "Visual Consistency"}],
        "per": "reference",
        "parts": [{"picture": "reference"}, {"text": "Keep {hint}."}, {"picture": "answer"}],
    }
)
GRID = PaletteGrid(((255, 255, 255), (200, 30, 30)), np.eye(48, dtype=np.uint8))
ITEM = sample("s1", query="a fox", target_text="fox")
SHOWN = Shown(b"answer", 16)


def asked(rubric=RUBRIC, item=ITEM, shown=SHOWN, **options):
    return list(questions("pixel_icon", rubric, item, shown, **options))


def test_a_rubric_is_filled_for_an_answer():
    (question,) = asked()
    (turn,) = question.request.turns
    text, picture = turn["parts"]
    assert text["text"] == "Is it fox, at 16? subject 0 to 20, detail 1 to 5; {}"
    assert (text["kind"], text["image"]) == ("text", None)
    assert (picture["kind"], picture["image"], picture["text"]) == ("image", "answer", None)
    assert question.pictures == {"answer": b"answer"}
    assert (question.rubric, question.unit) == ("pixel_icon", None)
    assert question.request.sample_ids == ["s1"]
    assert json.loads(turn["answer_form"]) == answer_form(RUBRIC)


def test_the_answer_form_says_what_a_reply_must_hold():
    assert answer_form(RUBRIC) == {
        "kind": "text",
        "content": "judgement",
        "reply": "json",
        "dimensions": {"subject": 20, "detail": 5},
        "reasons": True,
        "notes": ["seen"],
        "line": None,
        "pictures": ["answer"],
    }


def test_one_question_for_each_reference():
    references = [Reference("a", b"first", "the hat"), Reference("b", b"second", "the dog")]
    found = asked(COMPARED, references=references)
    assert [question.unit for question in found] == ["a", "b"]
    assert [question.pictures["reference"] for question in found] == [b"first", b"second"]
    assert {question.pictures["answer"] for question in found} == {b"answer"}
    texts = [question.request.turns[0]["parts"][1]["text"] for question in found]
    assert texts == ["Keep the hat.", "Keep the dog."]
    names = [part["image"] for part in found[0].request.turns[0]["parts"]]
    assert names == ["reference", None, "answer"]
    assert asked(COMPARED) == []


def test_requests_differ_where_anything_does():
    other = RUBRIC.model_copy(update={"notes": []})
    ids = {
        question.request.request_id
        for found in (
            asked(),
            asked(item=sample("s2", query="a fox", target_text="fox")),
            asked(item=replace(ITEM, target_text="dog")),
            asked(shown=Shown(b"another", 16)),
            asked(shown=Shown(b"answer", 32)),
            asked(other),
        )
        for question in found
    }
    assert len(ids) == 6
    assert rubric_hash(other) != rubric_hash(RUBRIC)
    assert asked()[0] == asked()[0]


@pytest.mark.parametrize(
    ("item", "shown", "told"),
    [
        (replace(ITEM, target_text=None), SHOWN, "{label} has no value"),
        (ITEM, Shown(b"answer"), "{size} has no value"),
    ],
)
def test_what_a_sample_lacks_is_told_with_the_rubric(item, shown, told):
    with pytest.raises(SpecError, match=r"resources/rubrics/pixel_icon\.yaml.*") as caught:
        asked(RUBRIC, item, shown)
    assert told in str(caught.value)


def test_the_input_is_shown_where_there_is_one():
    rubric = RubricSpec.model_validate(
        {**RUBRIC.model_dump(), "parts": [{"picture": "input"}, {"picture": "answer"}]}
    )
    (question,) = asked(rubric)
    assert question.pictures == {"input": ITEM.image["bytes"], "answer": b"answer"}
    with pytest.raises(SpecError, match="sample s1 has no picture 'input'"):
        asked(rubric, replace(ITEM, image=None))


@pytest.mark.parametrize(("size", "factor"), [(8, 64), (16, 32), (48, 11), (64, 8), (512, 1)])
def test_cells_are_enlarged_by_the_least_whole_number(size, factor):
    assert enlargement(size, 512) == factor
    assert factor * size >= 512 > (factor - 1) * size


def test_a_grid_is_shown_unsmoothed():
    shown = Shown.of_grid(GRID, PicturesSpec())
    picture = images.decode_rgb(shown.picture, matte=(0, 0, 0))
    assert (shown.size, picture.shape) == (48, (528, 528, 3))
    for row in range(48):
        for column in (0, row, 47):
            cell = picture[row * 11 : row * 11 + 11, column * 11 : column * 11 + 11]
            assert (cell == GRID.picture()[row, column]).all()


def test_a_picture_is_shown_as_it_is_and_a_transparent_one_over_white():
    data = images.encode_png(np.full((4, 6, 3), 7, np.uint8))
    assert Shown.of_picture(data) == Shown(data)
    clear = cv2.imencode(".png", np.zeros((4, 6, 4), np.uint8))[1].tobytes()
    seen = images.decode_rgb(Shown.of_picture(clear).picture, matte=(0, 0, 0))
    assert seen.shape == (4, 6, 3)
    assert (seen == 255).all()
    with pytest.raises(ImageError):
        Shown.of_picture(b"no picture")


def judge(**changes):
    base = {"rubrics": ["r"], "models": ["m"], "display": {"label": "x"}}
    return JudgeSpec.model_validate({**base, **changes})


ALL = {"rescored": {"share": 1.0}}


def test_runs_come_first_and_the_second_look_after_them():
    assert list(first_attempts(judge(repeats=3), "s")) == [Attempt(run=run) for run in range(3)]
    assert list(first_attempts(judge(**ALL), "s")) == [Attempt(), Attempt(rescored=True)]


def test_every_attempt_has_a_key_of_its_own_whatever_else_is_asked():
    judged = judge(repeats=100, reasks=10, **ALL)
    attempts = [
        replace(first, reask=reask)
        for first in first_attempts(judged, "s")
        for reask in range(judged.reasks + 1)
    ]
    repeats = [attempt.repeat for attempt in attempts]
    assert len(set(repeats)) == len(repeats) == 101 * 11
    assert max(repeats) < 2**31
    few = {attempt.repeat for attempt in first_attempts(judge(repeats=3), "s")}
    many = {attempt.repeat for attempt in first_attempts(judge(repeats=5, reasks=4), "s")}
    assert few == {0, 1, 2} < many


def test_only_what_could_not_be_read_is_asked_again_and_not_for_ever():
    judged = judge(reasks=2)
    broken = Verdict(status="unparseable", reason="not_json")
    attempt, asked_of = Attempt(run=1), []
    while attempt is not None:
        asked_of.append(attempt)
        attempt = next_attempt(attempt, broken, judged)
    assert [one.reask for one in asked_of] == [0, 1, 2]
    assert {one.run for one in asked_of} == {1}
    for verdict in (
        Verdict(status="ok", points={"a": 1}),
        Verdict(status="refused", reason="refused_output"),
        Verdict(status="unparseable", reason="truncated"),
        Verdict(status="no_answer", reason="quota"),
    ):
        assert next_attempt(Attempt(), verdict, judged) is None
    assert next_attempt(Attempt(), broken, judge(reasks=0)) is None
    again = next_attempt(Attempt(rescored=True), Verdict(status="empty"), judged)
    assert again == Attempt(reask=1, rescored=True)


IDS = [f"sample_{index}" for index in range(20_000)]


def test_a_share_of_the_samples_is_judged_again():
    drawn = {name for name in IDS if is_rescored(name, 0.1, 0)}
    # 4 standard deviations of 20,000 draws at 0.1.
    assert len(drawn) == pytest.approx(2000, abs=4 * (20_000 * 0.1 * 0.9) ** 0.5)
    assert drawn != {name for name in IDS if is_rescored(name, 0.1, 1)}
    assert all(is_rescored(name, 1.0, 0) for name in IDS[:100])


def test_who_is_judged_again_is_known_for_good():
    """Fixed for ever: the sha256 of the seed and the id, by hand."""
    first = [hashlib.sha256(f"rescored 7 {name}".encode()).hexdigest()[:16] for name in IDS[:200]]
    by_hand = [int(digest, 16) / 2**64 < 0.1 for digest in first]
    assert [is_rescored(name, 0.1, 7) for name in IDS[:200]] == by_hand
    assert 5 < sum(by_hand) < 40


@given(st.text(max_size=20), st.floats(0.001, 1), st.floats(0.001, 1), st.integers())
def test_a_larger_share_only_adds(name, one, other, seed):
    few, many = sorted((one, other))
    assert is_rescored(name, many, seed) or not is_rescored(name, few, seed)
