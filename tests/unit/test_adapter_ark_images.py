"""`ark_images`: what goes out to Seedream, and what it makes of bodies."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from mangled_bodies import mangled
from sent_requests import JPEG, PNG, Catcher, answered, assert_golden, sent, turn

from gensight.errors import ImageError, SpecError
from gensight.models import Reply, ark_images
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import ark
from gensight.providers.usage import Usage

MODEL = "doubao-seedream-4-5-251128"
PAINTER = {
    "model": MODEL,
    "watermark": False,
    "sequential_image_generation": "disabled",
    "response_format": "b64_json",
    "assumed_size": "provider_default",
}
OUTPUT_STOPPED = "OutputImageSensitiveContentDetected"
ADAPTER = ark_images.connect(PAINTER, Catcher().connection)

GOLDEN = {
    "edit_one": (PAINTER, turn("Paint the mask of the cup.", PNG)),
    "edit_many": (PAINTER, turn("Take picture 1,", PNG, "then picture 2.", JPEG)),
    "generate": (PAINTER, turn("Paint a cup.", seed=3)),
    "everything": (
        {
            **PAINTER,
            "seed": 0,
            "guidance_scale": 2.5,
            "output_format": "png",
            "optimize_prompt_options": {"mode": "standard"},
            "assumed_size": "2K",
        },
        turn("Paint.", JPEG, seed=2**31 + 5),
    ),
}


def body(generation, asked=None):
    return json.loads(sent(ark_images, generation, asked or turn("x", PNG)).content)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    generation, asked = GOLDEN[name]
    assert_golden("ark_images", name, sent(ark_images, generation, asked))


def test_pictures_and_texts_keep_their_order():
    found = body(PAINTER, turn("a", PNG, "b", JPEG, PNG))
    assert found["prompt"] == "a\n\nb"
    kinds = [uri.partition(";")[0] for uri in found["image"]]
    assert kinds == ["data:image/png", "data:image/jpeg", "data:image/png"]


def test_the_watermark_is_refused_whatever_else_is_left_to_the_provider():
    assert body({"model": MODEL}, turn("x")) == {
        "model": MODEL,
        "prompt": "x",
        "response_format": "b64_json",
        "watermark": False,
        "sequential_image_generation": "disabled",
    }


def test_a_seed_is_sent_only_where_the_generation_has_one():
    assert "seed" not in body(PAINTER, turn("x", seed=3))
    assert body({**PAINTER, "seed": 0}, turn("x", seed=2**31 + 3))["seed"] == 3
    assert "seed" not in body({**PAINTER, "seed": 0}, turn("x", seed=None))


def test_an_account_of_openai_is_not_ark_s_business(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-ours")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example")
    request = sent(ark_images, PAINTER, turn("x"))
    assert "of-ours" not in str(dict(request.headers))
    assert str(request.url) == "https://provider.example/images/generations"


@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 503])
def test_an_error_is_not_tried_again(status):
    catcher = Catcher({"error": {"code": "InternalServiceError"}}, status)
    ark_images.connect(PAINTER, catcher.connection).send(turn("x", PNG))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "model"),
        ({"watermark": True}, "watermark"),
        ({"sequential_image_generation": "auto"}, "sequential_image_generation"),
        ({"response_format": "url"}, "response_format"),
        ({"assumed_size": "input"}, "assumed_size: 'input' is not here"),
        ({"seed": -1}, "seed: -1"),
        ({"guidance_scale": "much"}, "guidance_scale: 'much'"),
        ({"n": 2}, "n"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(changes, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        ark_images.connect({**PAINTER, **changes}, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


@pytest.mark.parametrize(
    ("pictures", "words"),
    [([b"<html>"], "picture"), ([PNG] * 15, "15 pictures; the provider takes 14")],
)
def test_what_cannot_be_sent_is_not(pictures, words):
    catcher = Catcher()
    with pytest.raises(ImageError, match=words):
        ark_images.connect(PAINTER, catcher.connection).send(turn("x", *pictures))
    assert not catcher.requests


def item(data):
    return {"b64_json": base64.b64encode(data).decode(), "size": "2048x2048"}


def failed(code):
    return {"error": {"code": code, "message": "m"}}


def painted(*items, **more):
    made = sum("error" not in one for one in items)
    told = {"generated_images": made, "output_tokens": 16384 * made, "total_tokens": 16384 * made}
    return {"model": MODEL, "created": 1, "data": list(items), "usage": told, **more}


def read(body):
    exchange = answered(body)
    assert ark.fault_of(exchange) is None
    return ADAPTER.read([exchange])


def ended(reply):
    return str(reply.outcome), reply.detail


def test_a_picture():
    used = Usage(0, 0, 0, 16384, 1).to_json()
    wanted = Reply("ok", images=(PNG,), answered_model=MODEL, usage=used)
    assert read(painted(item(PNG))) == wanted


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("OutputImageSensitiveContentDetected", "refused_output"),
        ("OutputImageSensitiveContentDetected.PolicyViolation", "refused_output"),
        ("InputTextSensitiveContentDetected", "refused_input"),
        ("InputImageSensitiveContentDetected", "refused_input"),
        ("InputImageRiskDetection", "refused_input"),
        ("SensitiveContentDetected", "refused_output"),
        ("CodeOfTomorrow", "no_image"),
    ],
)
def test_a_picture_can_fail_inside_a_success(code, outcome):
    reply = read(painted(failed(code)))
    assert ended(reply) == (outcome, code)
    assert Usage.from_json(reply.usage) == Usage()


def test_the_first_that_came_is_the_answer():
    reply = read(painted(failed("InternalServiceError"), item(JPEG), item(PNG)))
    assert (reply.outcome, reply.images) == ("ok", (JPEG, PNG))


def test_no_picture():
    assert ended(read(painted())) == ("no_image", "no_data")
    assert ended(read(painted(failed("a whole sentence")))) == ("no_image", "unnamed_error")


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ({}, ("malformed", "no_data")),
        ({"data": 3}, ("malformed", "no_data")),
        (painted({"url": "https://x", "size": "1x1"}), ("malformed", "url")),
        (painted({"b64_json": "!!"}), ("malformed", "not_base64")),
        (painted({}), ("malformed", "not_base64")),
        (failed("InternalServiceError"), ("malformed", "InternalServiceError")),
        (failed(OUTPUT_STOPPED), ("refused_output", OUTPUT_STOPPED)),
    ],
)
def test_a_body_without_a_readable_picture(body, end):
    assert ended(read(body)) == end


@pytest.mark.parametrize("told", [None, {}, {"output_tokens": 3}, "much"])
def test_usage_that_is_nonsense_is_not_told_and_the_answer_stands(told):
    reply = read(painted(item(PNG), usage=told))
    assert (reply.outcome, reply.images, reply.usage) == ("ok", (PNG,), None)


GOOD = [
    painted(item(b"abc")),
    painted(failed("OutputImageSensitiveContentDetected"), item(b"abc")),
    painted(),
    failed("InternalServiceError"),
]


@settings(deadline=None)
@given(mangled(GOOD))
def test_no_body_raises(body):
    exchange = answered(body)
    ark.fault_of(exchange)
    reply = ADAPTER.read([exchange])
    assert reply.outcome in MODEL_OUTCOMES
    assert (reply.outcome == "ok") is bool(reply.images)
    assert all(reply.images)
    assert reply.detail is None or len(reply.detail) <= 80
    Usage.from_json(reply.usage)
