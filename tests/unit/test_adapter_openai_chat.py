"""`openai_chat`: five services with their habits, what goes out to each, and what bodies are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from mangled_bodies import mangled
from sent_requests import JPEG, KEY, PNG, Catcher, answered, assert_golden, sent, turn

from gensight import providers
from gensight.errors import GensightError, ImageError, SpecError
from gensight.models import Reply, openai_chat
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import Connection
from gensight.providers.usage import Usage
from gensight.specs.protocols import CHAT_SERVICES

VLLM = {
    "service": "vllm",
    "model": "Qwen/Qwen2.5-VL-72B-Instruct",
    "base_url": "http://127.0.0.1:8000/v1",
    "max_tokens": 512,
}
KIMI = {"service": "moonshot", "model": "kimi-k3", "max_tokens": 32768}
GPT = {"service": "openai", "model": "gpt-5.4", "max_tokens": 512}
ADAPTER = openai_chat.connect(KIMI, Catcher().connection)
ASKED = turn("First:", PNG, "second:", JPEG, "which has more?", form="text")
LIMITS = {
    "ark": "max_completion_tokens",
    "deepseek": "max_tokens",
    "moonshot": "max_completion_tokens",
    "openai": "max_completion_tokens",
    "vllm": "max_tokens",
}

GOLDEN = {
    "ark": (
        {
            "service": "ark",
            "model": "doubao-seed-2-1-pro-260628",
            "max_tokens": 32768,
            "temperature": 0.7,
            "thinking": "enabled",
            "thinking_budget": 2500,
            "image_detail": "high",
        },
        ASKED,
    ),
    "deepseek": (
        {
            "service": "deepseek",
            "model": "deepseek-v4-pro",
            "max_tokens": 32768,
            "temperature": 0.7,
            "thinking": "disabled",
        },
        turn("Draw a cup", "as a grid.", form="text"),
    ),
    "moonshot": ({**KIMI, "temperature": "provider_default", "reasoning_effort": "high"}, ASKED),
    "openai": (
        {
            **GPT,
            "reasoning_effort": "none",
            "seed": 0,
            "temperature": 0,
            "top_p": 1.0,
            "frequency_penalty": -0.5,
            "presence_penalty": 0.5,
            "stop": ["\n"],
            "verbosity": "low",
            "image_detail": "original",
        },
        turn(PNG, "How many?", form="text", seed=2**31 + 5),
    ),
    "vllm": (
        {
            **VLLM,
            "weights_revision": "4f1d",
            "server_version": "0.14.0",
            "seed": 3,
            "top_k": 1,
            "min_p": 0.1,
            "repetition_penalty": 1.05,
            "chat_template_kwargs": {"enable_thinking": False},
            "mm_processor_kwargs": {"max_pixels": 1003520},
        },
        turn(PNG, "How many?", form="text", seed=7),
    ),
}


def body(generation, asked=None):
    request = sent(openai_chat, generation, asked or turn("count", form="text"))
    return json.loads(request.content)


def of(service, **more):
    base = {"base_url": "http://127.0.0.1:8000/v1"} if service == "vllm" else {}
    return {"service": service, "model": "m", **base, **more}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    generation, asked = GOLDEN[name]
    assert_golden("openai_chat", name, sent(openai_chat, generation, asked))


def test_every_service_is_known_and_golden():
    known = [*CHAT_SERVICES]
    assert openai_chat.CHOICES["service"][1:] == known == [*openai_chat.SERVICES] == [*LIMITS]
    assert sorted(GOLDEN) == known


@pytest.mark.parametrize("service", LIMITS)
def test_the_limit_has_the_service_s_name_and_a_rung_replaces_it(service):
    name = LIMITS[service]
    assert body(of(service, max_tokens=100)) == {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "count"}]}],
        "model": "m",
        name: 100,
    }
    assert body(of(service, max_tokens=100), turn("x", max_tokens=400))[name] == 400
    assert body(of(service), turn("x", max_tokens=400))[name] == 400
    assert set(body(of(service))) == {"messages", "model"}


def test_a_service_that_reads_text_only_is_sent_no_picture():
    catcher = Catcher()
    adapter = openai_chat.connect(of("deepseek"), catcher.connection)
    with pytest.raises(GensightError, match="'deepseek' reads text only"):
        adapter.send(ASKED)
    assert not catcher.requests
    for service in ("ark", "moonshot", "openai", "vllm"):
        (message,) = body(of(service), ASKED)["messages"]
        kinds = [part["type"] for part in message["content"]]
        assert kinds == ["text", "image_url", "text", "image_url", "text"]


def test_a_seed_is_sent_only_where_the_generation_has_one():
    assert "seed" not in body(GPT, turn("x", seed=3))
    assert body({**GPT, "seed": 0}, turn("x", seed=2**40 + 3))["seed"] == 3
    assert "seed" not in body({**GPT, "seed": 0}, turn("x", seed=None))


def test_weights_and_version_of_a_server_are_not_sent():
    found = body({**VLLM, "weights_revision": "4f1d", "server_version": "0.14.0"})
    assert set(found) == {"messages", "model", "max_tokens"}


@pytest.mark.parametrize(
    ("official", "generation", "wanted"),
    [
        ("https://api.moonshot.ai/v1", KIMI, "https://api.moonshot.ai/v1"),
        (
            "https://api.moonshot.ai/v1",
            {**KIMI, "base_url": "https://a.lab/v1/"},
            "https://a.lab/v1",
        ),
        # The config's `endpoints` go before the spec.
        ("https://b.lab", {**KIMI, "base_url": "https://a.lab/v1"}, "https://b.lab"),
        (None, VLLM, "http://127.0.0.1:8000/v1"),
    ],
)
def test_the_address(official, generation, wanted):
    catcher = Catcher()
    connection = Connection(KEY, official, catcher.connection.client)
    openai_chat.connect(generation, connection).send(turn("x"))
    assert str(catcher.requests[0].url) == f"{wanted}/chat/completions"


def test_a_server_of_one_s_own_needs_an_address_and_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example")
    catcher = Catcher()
    connection = Connection(None, None, catcher.connection.client)
    with pytest.raises(SpecError, match="'vllm' has no address of its own"):
        openai_chat.connect({**VLLM, "base_url": None}, connection)
    openai_chat.connect(VLLM, connection).send(turn("x"))
    assert "of-the-environment" not in str(dict(catcher.requests[0].headers))


def test_an_account_of_openai_is_nobody_else_s_business(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-ours")
    assert "of-ours" in str(dict(sent(openai_chat, GPT, turn("x")).headers))
    for generation in (KIMI, VLLM):
        assert "of-ours" not in str(dict(sent(openai_chat, generation, turn("x")).headers))


@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 503])
def test_an_error_is_not_tried_again(status):
    catcher = Catcher({"error": {"code": "server_error"}}, status)
    openai_chat.connect(KIMI, catcher.connection).send(turn("x"))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("generation", "words"),
    [
        ({"model": "m"}, "service"),
        ({"service": "opnai", "model": "m"}, "did you mean 'openai'"),
        ({"service": "openai"}, "model"),
        (of("deepseek", image_detail="low"), "image_detail: the service 'deepseek' does not take"),
        (of("moonshot", seed=0), "seed: the service 'moonshot' does not take"),
        (of("openai", top_k=3), "top_k: the service 'openai' does not take"),
        (of("openai", thinking="enabled"), "thinking: the service 'openai'"),
        (of("moonshot", thinking_budget=100), "thinking_budget: the service 'moonshot'"),
        (of("moonshot", weights_revision="x"), "weights_revision: the service 'moonshot'"),
        (of("vllm", verbosity="low"), "verbosity: the service 'vllm'"),
        (of("ark", thinking="much"), "thinking: 'much'"),
        (of("openai", max_tokens=0), "max_tokens: 0 is not a whole number of at least 1"),
        (of("openai", max_tokens=10.0), "max_tokens: 10.0"),
        (of("openai", temperature="hot"), "temperature: 'hot' is not a number of at least 0"),
        (of("openai", temperature=float("nan")), "temperature: nan"),
        (of("vllm", seed=-1), "seed: -1"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(generation, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        openai_chat.connect(generation, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


def test_bytes_that_are_no_picture_are_not_sent():
    catcher = Catcher()
    with pytest.raises(ImageError):
        openai_chat.connect(KIMI, catcher.connection).send(turn("x", b"<html>"))
    assert not catcher.requests


def said(content="There are 7.", end="stop", told=None, **more):
    message = {"role": "assistant", "content": content, **(told or {})}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "kimi-k3",
        "choices": [{"index": 0, "message": message, "finish_reason": end}],
        "usage": {
            "prompt_tokens": 1500,
            "completion_tokens": 60,
            "total_tokens": 1560,
            "prompt_tokens_details": {"image_tokens": 1229},
            "completion_tokens_details": {"reasoning_tokens": 48},
        },
        "system_fingerprint": "fp_1",
        **more,
    }


def read(body, adapter=ADAPTER):
    exchange = answered(body)
    assert providers.load("moonshot").fault_of(exchange) is None
    return adapter.read([exchange])


def ended(reply):
    return str(reply.outcome), reply.detail


def test_a_text():
    used = Usage(271, 1229, 60, 0, 0).to_json()
    assert read(said()) == Reply("ok", "There are 7.", answered_model="kimi-k3", usage=used)


def test_thoughts_are_not_the_answer():
    reply = read(said("7", told={"reasoning_content": "Is it 8? No."}))
    assert (reply.outcome, reply.text) == ("ok", "7")


def test_thoughts_without_an_answer():
    body = said("", told={"reasoning_content": "Is it 8?"})
    assert ended(read(body)) == ("malformed", "only_thoughts")


def test_a_server_of_one_s_own_names_thoughts_in_two_ways():
    adapter = openai_chat.connect(VLLM, Catcher().connection)
    for field in ("reasoning", "reasoning_content"):
        reply = read(said(None, told={field: "Is it 8?"}), adapter)
        assert ended(reply) == ("malformed", "only_thoughts")
    assert ended(read(said(None, told={"reasoning": ""}), adapter)) == ("malformed", "empty")


@pytest.mark.parametrize(
    ("body", "end", "text"),
    [
        (said("There", "length"), ("truncated", "length"), "There"),
        (said(None, "length"), ("truncated", "length"), None),
        (said("There", "content_filter"), ("refused_output", "content_filter"), "There"),
        (said(None, "content_filter"), ("refused_output", "content_filter"), None),
        (said(None, told={"refusal": "No."}), ("refused_output", "refusal"), "No."),
        (said("I", "length", told={"refusal": "No."}), ("refused_output", "refusal"), "I"),
        (said("7", "tool_calls"), ("malformed", "tool_calls"), "7"),
        (said("7", "sensitive"), ("malformed", "sensitive"), "7"),
        (said("7", None), ("malformed", "no_finish_reason"), "7"),
        (said("7", 3), ("malformed", "no_finish_reason"), "7"),
        (said(""), ("malformed", "empty"), None),
        (said(None), ("malformed", "empty"), None),
    ],
)
def test_a_reply_that_is_no_answer(body, end, text):
    reply = read(body)
    assert (ended(reply), reply.text) == (end, text)
    assert reply.usage is not None


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ({}, ("malformed", "no_choices")),
        (said(choices=None), ("malformed", "no_choices")),
        (said(choices=[]), ("malformed", "no_choices")),
        (said(choices={}), ("malformed", "no_choices")),
        (said(choices=[None]), ("malformed", "no_message")),
        (said(choices=[{"message": None}]), ("malformed", "no_message")),
        (said(7), ("malformed", "no_message")),
        (said(["7"]), ("malformed", "no_message")),
        (said("7", told={"role": "user"}), ("malformed", "no_message")),
        ({"error": {"code": "content_filter"}}, ("refused_input", "content_filter")),
        ({"error": {"code": "server_error"}}, ("malformed", "server_error")),
    ],
)
def test_a_body_that_is_no_completion(body, end):
    assert ended(read(body)) == end


def test_half_a_surrogate_pair_at_the_end_of_a_cut_reply():
    assert read(said("A \ud83e", "length")).text == "A \ufffd"


@pytest.mark.parametrize("told", [None, {}, {"prompt_tokens": 1}, "much"])
def test_usage_that_is_nonsense_is_not_told_and_the_answer_stands(told):
    reply = read(said("7", usage=told))
    assert (reply.outcome, reply.text, reply.usage) == ("ok", "7", None)


GOOD = [
    said(),
    said("7", told={"reasoning_content": "Hm", "refusal": None}),
    said(None, told={"refusal": "No."}),
    said("There", "length"),
    {"error": {"code": "content_filter", "message": "m"}},
]


@settings(deadline=None)
@given(mangled(GOOD))
def test_no_body_raises(body):
    exchange = answered(body)
    for service in CHAT_SERVICES:
        providers.load(service).fault_of(exchange)
    reply = ADAPTER.read([exchange])
    assert reply.outcome in MODEL_OUTCOMES
    assert reply.outcome != "ok" or reply.text
    assert not reply.images
    assert reply.detail is None or len(reply.detail) <= 80
    Usage.from_json(reply.usage)
