"""What `google_generate` puts on the wire, setting by setting."""

from __future__ import annotations

import json

import pytest
from sent_requests import JPEG, PNG, Catcher, assert_golden, sent, turn

from gensight.errors import ImageError, SpecError
from gensight.models import google_generate

PAINTER = {
    "model": "gemini-3-pro-image",
    "response_modalities": ["IMAGE"],
    "assumed_image_size": "1K",
    "assumed_temperature": 0,
    "assumed_thinking": "provider_default",
}
READER = {"model": "gemini-3.5-flash"}
ANSWER = {
    "candidates": [{"content": {"parts": [{"text": "7"}]}, "finishReason": "STOP", "index": 0}],
    "modelVersion": "gemini-3.5-flash",
}


def body(generation, asked=None):
    return json.loads(sent(google_generate, generation, asked or turn("count", PNG)).content)


GOLDEN = {
    "paints": (PAINTER, turn("Paint the mask of ", "the cup.", PNG)),
    "interleaved": (PAINTER, turn("First:", PNG, "second:", JPEG, "now combine them.")),
    "reads": (
        {**READER, "assumed_temperature": 0, "assumed_thinking": "provider_default"},
        turn(PNG, "How many cups are there?", form="text"),
    ),
    "everything": (
        {
            "model": "gemini-3.1-flash-image",
            "response_modalities": ["TEXT", "IMAGE"],
            "response_mime_type": "text/plain",
            "image_size": "2K",
            "aspect_ratio": "4:3",
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 40,
            "seed": 0,
            "max_output_tokens": 2048,
            "thinking": "high",
            "media_resolution": "high",
            "safety_threshold": "OFF",
        },
        turn("A cup.", PNG, seed=2**31 + 5),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    generation, asked = GOLDEN[name]
    assert_golden("google_generate", name, sent(google_generate, generation, asked))


def test_texts_and_pictures_keep_their_order():
    parts = body(READER, turn("a", PNG, "b", JPEG, JPEG, "c"))["contents"][0]["parts"]
    kinds = [
        part.get("text") or (part["inlineData"].get("mime_type") or part["inlineData"]["mimeType"])
        for part in parts
    ]
    assert kinds == ["a", "image/png", "b", "image/jpeg", "image/jpeg", "c"]


def test_what_is_left_to_the_provider_is_not_sent():
    default = {**READER, "assumed_thinking": "provider_default", "temperature": "provider_default"}
    for generation in (READER, default):
        found = body(generation)
        assert set(found) == {"contents", "generationConfig"}
        assert found["generationConfig"] == {}


@pytest.mark.parametrize(
    ("thinking", "wanted"),
    [
        (0, {"thinking_budget": 0}),
        (-1, {"thinking_budget": -1}),
        (512, {"thinking_budget": 512}),
        ("minimal", {"thinking_level": "MINIMAL"}),
        ("xhigh", {"thinking_level": "XHIGH"}),
    ],
)
def test_thinking_is_a_budget_or_a_level(thinking, wanted):
    for name in ("thinking", "assumed_thinking"):
        config = body({**READER, name: thinking})["generationConfig"]
        assert config == {"thinkingConfig": wanted}


def test_a_rung_replaces_the_limit():
    generation = {**READER, "max_output_tokens": 100}
    assert body(generation)["generationConfig"]["maxOutputTokens"] == 100
    rung = body(generation, turn("x", max_tokens=400))
    assert rung["generationConfig"]["maxOutputTokens"] == 400
    assert body(READER, turn("x", max_tokens=400))["generationConfig"] == {"maxOutputTokens": 400}


def test_a_seed_is_sent_only_where_the_generation_has_one():
    assert body(READER, turn("x", seed=3))["generationConfig"] == {}
    seeded = {**READER, "seed": 0}
    assert body(seeded, turn("x", seed=3))["generationConfig"] == {"seed": 3}
    assert body(seeded, turn("x", seed=2**40 + 3))["generationConfig"] == {"seed": 3}
    assert body(seeded, turn("x", seed=None))["generationConfig"] == {}


def test_the_address_has_the_pinned_version_and_no_key(monkeypatch):
    # None of these may send a request, or a key, somewhere else.
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    monkeypatch.setenv("GOOGLE_API_KEY", "of-the-environment")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "https://elsewhere.example")
    request = sent(google_generate, READER, turn("x"))
    wanted = "https://provider.example/v1beta/models/gemini-3.5-flash:generateContent"
    assert str(request.url) == wanted
    assert "of-the-environment" not in str(request.headers)
    request = sent(google_generate, {**READER, "api_version": "v1"}, turn("x"))
    assert request.url.path.startswith("/v1/models/")


def test_the_time_limit_is_that_of_the_client():
    # Left alone, the SDK overrules the client's limit with none, and would wait for ever.
    request = sent(google_generate, READER, turn("x"))
    assert request.extensions["timeout"]["read"] == 5.0


def test_a_reply_that_asks_to_go_on_is_not_gone_on_with():
    answer = {**ANSWER, "continuationToken": "dG9rZW4="}
    answer["candidates"] = [{**ANSWER["candidates"][0], "finishReason": "CONTINUATION"}]
    catcher = Catcher(answer)
    google_generate.connect(READER, catcher.connection).send(turn("x"))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize("status", [400, 408, 429, 500, 503, 504])
def test_an_error_is_not_tried_again(status):
    catcher = Catcher({"error": {"code": status, "message": "m", "status": "S"}}, status)
    google_generate.connect(READER, catcher.connection).send(turn("x"))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thinking": "much"}, "thinking: 'much'"),
        ({"thinking": -2}, "thinking: -2"),
        ({"thinking": True}, "thinking: True"),
        ({"temperature": 1, "assumed_temperature": 0}, "assumed_temperature is given too"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_output_tokens": 0}, "max_output_tokens: 0"),
        ({"max_output_tokens": 1.5}, "max_output_tokens: 1.5"),
        ({"response_modalities": ["PICTURE"]}, "response_modalities"),
        ({"api_version": "v2"}, "api_version"),
        ({"warmth": 1}, "warmth"),
        ({"model": None}, "model"),
        ({"media_resolution": "ultra"}, "media_resolution"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(changes, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        google_generate.connect({**READER, **changes}, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


def test_bytes_that_are_no_picture_are_not_sent():
    catcher = Catcher()
    adapter = google_generate.connect(READER, catcher.connection)
    with pytest.raises(ImageError):
        adapter.send(turn("x", b"<html>"))
    assert not catcher.requests
