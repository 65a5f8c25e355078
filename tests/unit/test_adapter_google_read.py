"""What `google_generate` makes of bodies: pictures, refusals, cut and broken replies, money."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from mangled_bodies import mangled
from sent_requests import JPEG, PNG, Catcher, answered

from gensight.models import Reply, google_generate
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import google
from gensight.providers.usage import Usage

MODEL = "gemini-3-pro-image"
READS = google_generate.connect({"model": MODEL}, Catcher().connection)
PAINTS = google_generate.connect(
    {"model": MODEL, "response_modalities": ["TEXT", "IMAGE"]}, Catcher().connection
)
BOTH = pytest.mark.parametrize("adapter", [PAINTS, READS], ids=["paints", "reads"])


def inline(data, mime="image/png"):
    return {"inlineData": {"mimeType": mime, "data": base64.b64encode(data).decode()}}


def said(*parts, reason="STOP", **more):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "modelVersion": MODEL, "responseId": "r", **more}


def read(adapter, body):
    exchange = answered(body)
    assert google.fault_of(exchange) is None
    return adapter.read([exchange])


def ended(reply):
    return str(reply.outcome), reply.detail


def test_a_picture_and_its_text():
    reply = read(PAINTS, said({"text": "Here "}, inline(PNG), {"text": "it is."}))
    assert reply == Reply("ok", "Here it is.", (PNG,), answered_model=MODEL)


def test_a_text():
    reply = read(READS, said({"text": "There are "}, {"text": "7."}))
    assert reply == Reply("ok", "There are 7.", answered_model=MODEL)


def test_thoughts_are_never_the_answer():
    thoughts = [{"text": "Hmm.", "thought": True}, {**inline(JPEG), "thought": True}]
    reply = read(PAINTS, said(*thoughts, inline(PNG), *thoughts))
    assert (reply.images, reply.text) == ((PNG,), None)
    assert ended(read(PAINTS, said(*thoughts))) == ("no_image", "STOP")
    assert ended(read(READS, said(*thoughts))) == ("malformed", "empty")
    # Nor does it matter what is wrong with them.
    broken = {"thought": True, "inlineData": {"data": "!!"}}
    assert read(PAINTS, said(broken, inline(PNG))).outcome == "ok"


def test_the_last_picture_is_the_answer_and_the_others_follow_in_order():
    pictures = [PNG, JPEG, b"third"]
    reply = read(PAINTS, said(*map(inline, pictures)))
    assert reply.images == (b"third", PNG, JPEG)


def test_what_is_no_picture_is_left_out():
    reply = read(PAINTS, said(inline(b"RIFF", "audio/wav"), inline(PNG)))
    assert reply.images == (PNG,)
    assert read(PAINTS, said(inline(b"RIFF", "audio/wav"))).outcome == "no_image"


@BOTH
@pytest.mark.parametrize(
    "reason",
    [
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ],
)
def test_a_refusal_of_what_was_made(adapter, reason):
    body = said(reason=reason)
    del body["candidates"][0]["content"]
    body["candidates"][0]["finishMessage"] = "We cannot."
    assert ended(read(adapter, body)) == ("refused_output", reason)
    # Words of excuse, or half a picture, change nothing.
    assert ended(read(adapter, said({"text": "Sorry"}, inline(PNG), reason=reason))) == (
        "refused_output",
        reason,
    )


@BOTH
def test_a_refusal_of_the_prompt(adapter):
    body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": MODEL}
    reply = read(adapter, body)
    assert ended(reply) == ("refused_input", "PROHIBITED_CONTENT")
    assert reply.answered_model == MODEL
    assert ended(read(adapter, {"promptFeedback": {"blockReason": "NEWER"}})) == (
        "refused_input",
        "NEWER",
    )
    assert ended(read(adapter, {"candidates": [], **body})) == (
        "refused_input",
        "PROHIBITED_CONTENT",
    )


def test_feedback_without_a_block_is_no_refusal():
    body = said({"text": "7"}, promptFeedback={"safetyRatings": []})
    assert read(READS, body).outcome == "ok"
    assert ended(read(READS, {"promptFeedback": {"safetyRatings": []}})) == (
        "malformed",
        "no_candidates",
    )


@pytest.mark.parametrize("reason", ["NO_IMAGE", "IMAGE_OTHER"])
def test_no_picture_by_its_own_word(reason):
    assert ended(read(PAINTS, said(reason=reason))) == ("no_image", reason)
    assert ended(read(PAINTS, said({"text": "No."}, reason=reason))) == ("no_image", reason)


def test_nothing_at_all():
    no_parts = said()
    del no_parts["candidates"][0]["content"]["parts"]
    for body in (said(), no_parts, said({"text": " \n"})):
        assert ended(read(PAINTS, body)) == ("no_image", "STOP")
        assert ended(read(READS, body)) == ("malformed", "empty")
    assert ended(read(PAINTS, {})) == ("malformed", "no_candidates")


def test_words_where_a_picture_was_asked_for():
    reply = read(PAINTS, said({"text": "I would paint a cup."}))
    assert (ended(reply), reply.text) == (("text_only", None), "I would paint a cup.")


@BOTH
@pytest.mark.parametrize("reason", ["MAX_TOKENS", "CONTINUATION"])
def test_a_cut_reply(adapter, reason):
    reply = read(adapter, said({"text": "There are"}, reason=reason))
    assert (ended(reply), reply.text) == (("truncated", reason), "There are")
    assert ended(read(adapter, said(reason=reason))) == ("truncated", reason)


def test_half_a_surrogate_pair_at_the_end_of_a_cut_reply():
    body = json.dumps(said({"text": "A cup \ud83e"}, reason="MAX_TOKENS")).encode()
    assert read(READS, body).text == "A cup \ufffd"


@BOTH
@pytest.mark.parametrize(
    "reason", ["MALFORMED_RESPONSE", "MALFORMED_NEWER", "MALFORMED_FUNCTION_CALL"]
)
def test_a_reply_that_calls_itself_broken(adapter, reason):
    body = said({"text": "7"}, inline(PNG), reason=reason)
    assert ended(read(adapter, body)) == ("malformed", reason)


@BOTH
def test_an_unknown_end_goes_by_what_came_back(adapter):
    good = said({"text": "7"}, inline(PNG), reason="NEWER_THAN_THE_SDK")
    assert ended(read(adapter, good)) == ("ok", "NEWER_THAN_THE_SDK")
    assert ended(read(adapter, said(reason="NEWER_THAN_THE_SDK"))) == (
        "malformed",
        "NEWER_THAN_THE_SDK",
    )
    assert ended(read(adapter, said(reason=None))) == ("malformed", "no_finish_reason")
    # Prose, and what is no word, are not repeated.
    assert ended(read(adapter, said(reason="some long prose " * 9))) == (
        "malformed",
        "no_finish_reason",
    )


def test_fields_and_values_that_are_newer_than_the_sdk_spoil_nothing():
    body = said({"text": "7", "partOfTomorrow": 1})
    body["candidates"][0]["safetyRatings"] = [{"category": "TOMORROW", "probability": "ODD"}]
    body["usageMetadata"] = {"promptTokenCount": 3, "trafficType": "TOMORROW"}
    body["fieldOfTomorrow"] = {"a": 1}
    assert ended(read(READS, body)) == ("ok", None)


@pytest.mark.parametrize("data", ["!!", "", None, 7, base64.b64encode(PNG).decode()[:-3] + "=\n*"])
def test_a_picture_that_is_no_base64_or_empty(data):
    part = {"inlineData": {"mimeType": "image/png", "data": data}}
    reply = read(PAINTS, said(part))
    assert (reply.outcome, reply.images) == ("malformed", ())
    # Not even beside a good one: which of them was meant is not known.
    assert read(PAINTS, said(part, inline(PNG))).outcome == "malformed"


def test_both_alphabets_of_base64_are_read():
    data = bytes(range(256))
    part = inline(data)
    part["inlineData"]["data"] = base64.urlsafe_b64encode(data).decode()
    assert read(PAINTS, said(part)).images == (data,)


@pytest.mark.parametrize(
    "body",
    [
        {"candidates": "none"},
        {"candidates": ["none"]},
        {"candidates": [{"content": "none", "finishReason": "STOP"}]},
        {"candidates": [{"content": {"parts": {}}, "finishReason": "STOP"}]},
        {"candidates": [{"content": {"parts": ["7"]}, "finishReason": "STOP"}]},
        said({"text": 7}),
        said({"text": ["7"]}),
        said({"inlineData": "data"}),
        said({"text": "7"}, modelVersion=3),
    ],
)
@BOTH
def test_a_field_of_another_kind(adapter, body):
    assert read(adapter, body).outcome == "malformed"


def test_usage_by_what_tokens_are_made_of():
    told = {
        "promptTokenCount": 1300,
        "candidatesTokenCount": 1140,
        "thoughtsTokenCount": 200,
        "totalTokenCount": 2640,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": 10},
            {"modality": "IMAGE", "tokenCount": 645},
            {"modality": "IMAGE", "tokenCount": 645},
        ],
        "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1120}],
    }
    reply = read(PAINTS, said(inline(PNG), usageMetadata=told))
    assert Usage.from_json(reply.usage) == Usage(10, 1290, 220, 1120, 1)
    assert Usage.from_json(reply.usage).tokens == told["totalTokenCount"]


def test_usage_that_does_not_tell_pictures_apart_is_counted_at_the_dearer_price():
    told = {"promptTokenCount": 20, "candidatesTokenCount": 1290}
    reply = read(PAINTS, said(inline(PNG), usageMetadata=told))
    assert Usage.from_json(reply.usage) == Usage(20, 0, 0, 1290, 1)
    reply = read(READS, said({"text": "7"}, usageMetadata=told))
    assert Usage.from_json(reply.usage) == Usage(20, 0, 1290, 0, 0)


def test_a_refusal_costs_what_it_says():
    told = {"promptTokenCount": 20, "totalTokenCount": 20}
    reply = read(PAINTS, said(reason="IMAGE_SAFETY", usageMetadata=told))
    assert Usage.from_json(reply.usage) == Usage(20)


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        [],
        {"promptTokenCount": "many"},
        {"promptTokenCount": -1},
        {"promptTokenCount": 1, "candidatesTokenCount": 2.5},
        {"candidatesTokenCount": 5},
        {"promptTokenCount": 1, "promptTokensDetails": [{"modality": "IMAGE", "tokenCount": "x"}]},
    ],
)
def test_usage_that_is_nonsense_is_not_told_and_the_answer_stands(told):
    reply = read(READS, said({"text": "7"}, usageMetadata=told))
    assert (reply.outcome, reply.text, reply.usage) == ("ok", "7", None)


GOOD = [
    said({"text": "Here"}, inline(b"abc"), {"thought": True, "text": "Hm"}),
    said({"text": "7"}, usageMetadata={"promptTokenCount": 1, "candidatesTokenCount": 2}),
    {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 1}},
]


@settings(deadline=None)
@given(mangled(GOOD))
def test_no_body_raises(body):
    exchange = answered(body)
    google.fault_of(exchange)
    for adapter in (PAINTS, READS):
        reply = adapter.read([exchange])
        assert reply.outcome in MODEL_OUTCOMES
        assert reply.outcome != "ok" or (reply.images if adapter is PAINTS else reply.text)
        assert all(reply.images)
        assert reply.detail is None or len(reply.detail) <= 80
        Usage.from_json(reply.usage)
