"""`anthropic_messages` against a fake on loopback: every fault and answer, one request each."""

from __future__ import annotations

import pytest
from fakes.anthropic import AnthropicFake
from fakes.billing import Scenario
from played_turns import play
from sent_requests import JPEG, KEY, PNG, turn

from gensight.models import anthropic_messages
from gensight.providers import anthropic
from gensight.providers.usage import Usage

MODEL = "claude-opus-4-7"
READER = {"model": MODEL, "max_tokens": 512}
ASKED = turn("How many cups are there?", PNG, form="text")

#: What each fault of the fake is to the runner: a fault of the provider, or an outcome.
ENDS = {
    "ok": "ok",
    "wait_429": "wait",
    "quota_429": "quota",
    "quota_402": "quota",
    "credit_400": "quota",
    "error_500": "overloaded",
    "error_500_bare": "in_doubt",
    "overloaded_503": "overloaded",
    "overloaded_529": "overloaded",
    "timeout_504": "in_doubt",
    "auth_401": "auth",
    "gone_404": "gone",
    "bad_request_400": "bad_request",
    # Nothing but its words tells it from a wrong request, and words are not looked at.
    "refused_400": "bad_request",
    "leak_key": "auth",
    "refused_200": "refused_output",
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


def played(fault="ok", generation=READER, asked=ASKED, **options):
    with AnthropicFake(scenario=Scenario().default(fault, **options)) as fake:
        limit_s = 0.3 if fault == "hang_after_charge" else 10.0
        found = play(fake, anthropic_messages, anthropic, generation, asked, limit_s)
        assert len(fake.journal) == 1
        return found, fake


@pytest.mark.parametrize("fault", ENDS)
def test_every_fault_is_told_and_asked_once(fault):
    options = {"delay_s": 0.01} if fault == "slow" else {}
    found, _ = played(fault, **options)
    assert found.end == ENDS[fault]
    assert KEY not in repr((found.fault, found.reply))


def test_the_fake_was_sent_the_key_and_repeats_it():
    # Otherwise the test of `leak_key` above could not fail.
    found, _ = played("leak_key")
    assert KEY.encode() in found.exchanges[-1].body


@pytest.mark.parametrize("code", ["enforced_spend_limit_reached", "contract_spend_limit_reached"])
def test_a_limit_of_money_is_no_limit_of_pace(code):
    found, _ = played("quota_429", code=code)
    assert (found.end, found.fault.detail) == ("quota", code)


@pytest.mark.parametrize("told_s", [3, 86_400])
def test_a_hint_is_the_server_s_however_long(told_s):
    found, _ = played("wait_429", retry_after_s=told_s)
    assert (found.end, found.fault.wait_s) == ("wait", told_s)


@pytest.mark.parametrize("thinking", [None, "adaptive", 1024])
def test_a_text_is_what_was_said_and_its_bill_is_the_fake_s(thinking):
    asked = turn("How many?", PNG, "And here?", JPEG, form="text")
    found, fake = played(generation={**READER, "thinking": thinking}, asked=asked)
    assert (found.reply.outcome, found.reply.text, found.reply.images) == ("ok", "7", ())
    used = Usage.from_json(found.reply.usage)
    usd = (used.input_text_tokens * 5.0 + used.output_text_tokens * 25.0) / 1e6
    assert usd == pytest.approx(fake.charged_usd, abs=1e-9)
    assert used.input_text_tokens > 0 and fake.charged_usd > 0


def test_a_long_answer_is_asked_for_over_the_wire():
    found, fake = played(generation={"model": "claude-opus-5", "max_tokens": 32_768})
    assert (found.end, fake.journal[0].body["max_tokens"]) == ("ok", 32_768)


def test_a_refusal_says_of_what():
    found, _ = played("refused_200", reason="bio")
    assert (found.end, found.reply.detail) == ("refused_output", "bio")
    assert found.reply.usage is not None


def test_the_model_that_answered_is_told():
    found, _ = played("wrong_model", model="another-model-9")
    assert found.reply.answered_model == "another-model-9"
    found, _ = played()
    assert found.reply.answered_model == MODEL
