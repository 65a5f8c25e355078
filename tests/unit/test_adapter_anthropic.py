"""`anthropic_messages`: what goes out, setting by setting, and what it makes of bodies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from mangled_bodies import mangled
from sent_requests import JPEG, KEY, PNG, Catcher, answered, assert_golden, sent, turn

from gensight.errors import ImageError, SpecError
from gensight.models import Reply, anthropic_messages
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import anthropic
from gensight.providers.usage import Usage

MODEL = "claude-opus-4-7"
CLAUDE = {"model": MODEL, "oversized_image": "error", "assumed_max_tokens": 4096}
ADAPTER = anthropic_messages.connect(CLAUDE, Catcher().connection)

GOLDEN = {
    "counts": (
        {**CLAUDE, "assumed_thinking": "provider_default"},
        turn(PNG, "How many cups are there?", form="text"),
    ),
    "interleaved": (CLAUDE, turn("First:", PNG, "second:", JPEG, "which has more?", form="text")),
    "everything": (
        {
            "model": "claude-opus-5",
            "max_tokens": 32768,
            "oversized_image": "downsize",
            "thinking": 2048,
            "effort": "high",
            "service_tier": "standard_only",
        },
        turn("Count.", PNG, form="text", seed=3),
    ),
}


def body(generation, asked=None):
    request = sent(anthropic_messages, generation, asked or turn("count", PNG, form="text"))
    return json.loads(request.content)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    generation, asked = GOLDEN[name]
    assert_golden("anthropic_messages", name, sent(anthropic_messages, generation, asked))


def test_every_picture_says_what_happens_if_it_is_too_large():
    blocks = body(CLAUDE, turn("a", PNG, "b", JPEG))["messages"][0]["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "text", "image"]
    pictures = [block for block in blocks if block["type"] == "image"]
    assert [p["source"]["media_type"] for p in pictures] == ["image/png", "image/jpeg"]
    assert all(p["transformations"] == {"oversized_image": "error"} for p in pictures)


def test_what_is_left_to_the_provider_is_not_sent():
    assert set(body(CLAUDE)) == {"model", "max_tokens", "messages"}
    # There is no such setting here, so no model's card can ask for one.
    for name in ("temperature", "top_p", "top_k", "seed"):
        with pytest.raises(SpecError, match=name):
            body({**CLAUDE, name: 1})


@pytest.mark.parametrize(
    ("thinking", "wanted"),
    [
        ("adaptive", {"type": "adaptive"}),
        ("disabled", {"type": "disabled"}),
        (1024, {"type": "enabled", "budget_tokens": 1024}),
    ],
)
def test_thinking_is_a_way_or_a_budget(thinking, wanted):
    for name in ("thinking", "assumed_thinking"):
        assert body({**CLAUDE, name: thinking})["thinking"] == wanted


def test_a_long_answer_may_be_asked_for_and_a_rung_replaces_the_limit():
    # Without a time limit of its own the SDK refuses to send this much.
    assert body({"model": MODEL, "max_tokens": 128_000})["max_tokens"] == 128_000
    assert body(CLAUDE, turn("x", max_tokens=65_536))["max_tokens"] == 65_536


def test_the_environment_changes_neither_address_nor_key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment")
    request = sent(anthropic_messages, CLAUDE, turn("x"))
    assert str(request.url) == "https://provider.example/v1/messages"
    assert "of-the-environment" not in str(dict(request.headers))
    assert request.headers["x-api-key"] == KEY and "authorization" not in request.headers
    assert request.headers["anthropic-version"]
    assert request.extensions["timeout"]["read"] == 5.0


def test_headers_of_the_environment_are_refused_before_anything_is_sent(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "anthropic-beta: of-tomorrow")
    catcher = Catcher()
    with pytest.raises(SpecError, match="ANTHROPIC_CUSTOM_HEADERS adds to requests") as told:
        anthropic_messages.connect(CLAUDE, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 503, 529])
def test_an_error_is_not_tried_again(status):
    catcher = Catcher({"type": "error", "error": {"type": "overloaded_error"}}, status)
    anthropic_messages.connect(CLAUDE, catcher.connection).send(turn("x"))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"assumed_max_tokens": None}, "max_tokens' is missing"),
        ({"max_tokens": 100}, "assumed_max_tokens is given too"),
        ({"assumed_max_tokens": 0}, "max_tokens: 0"),
        ({"thinking": "much"}, "thinking: 'much'"),
        ({"thinking": 100}, "thinking: 100"),
        ({"thinking": True}, "thinking: True"),
        ({"effort": "utmost"}, "effort"),
        ({"oversized_image": "crop"}, "oversized_image"),
        ({"model": None}, "model"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(changes, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        anthropic_messages.connect({**CLAUDE, **changes}, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


def test_bytes_that_are_no_picture_are_not_sent():
    catcher = Catcher()
    with pytest.raises(ImageError):
        anthropic_messages.connect(CLAUDE, catcher.connection).send(turn(b"GIF89a"))
    assert not catcher.requests


def said(*texts, reason="end_turn", **more):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text} for text in texts],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1500, "output_tokens": 12},
        **more,
    }


def read(body):
    exchange = answered(body)
    assert anthropic.fault_of(exchange) is None
    return ADAPTER.read([exchange])


def ended(reply):
    return str(reply.outcome), reply.detail


USED = Usage(1500, 0, 12, 0, 0).to_json()


def test_a_text():
    wanted = Reply("ok", "There are 7.", answered_model=MODEL, usage=USED)
    assert read(said("There are ", "7.")) == wanted
    assert read(said("There are 7.", reason="stop_sequence")) == wanted


def test_thoughts_and_blocks_of_tomorrow_are_not_the_answer():
    body = said("7")
    body["content"] = [
        {"type": "thinking", "thinking": "Let me count: 8?", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "of_tomorrow", "text": "9"},
        {"type": "text", "text": "7", "citations": [{"type": "of_tomorrow"}]},
    ]
    assert read(body).text == "7"
    body["content"].pop()
    assert ended(read(body)) == ("malformed", "empty")


def test_a_refusal():
    body = said(reason="refusal", stop_details={"type": "refusal", "category": "bio"})
    assert ended(read(body)) == ("refused_output", "bio")
    assert ended(read(said("I can", reason="refusal"))) == ("refused_output", "refusal")
    for category in (None, "a whole sentence of prose", 3):
        told = {"type": "refusal", "category": category}
        assert ended(read(said(reason="refusal", stop_details=told))) == (
            "refused_output",
            "refusal",
        )
    newer = {"type": "refusal", "category": "of_tomorrow"}
    assert read(said(reason="refusal", stop_details=newer)).detail == "of_tomorrow"


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_cut_reply(reason):
    reply = read(said("There are", reason=reason))
    assert (ended(reply), reply.text) == (("truncated", reason), "There are")
    assert ended(read(said(reason=reason))) == ("truncated", reason)


def test_nothing_at_all():
    for body in (said(), said(""), said(" \n")):
        assert ended(read(body)) == ("malformed", "empty")


@pytest.mark.parametrize("reason", ["tool_use", "pause_turn"])
def test_a_turn_that_has_not_ended_is_no_answer(reason):
    assert ended(read(said("7", reason=reason))) == ("malformed", reason)


def test_an_unknown_end_goes_by_whether_there_is_a_text():
    assert ended(read(said("7", reason="of_tomorrow"))) == ("ok", "of_tomorrow")
    assert ended(read(said(reason="of_tomorrow"))) == ("malformed", "of_tomorrow")
    assert ended(read(said("7", reason=None))) == ("ok", "no_stop_reason")


def test_half_a_surrogate_pair_at_the_end_of_a_cut_reply():
    assert read(json.dumps(said("A \ud83e", reason="max_tokens")).encode()).text == "A \ufffd"


@pytest.mark.parametrize(
    "body",
    [
        {},
        said("7", content=None),
        said("7", content="7"),
        said("7", content=["7"]),
        said("7", content=[{"type": "text"}]),
        said("7", content=[{"type": "text", "text": 7}]),
        said("7", content=[{"text": "7"}]),
        said("7", model=None),
        said("7", model=3),
        said("7", role="user"),
        said("7", type="error"),
        {"type": "error", "error": {"type": "api_error", "message": "m"}},
    ],
)
def test_a_body_that_is_no_message(body):
    assert read(body).outcome == "malformed"


def test_all_input_is_counted():
    told = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 30,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 35},
    }
    assert Usage.from_json(read(said("7", usage=told)).usage) == Usage(60, 0, 40)
    told |= {"cache_creation_input_tokens": None, "cache_read_input_tokens": None}
    assert Usage.from_json(read(said("7", usage=told)).usage) == Usage(10, 0, 40)


@pytest.mark.parametrize(
    "told", [None, {}, {"input_tokens": 1}, {"input_tokens": -1, "output_tokens": 1}, "much"]
)
def test_usage_that_is_nonsense_is_not_told_and_the_answer_stands(told):
    reply = read(said("7", usage=told))
    assert (reply.outcome, reply.text, reply.usage) == ("ok", "7", None)


GOOD = [
    said("There are ", "7."),
    said(reason="refusal", stop_details={"type": "refusal", "category": "bio"}),
    said("7", content=[{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "7"}]),
]


@settings(deadline=None)
@given(mangled(GOOD))
def test_no_body_raises(body):
    exchange = answered(body)
    anthropic.fault_of(exchange)
    reply = ADAPTER.read([exchange])
    assert reply.outcome in MODEL_OUTCOMES
    assert reply.outcome != "ok" or reply.text
    assert not reply.images
    assert reply.detail is None or len(reply.detail) <= 80
    Usage.from_json(reply.usage)
