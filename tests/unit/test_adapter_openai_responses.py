"""`openai_responses`: what goes out, with and without the image tool, and what bodies are."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from mangled_bodies import mangled
from sent_requests import JPEG, PNG, Catcher, answered, assert_golden, picture, sent, turn

from gensight.errors import ImageError, SpecError
from gensight.models import Reply, openai_responses
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import openai
from gensight.providers.usage import Usage

MODEL = "gpt-5.4"
TOOL_MODEL = "gpt-image-2-2026-04-21"
READER = {"model": MODEL, "assumed_reasoning_effort": "provider_default"}
TOOL = {"model": TOOL_MODEL, "size": "input", "quality": "high", "output_format": "png"}
PAINTER = {**READER, "image_tool": TOOL}
READS = openai_responses.connect(READER, Catcher().connection)
PAINTS = openai_responses.connect(PAINTER, Catcher().connection)
BOTH = pytest.mark.parametrize("adapter", [PAINTS, READS], ids=["paints", "reads"])

GOLDEN = {
    "reads": (READER, turn(PNG, "How many cups are there?", form="text")),
    "interleaved": (READER, turn("First:", PNG, "second:", JPEG, "which has more?", form="text")),
    "paints": (
        {**PAINTER, "image_tool": {**TOOL, "size": "1024x1024"}},
        turn("Put the cup of", PNG, "onto the table of", JPEG, "please."),
    ),
    "everything": (
        {
            "model": "gpt-6-astra",
            "max_output_tokens": 32768,
            "temperature": 1,
            "top_p": 0.9,
            "verbosity": "low",
            "image_detail": "original",
            "reasoning_effort": "high",
            "image_tool": {
                "model": "gpt-image-1.5",
                "action": "edit",
                "background": "opaque",
                "input_fidelity": "high",
                "moderation": "low",
                "output_compression": 90,
                "output_format": "webp",
                "quality": "low",
                "size": "auto",
            },
            "force_image_tool": False,
            "max_tool_calls": 2,
        },
        turn("Paint.", PNG, seed=3),
    ),
}


def body(generation, asked=None):
    request = sent(openai_responses, generation, asked or turn("count", PNG, form="text"))
    return json.loads(request.content)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    generation, asked = GOLDEN[name]
    assert_golden("openai_responses", name, sent(openai_responses, generation, asked))


def test_texts_and_pictures_keep_their_order():
    (message,) = body(READER, turn("a", PNG, "b", JPEG, JPEG, "c"))["input"]
    kinds = [part.get("text") or part["image_url"].partition(";")[0] for part in message["content"]]
    assert kinds == ["a", "data:image/png", "b", "data:image/jpeg", "data:image/jpeg", "c"]


def test_what_is_left_to_the_provider_is_not_sent():
    for generation in ({"model": MODEL}, READER, {**READER, "temperature": "provider_default"}):
        assert set(body(generation)) == {"model", "input", "store"}


@pytest.mark.parametrize("name", ["reasoning_effort", "assumed_reasoning_effort"])
def test_how_hard_it_thinks_may_be_stated_or_assumed(name):
    assert body({"model": MODEL, name: "high"})["reasoning"] == {"effort": "high"}


def test_a_rung_replaces_the_limit():
    generation = {**READER, "max_output_tokens": 100}
    assert body(generation)["max_output_tokens"] == 100
    assert body(generation, turn("x", max_tokens=400))["max_output_tokens"] == 400
    assert body(READER, turn("x", max_tokens=400))["max_output_tokens"] == 400


def test_the_tool_must_be_called_once_and_is_the_model_that_is_named():
    found = body(PAINTER, turn("x", picture(size=(640, 480))))
    (tool,) = found["tools"]
    assert (tool["model"], tool["size"]) == (TOOL_MODEL, "960x720")
    assert found["tool_choice"] == {"type": "image_generation"}
    assert found["max_tool_calls"] == 1


@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 503])
def test_an_error_is_not_tried_again(status):
    catcher = Catcher({"error": {"code": "server_error"}}, status)
    openai_responses.connect(READER, catcher.connection).send(turn("x"))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "model"),
        ({"seed": 3}, "seed"),
        ({"assumed_reasoning_effort": "utmost"}, "reasoning_effort: 'utmost'"),
        ({"assumed_reasoning_effort": 3}, "reasoning_effort: '3'"),
        (
            {"reasoning_effort": "low", "assumed_reasoning_effort": "high"},
            "assumed_reasoning_effort is given too",
        ),
        ({"max_output_tokens": 0}, "max_output_tokens: 0 is not a whole number of at least 1"),
        ({"max_output_tokens": 1.5}, "max_output_tokens: 1.5"),
        ({"temperature": "hot"}, "temperature: 'hot' is not a number"),
        ({"temperature": True}, "temperature: True"),
        ({"top_p": -0.5}, "top_p: -0.5"),
        ({"image_tool": {}}, "image_tool: expected a mapping with the text 'model'"),
        ({"image_tool": {"size": "auto"}}, "image_tool: expected a mapping with the text 'model'"),
        ({"image_tool": "gpt-image-2"}, "image_tool: expected a mapping"),
        ({"image_tool": {**TOOL, "warmth": 1}}, r"image_tool\.warmth: not known"),
        ({"image_tool": {**TOOL, "size": "large"}}, r"image_tool\.size: 'large'"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(changes, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        openai_responses.connect({**READER, **changes}, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


def test_what_cannot_be_sent_is_not():
    catcher = Catcher()
    adapter = openai_responses.connect(PAINTER, catcher.connection)
    with pytest.raises(ImageError):
        adapter.send(turn("x", b"<html>"))
    with pytest.raises(SpecError, match=r"image_tool\.size: 'input' needs a picture"):
        adapter.send(turn("x"))
    assert not catcher.requests


THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": []}
USED = {"input_tokens": 1500, "output_tokens": 12, "total_tokens": 1512}
DRAWN = {
    "input_tokens": 90,
    "input_tokens_details": {"image_tokens": 60, "text_tokens": 30},
    "output_tokens": 4160,
    "output_tokens_details": {"image_tokens": 4160, "text_tokens": 0},
    "total_tokens": 4250,
}


def message(*parts, **more):
    content = [{"type": "output_text", "text": p} if isinstance(p, str) else p for p in parts]
    return {"id": "m", "type": "message", "role": "assistant", "content": content, **more}


def called(result=None, **more):
    coded = result if result is None else base64.b64encode(result).decode()
    status = "completed" if result else "failed"
    return {
        "id": "ig_1",
        "type": "image_generation_call",
        "status": status,
        "result": coded,
        "revised_prompt": "In other words.",
        **more,
    }


def said(*items, **more):
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": MODEL,
        "output": [THOUGHT, *items],
        "usage": USED,
        **more,
    }


def read(adapter, body):
    exchange = answered(body)
    assert openai.fault_of(exchange) is None
    return adapter.read([exchange])


def ended(reply):
    return str(reply.outcome), reply.detail


def cut(reason="max_output_tokens"):
    return {"status": "incomplete", "incomplete_details": {"reason": reason}}


REFUSAL = message({"type": "refusal", "refusal": "I cannot help with that."})
STOPPED = {"code": "moderation_blocked", "message": "m", "moderation_details": {}}


def test_a_text():
    used = Usage(1500, 0, 12, 0, 0).to_json()
    wanted = Reply("ok", "There are 7.", answered_model=MODEL, usage=used)
    assert read(READS, said(message("There are ", "7."))) == wanted
    assert read(READS, said(message("There are "), message("7."))) == wanted


def test_what_is_said_on_the_way_is_not_the_answer():
    body = said(message("Let me see.", phase="commentary"), message("7", phase="final_answer"))
    assert read(READS, body).text == "7"


def test_items_and_annotations_of_tomorrow_spoil_nothing():
    part = {"type": "output_text", "text": "7", "annotations": [{"type": "of_tomorrow"}]}
    assert read(READS, said({"type": "of_tomorrow", "x": 1}, message(part))).text == "7"


def test_a_picture_is_kept_and_other_words_stay_in_the_raw_bytes():
    reply = read(PAINTS, said(called(PNG), message("Here."), tool_usage={"image_gen": DRAWN}))
    used = Usage(1530, 60, 12, 4160, 1).to_json()
    assert reply == Reply("ok", "Here.", (PNG,), answered_model=MODEL, usage=used)
    assert "other words" not in repr(reply)


def test_of_several_pictures_the_last_is_the_answer():
    body = said(called(PNG), called(JPEG), called(error=STOPPED))
    assert read(PAINTS, body).images == (JPEG, PNG)


def test_a_picture_that_nobody_counted_has_no_usage():
    assert read(PAINTS, said(called(PNG))).usage is None
    assert read(PAINTS, said(message("No."))).usage is not None


@BOTH
def test_a_refusal(adapter):
    reply = read(adapter, said(REFUSAL))
    assert ended(reply) == ("refused_output", "refusal")
    assert reply.text == "I cannot help with that."


@BOTH
@pytest.mark.parametrize(
    ("more", "end"),
    [
        (cut(), ("truncated", "max_output_tokens")),
        (cut("content_filter"), ("refused_output", "content_filter")),
        (cut("of_tomorrow"), ("malformed", "of_tomorrow")),
        ({"status": "failed", "error": {"code": "of_tomorrow"}}, ("malformed", "of_tomorrow")),
        (
            {"status": "failed", "error": {"code": "image_content_policy_violation"}},
            ("refused_input", "image_content_policy_violation"),
        ),
        ({"status": "failed", "error": {"code": "bio_policy"}}, ("refused_input", "bio_policy")),
        ({"status": "in_progress"}, ("malformed", "in_progress")),
        ({"status": None}, ("malformed", "no_status")),
    ],
)
def test_a_reply_that_did_not_end_well(adapter, more, end):
    assert ended(read(adapter, said(message("There"), **more))) == end
    assert ended(read(adapter, said(**more))) == end


@pytest.mark.parametrize(
    ("error", "end"),
    [
        ({"moderation_details": {"moderation_stage": "input"}}, "refused_input"),
        ({"moderation_details": {"moderation_stage": "output"}}, "refused_output"),
        ({"moderation_details": {"moderation_stage": "unknown"}}, "refused_output"),
        ({"moderation_details": None}, "refused_output"),
    ],
)
def test_a_picture_that_moderation_stopped(error, end):
    body = said(called(error={**STOPPED, **error}))
    assert ended(read(PAINTS, body)) == (end, "moderation_blocked")


def test_no_picture():
    assert ended(read(PAINTS, said(called()))) == ("no_image", "no_result")
    assert ended(read(PAINTS, said())) == ("no_image", "no_call")
    failed = called(error={"code": "server_error", "message": "m"})
    assert ended(read(PAINTS, said(failed))) == ("no_image", "server_error")
    reply = read(PAINTS, said(message("I would rather describe it.")))
    assert ended(reply) == ("text_only", "no_call")
    assert reply.text == "I would rather describe it."


def test_nothing_at_all():
    for items in ((), (message(),), (message(""),)):
        assert ended(read(READS, said(*items))) == ("malformed", "empty")


@BOTH
@pytest.mark.parametrize(
    ("body", "end"),
    [
        ({}, ("malformed", "no_output")),
        (said(output=None), ("malformed", "no_output")),
        ({"error": {"code": "server_error"}}, ("malformed", "server_error")),
        ({"error": {"code": "invalid_prompt"}}, ("refused_input", "invalid_prompt")),
    ],
)
def test_a_body_that_is_no_response(adapter, body, end):
    assert ended(read(adapter, body)) == end


@pytest.mark.parametrize("part", [None, 3, {}, {"type": "output_text"}, {"type": "of_tomorrow"}])
def test_a_message_that_is_none(part):
    content = {"content": [part]}
    assert ended(read(READS, said(message(**content)))) == ("malformed", "no_text")
    assert ended(read(READS, said(message(content=part)))) == ("malformed", "no_text")


@pytest.mark.parametrize("result", ["!!", "", 3, {}])
def test_a_picture_that_is_none(result):
    call = {**called(PNG), "result": result}
    assert ended(read(PAINTS, said(call, called(JPEG)))) == ("malformed", "not_base64")


@pytest.mark.parametrize("told", [None, {}, {"input_tokens": 1}, "much"])
def test_usage_that_is_nonsense_is_not_told_and_the_answer_stands(told):
    reply = read(READS, said(message("7"), usage=told))
    assert (reply.outcome, reply.text, reply.usage) == ("ok", "7", None)


GOOD = [
    said(message("There are ", "7.")),
    said(called(b"abc"), message("Here."), tool_usage={"image_gen": DRAWN}),
    said(called(error={**STOPPED, "moderation_details": {"moderation_stage": "input"}})),
    said(REFUSAL),
    said(message("There"), **cut()),
    {"error": {"code": "bio_policy", "message": "m"}},
]


@settings(deadline=None)
@given(mangled(GOOD))
def test_no_body_raises(body):
    exchange = answered(body)
    openai.fault_of(exchange)
    for adapter in (PAINTS, READS):
        reply = adapter.read([exchange])
        assert reply.outcome in MODEL_OUTCOMES
        assert reply.outcome != "ok" or (reply.images if adapter is PAINTS else reply.text)
        assert all(reply.images)
        assert reply.detail is None or len(reply.detail) <= 80
        Usage.from_json(reply.usage)
