"""`openai_images`: what goes out to both endpoints, and what it makes of their bodies."""

from __future__ import annotations

import base64
import io
import json
from email import message_from_bytes

import pytest
from hypothesis import given, settings
from mangled_bodies import mangled
from PIL import Image
from sent_requests import JPEG, PNG, Catcher, answered, assert_golden, picture, sent, turn

from gensight.errors import ImageError, SpecError
from gensight.models import Reply, openai_images
from gensight.outcomes import MODEL_OUTCOMES
from gensight.providers import openai
from gensight.providers.usage import Usage

MODEL = "gpt-image-2-2026-04-21"
PAINTER = {
    "model": MODEL,
    "n": 1,
    "output_format": "png",
    "assumed_size": "input",
    "assumed_quality": "high",
}
ADAPTER = openai_images.connect(PAINTER, Catcher().connection)
SCENE = picture(size=(1280, 720))
ALL = {
    "model": "gpt-image-1.5",
    "n": 2,
    "output_format": "webp",
    "output_compression": 80,
    "background": "opaque",
    "complexity": "low",
    "input_fidelity": "high",
    "moderation": "low",
    "assumed_size": "1536x1024",
    "assumed_quality": "medium",
}

GOLDEN = {
    "edit_one": ({**PAINTER, "assumed_size": "1024x1024"}, turn("Paint the mask of the cup.", PNG)),
    "edit_many": (PAINTER, turn("Take the first,", PNG, "then the second.", JPEG)),
    "edit_everything": (ALL, turn("Paint.", JPEG, seed=3)),
    "generate": ({**PAINTER, "assumed_size": "1024x1024"}, turn("Paint", "a cup.")),
    "generate_everything": (ALL, turn("Paint.", seed=3)),
}


def values(request):
    """Return the named parts of a multipart body that are no files, in order."""
    head = b"content-type: " + request.headers["content-type"].encode() + b"\r\n\r\n"
    parts = message_from_bytes(head + request.content).get_payload()
    names = [part.get_param("name", header="content-disposition") for part in parts]
    pairs = zip(names, parts, strict=True)
    return [(n, p.get_filename() or p.get_payload()) for n, p in pairs]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_request_is_the_golden_one(name):
    generation, asked = GOLDEN[name]
    assert_golden("openai_images", name, sent(openai_images, generation, asked))


def test_one_picture_is_a_part_and_several_are_a_list():
    one = values(sent(openai_images, PAINTER, turn("x", PNG)))
    assert [n for n in one if n[0].startswith("image")] == [("image", "picture_1.png")]
    many = values(sent(openai_images, PAINTER, turn("x", PNG, JPEG, PNG)))
    files = ["picture_1.png", "picture_2.jpeg", "picture_3.png"]
    assert [n for n in many if n[0].startswith("image")] == [("image[]", f) for f in files]


def test_an_edit_has_no_seed_no_temperature_and_no_moderation():
    names = {name for name, _ in values(sent(openai_images, ALL, turn("x", PNG, seed=5)))}
    assert not names & {"seed", "temperature", "moderation", "response_format"}
    assert "input_fidelity" in names
    made = json.loads(sent(openai_images, ALL, turn("x", seed=5)).content)
    assert made["moderation"] == "low"
    assert not set(made) & {"seed", "temperature", "input_fidelity", "response_format"}
    # There is no such setting here, so no model's card can ask for one.
    for name in ("seed", "temperature"):
        with pytest.raises(SpecError, match=name):
            openai_images.connect({**PAINTER, name: 1}, Catcher().connection)


def test_what_is_left_to_the_provider_is_not_sent():
    found = json.loads(sent(openai_images, {"model": MODEL}, turn("x")).content)
    assert found == {"model": MODEL, "prompt": "x", "n": 1, "output_format": "png"}


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((1024, 1024), "1024x1024"),
        ((1280, 720), "1280x720"),
        ((1279, 721), "1280x720"),
        # Fewer pixels than the API takes, more of them, longer than it takes, too elongated.
        ((640, 480), "960x720"),
        ((5120, 5120), "2880x2880"),
        ((3900, 1950), "3840x1920"),
        ((2000, 100), "2016x672"),
        ((16, 16), "816x816"),
    ],
)
def test_the_size_is_that_of_the_first_picture_as_the_api_takes_it(size, wanted):
    request = sent(openai_images, PAINTER, turn("x", picture(size=size), PNG))
    assert dict(values(request))["size"] == wanted


def test_a_picture_lying_on_its_side_is_asked_for_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    data = io.BytesIO()
    Image.new("RGB", (1280, 720)).save(data, format="JPEG", exif=exif)
    request = sent(openai_images, PAINTER, turn("x", data.getvalue()))
    assert dict(values(request))["size"] == "720x1280"


def test_the_environment_changes_neither_address_nor_key(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example")
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-environment")
    request = sent(openai_images, PAINTER, turn("x", PNG))
    assert str(request.url) == "https://provider.example/images/edits"
    assert "of-the-environment" not in str(dict(request.headers))
    assert request.extensions["timeout"]["read"] == 5.0


@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 503])
def test_an_error_is_not_tried_again(status):
    catcher = Catcher({"error": {"code": "server_error"}}, status)
    openai_images.connect(PAINTER, catcher.connection).send(turn("x", PNG))
    assert len(catcher.requests) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "model"),
        ({"n": 11}, "n: '11'"),
        ({"assumed_size": "1024"}, "assumed_size: '1024'"),
        ({"assumed_size": "0x16"}, "assumed_size: '0x16'"),
        ({"assumed_quality": "best"}, "assumed_quality"),
        ({"output_format": "gif"}, "output_format"),
        ({"output_compression": "much"}, "output_compression: 'much' is not a whole number"),
        ({"warmth": 1}, "warmth"),
    ],
)
def test_a_wrong_setting_is_one_line_before_anything_is_sent(changes, words):
    catcher = Catcher()
    with pytest.raises(SpecError, match=words) as told:
        openai_images.connect({**PAINTER, **changes}, catcher.connection)
    assert "\n" not in str(told.value)
    assert not catcher.requests


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (turn("x", b"<html>"), ImageError, "picture"),
        (turn("x", *[PNG] * 17), ImageError, "17 pictures; the provider takes 16"),
        (turn("no picture"), SpecError, "'input' needs a picture"),
    ],
)
def test_what_cannot_be_sent_is_not(asked, error, words):
    catcher = Catcher()
    with pytest.raises(error, match=words):
        openai_images.connect(PAINTER, catcher.connection).send(asked)
    assert not catcher.requests


def painted(*pictures, **more):
    return {
        "created": 1,
        "data": [{"b64_json": base64.b64encode(data).decode()} for data in pictures],
        "output_format": "png",
        "quality": "high",
        "size": "1024x1024",
        "usage": {
            "input_tokens": 120,
            "input_tokens_details": {"image_tokens": 100, "text_tokens": 20},
            "output_tokens": 4160,
            "output_tokens_details": {"image_tokens": 4000, "text_tokens": 160},
            "total_tokens": 4280,
        },
        **more,
    }


def read(body):
    exchange = answered(body)
    assert openai.fault_of(exchange) is None
    return ADAPTER.read([exchange])


def ended(reply):
    return str(reply.outcome), reply.detail


def test_a_picture():
    used = Usage(20, 100, 160, 4000, 1).to_json()
    assert read(painted(PNG)) == Reply("ok", images=(PNG,), usage=used)


def test_a_setting_that_is_echoed_by_a_new_word_spoils_nothing():
    body = painted(PNG, quality="utmost", size=7, background="of_tomorrow", created=None)
    assert read(body).images == (PNG,)


def test_of_several_pictures_the_first_is_the_answer():
    reply = read(painted(JPEG, PNG))
    assert (reply.outcome, reply.images) == ("ok", (JPEG, PNG))


def test_no_picture():
    assert ended(read(painted())) == ("no_image", "no_data")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "no_data"),
        (painted(data=None), "no_data"),
        (painted(data="x"), "no_data"),
        (painted(data=[None]), "not_base64"),
        (painted(data=[{}]), "not_base64"),
        (painted(data=[{"b64_json": ""}]), "not_base64"),
        (painted(data=[{"b64_json": "!!"}]), "not_base64"),
        (painted(data=[{"b64_json": 3}]), "not_base64"),
        (painted(data=[{"b64_json": "YQ=="}, {"b64_json": "YQ"}]), "not_base64"),
        (painted(data=[{"url": "https://x"}]), "url"),
        ({"error": {"code": "server_error", "message": "m"}}, "server_error"),
    ],
)
def test_a_body_without_a_readable_picture(body, detail):
    reply = read(body)
    assert (ended(reply), reply.images) == (("malformed", detail), ())


def test_an_error_inside_a_success():
    body = {"error": {"code": "moderation_blocked", "message": "m"}}
    assert ended(read(body)) == ("refused_output", "moderation_blocked")


def test_what_the_details_leave_out_counts_as_pictures():
    told = {"input_tokens": 120, "output_tokens": 4160}
    assert Usage.from_json(read(painted(PNG, usage=told)).usage) == Usage(0, 120, 0, 4160, 1)


@pytest.mark.parametrize(
    "told", [None, {}, {"input_tokens": 1}, {"input_tokens": -1, "output_tokens": 2}, "much", 3]
)
def test_usage_that_is_nonsense_is_not_told_and_the_answer_stands(told):
    reply = read(painted(PNG, usage=told))
    assert (reply.outcome, reply.images, reply.usage) == ("ok", (PNG,), None)


GOOD = [
    painted(b"abc"),
    painted(b"abc", b"def"),
    painted(),
    {"error": {"code": "moderation_blocked"}},
    {"data": [{"error": {"code": "Output.SensitiveContentDetected"}}, {"b64_json": "YQ=="}]},
]


@settings(deadline=None)
@given(mangled(GOOD))
def test_no_body_raises(body):
    exchange = answered(body)
    openai.fault_of(exchange)
    reply = ADAPTER.read([exchange])
    assert reply.outcome in MODEL_OUTCOMES
    assert (reply.outcome == "ok") is bool(reply.images)
    assert all(reply.images)
    assert reply.detail is None or len(reply.detail) <= 80
    Usage.from_json(reply.usage)
