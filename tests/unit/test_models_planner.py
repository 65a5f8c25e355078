"""The planner: what it paints in a later turn comes from the reply it is shown."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_turns import BOX, MASK, answer, box_sample, pixels, turn

from gensight.models.reference import planner

PROMPT = "Mark the region you found, in white on black, 1 picture."


def test_two_turns_paint_the_tight_box():
    item = box_sample(16, 24, 48, 72)
    plan = answer("planner", turn(item, BOX, "Where is it?"))
    assert plan.text == "[125.0, 250.0, 375.0, 750.0]"
    grey = pixels(answer("planner", turn(item, MASK, PROMPT, plan.text)))
    expected = np.zeros((768, 1024), dtype=np.uint8)
    expected[192:576, 128:384] = 255
    np.testing.assert_array_equal(grey, expected)


def test_later_turns_follow_the_shown_reply_and_never_the_truth():
    shown = turn(box_sample(16, 24, 48, 72), MASK, PROMPT, "[500, 500, 750, 1000]")
    grey = pixels(answer("planner", shown))
    assert (grey > 0).sum() == 256 * 384
    assert grey[500, 600] == 255
    truths = (box_sample(1, 1, 5, 5), None)
    replies = {answer("planner", replace(shown, truth=truth)) for truth in truths}
    assert replies == {answer("planner", shown)}


@pytest.mark.parametrize("texts", [(), (PROMPT,), (PROMPT, "none"), (PROMPT, "[9, 9, 9, 9]")])
def test_without_a_box_there_is_only_text(texts):
    reply = answer("planner", turn(box_sample(16, 24, 48, 72), MASK, *texts))
    assert reply.outcome == "text_only"
    assert reply.images == ()
    assert reply.text


def test_empty_targets_end_in_text():
    item = box_sample(0, 0, 0, 0)
    plan = answer("planner", turn(item, BOX))
    assert (plan.outcome, plan.text) == ("ok", "none")
    assert answer("planner", turn(item, MASK, PROMPT, plan.text)).outcome == "text_only"


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("[125.0, 250.0, 375.0, 750.0]", (125, 250, 375, 750)),
        ("1 2 3 4", (1, 2, 3, 4)),
        ("box: 10,20,30,40.", (10, 20, 30, 40)),
        ("(10 , 20 , 30 , 40)", (10, 20, 30, 40)),
        ("in 2 steps: [0, 0, 1000, 1000]", (0, 0, 1000, 1000)),
        ("[10, 20, 30]", None),
        ("[30, 20, 10, 40]", None),
        ("[10, 40, 30, 20]", None),
        ("[10, 20, 30, 1001]", None),
        ("[10, 20, 1200, 400]", None),
        ("x0=10 y0=20 x1=30 y1=40", None),
        ("", None),
    ],
)
def test_boxes_in_text(text, box):
    assert planner.find_box(text) == box


@given(st.text(alphabet="0123456789., []x-", max_size=60))
def test_any_text_has_a_valid_box_or_none(text):
    box = planner.find_box(text)
    if box is not None:
        left, top, right, bottom = box
        assert 0 <= left < right <= 1000
        assert 0 <= top < bottom <= 1000


@given(st.tuples(*[st.integers(0, 1000)] * 4))
def test_mask_area_is_the_box_area(corners):
    left, right = sorted(corners[:2])
    top, bottom = sorted(corners[2:])
    mask = planner.box_mask((left, top, right, bottom), 1000, 500)
    assert mask.sum() == pytest.approx((right - left) * (bottom - top) / 2, abs=(right - left) / 2)
