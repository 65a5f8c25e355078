"""`google_generate` against a fake on loopback: every fault and answer, one request each."""

from __future__ import annotations

import pytest
from fakes.billing import Scenario
from fakes.google import GoogleFake
from fakes.painters import plain
from played_turns import play
from sent_requests import KEY, PNG, turn

from gensight.models import google_generate
from gensight.providers import google
from gensight.providers.usage import Usage

PAINTER = {"model": "gemini-3-pro-image", "response_modalities": ["IMAGE"]}
READER = {"model": "gemini-3.8-flash", "thinking": 0}
ASKED = turn("Paint the mask of the cup.", PNG)

#: What each fault of the fake is to the runner: a fault of the provider, or an outcome.
ENDS = {
    "ok": "ok",
    "wait_429": "wait",
    "quota_429": "quota",
    "quota_402": "quota",
    "error_500": "overloaded",
    "error_500_bare": "in_doubt",
    "overloaded_503": "overloaded",
    "overloaded_529": "overloaded",
    "timeout_504": "in_doubt",
    "auth_401": "auth",
    "gone_404": "gone",
    "bad_request_400": "bad_request",
    "leak_key": "auth",
    "refused_200": "refused_output",
    "no_image": "no_image",
    "text_only": "text_only",
    "thought_image": "ok",
    "two_images": "ok",
    "truncated": "truncated",
    "wrong_model": "ok",
    "slow": "ok",
    "hang_after_charge": "in_doubt",
    "drop_before_charge": "in_doubt",
    "drop_after_charge": "in_doubt",
    "drop_mid_body": "in_doubt",
    "html_200": "in_doubt",
    "empty_200": "in_doubt",
    "broken_json": "in_doubt",
}


def played(fault="ok", generation=PAINTER, asked=ASKED, **options):
    with GoogleFake(scenario=Scenario().default(fault, **options)) as fake:
        limit_s = 0.3 if fault == "hang_after_charge" else 10.0
        found = play(fake, google_generate, google, generation, asked, limit_s)
        assert len(fake.journal) == 1
        return found, fake


@pytest.mark.parametrize("fault", ENDS)
def test_every_fault_is_told_and_asked_once(fault):
    options = {"delay_s": 0.01} if fault == "slow" else {}
    found, _ = played(fault, **options)
    assert found.end == ENDS[fault]
    assert KEY not in repr((found.fault, found.reply))


def test_a_picture_is_what_was_painted_and_its_bill_is_the_fake_s():
    found, fake = played()
    painted = plain(["Paint the mask of the cup."], [PNG]).image
    assert found.reply.images == (painted,)
    assert found.reply.answered_model == "gemini-3-pro-image"
    used = Usage.from_json(found.reply.usage)
    usd = (
        (used.input_text_tokens + used.input_image_tokens) * 2.0
        + used.output_text_tokens * 12.0
        + used.output_image_tokens * 120.0
    ) / 1e6
    assert usd == pytest.approx(fake.charged_usd, abs=1e-9)
    assert used.output_image_tokens == 1120 and used.input_image_tokens == 560


def test_a_thought_picture_is_not_the_answer():
    found, _ = played("thought_image")
    assert found.reply.images == (plain(["Paint the mask of the cup."], [PNG]).image,)


def test_two_pictures_are_kept_and_the_last_is_the_answer():
    found, _ = played("two_images")
    painted = plain(["Paint the mask of the cup."], [PNG]).image
    assert found.reply.images[0] == painted
    assert len(found.reply.images) == 2 and found.reply.images[1] != painted


def test_a_refused_prompt():
    found, _ = played("refused_200", stage="input")
    assert (found.end, found.reply.detail) == ("refused_input", "PROHIBITED_CONTENT")


def test_a_text():
    found, _ = played(generation=READER)
    assert (found.reply.outcome, found.reply.text, found.reply.images) == ("ok", "7", ())


def test_the_model_that_answered_is_told():
    found, _ = played("wrong_model", model="gemini-0")
    assert found.reply.answered_model == "gemini-0"
    found, _ = played(generation={"model": "gemini-3.5-flash"})
    assert found.reply.answered_model == "gemini-3.6-flash"
