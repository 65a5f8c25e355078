"""The fake of Ark through OpenAI's SDK, as Ark's own documents say: pictures by the piece."""

import base64
import io

import openai
import pytest
from fakes.ark import ArkFake
from fakes.billing import Scenario
from fakes.clients import KEY, http_client, openai_client, unread
from fakes.faults import SHAPES
from fakes.painters import plain
from openai.types import Image as ImageType
from openai.types.chat import ChatCompletion
from PIL import Image

PICTURE = plain(["a room"], []).image
PAINTED = plain(["Paint it"], [PICTURE, PICTURE]).image
DATA_URI = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
MODEL, READER = "doubao-seedream-4-0-250828", "doubao-seed-2-1-pro-260628"


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def paint(client, **extra):
    asked = {"image": [DATA_URI, DATA_URI], "watermark": False, "seed": 3, **extra}
    return client.images.generate(
        model=MODEL, prompt="Paint it", size="2K", response_format="b64_json", extra_body=asked
    )


def chat(client, **options):
    content = [
        {"type": "image_url", "image_url": {"url": DATA_URI}},
        {"type": "text", "text": "How many?"},
    ]
    given = {"model": READER, "messages": [{"role": "user", "content": content}]}
    return client.chat.completions.with_raw_response.create(**{**given, **options})


def test_a_picture_has_a_flat_price_and_the_size_that_was_asked_for(http):
    with ArkFake() as fake:
        reply = paint(openai_client(fake, http))
        (entry,) = fake.journal
    (item,) = reply.data
    assert base64.b64decode(item.b64_json) == PAINTED
    assert item.size == "2048x2048"
    assert reply.model == MODEL
    assert reply.usage.generated_images == 1
    assert reply.usage.output_tokens == reply.usage.total_tokens == 2048 * 2048 // 256
    assert (entry.charged, entry.usd, entry.status, entry.fault) == (True, 0.03, 200, None)
    assert entry.path == "/api/v3/images/generations"
    assert entry.body["image"][0].startswith("data:image/png;base64,<")


def test_a_picture_is_stamped_unless_that_is_declined(http):
    with ArkFake() as fake:
        (stamped,) = paint(openai_client(fake, http), watermark=True).data
    with Image.open(io.BytesIO(base64.b64decode(stamped.b64_json))) as picture:
        assert picture.getpixel((15, 15)) == (127, 127, 127)
        assert picture.getpixel((0, 0)) != (127, 127, 127)


def test_addresses_unless_bytes_are_asked_for(http):
    with ArkFake() as fake:
        client = openai_client(fake, http)
        reply = client.images.generate(model=MODEL, prompt="Paint it", size="1024x2048")
    (item,) = reply.data
    assert (item.b64_json, item.size) == (None, "1024x2048")
    assert item.url.startswith("https://ark.invalid/")


@pytest.mark.parametrize("fault", ["ok", *SHAPES])
def test_every_picture_is_of_the_sdks_type_and_failed_ones_are_free(http, fault):
    with ArkFake(scenario=Scenario().default(fault)) as fake:
        reply = paint(openai_client(fake, http))
        (entry,) = fake.journal
    # The body as a whole is not: OpenAI's tells input tokens, and Ark's tells pictures.
    for item in reply.data:
        known = ImageType.model_validate(item.model_dump())
        assert unread(known) == ({"error"} if fault == "refused_200" else {"size"})
    made = {"two_images": 2, "refused_200": 0, "no_image": 0}.get(fault, 1)
    assert reply.usage.generated_images == made
    assert entry.charged == (made > 0)
    assert entry.usd == pytest.approx(made * 0.03)


def test_a_refused_picture_is_an_item_with_an_error(http):
    scenario = Scenario().default("refused_200", reason="OutputImageSensitiveContentDetected")
    with ArkFake(scenario=scenario) as fake:
        (item,) = paint(openai_client(fake, http)).data
    assert item.b64_json is None
    assert item.error["code"] == "OutputImageSensitiveContentDetected"


@pytest.mark.parametrize("fault", ["ok", *SHAPES])
def test_every_text_is_of_the_sdks_type_and_charged(http, fault):
    with ArkFake(scenario=Scenario().default(fault)) as fake:
        raw = chat(openai_client(fake, http))
        (entry,) = fake.journal
    reply = ChatCompletion.model_validate_json(raw.content)
    assert unread(reply) == {"choices.message.reasoning_content"}
    used = reply.usage
    assert entry.charged
    assert entry.usd == pytest.approx(
        (used.prompt_tokens * 0.86 + used.completion_tokens * 4.31) / 1e6
    )


def test_thinking_can_be_declined(http):
    with ArkFake() as fake:
        raw = chat(openai_client(fake, http), extra_body={"thinking": {"type": "disabled"}})
    reply = ChatCompletion.model_validate_json(raw.content)
    assert reply.choices[0].message.content == "7"
    assert reply.usage.completion_tokens_details.reasoning_tokens == 0
    assert unread(reply) == set()


@pytest.mark.parametrize(
    ("fault", "error", "status", "code"),
    [
        ("wait_429", openai.RateLimitError, 429, "RateLimitExceeded.EndpointIPMExceeded"),
        ("quota_429", openai.RateLimitError, 429, "QuotaExceeded"),
        ("quota_402", openai.PermissionDeniedError, 403, "AccountOverdueError"),
        ("credit_400", openai.PermissionDeniedError, 403, "AccountOverdueError"),
        ("error_500", openai.InternalServerError, 500, "InternalServiceError"),
        ("overloaded_503", openai.InternalServerError, 503, "ServerOverloaded"),
        ("overloaded_529", openai.InternalServerError, 529, "ServerOverloaded"),
        ("timeout_504", openai.InternalServerError, 504, "RequestTimeout"),
        ("auth_401", openai.AuthenticationError, 401, "AuthenticationError"),
        ("gone_404", openai.NotFoundError, 404, "InvalidEndpointOrModel.NotFound"),
        ("bad_request_400", openai.BadRequestError, 400, "InvalidParameter"),
        ("refused_400", openai.BadRequestError, 400, "InputImageSensitiveContentDetected"),
        ("leak_key", openai.AuthenticationError, 401, "AuthenticationError"),
    ],
)
def test_errors_are_the_sdks_own_and_free(http, fault, error, status, code):
    with ArkFake(scenario=Scenario().first(fault)) as fake:
        client = openai_client(fake, http)
        with pytest.raises(error) as raised:
            paint(client)
        assert (raised.value.status_code, raised.value.code) == (status, code)
        entry = fake.journal[0]
        assert (entry.charged, entry.usd, entry.status, entry.fault) == (False, 0, status, fault)
        assert (KEY in raised.value.body["message"]) == (fault == "leak_key")
        assert KEY not in repr(entry)
        # The second attempt of the same request goes through.
        paint(client)
        assert (fake.charged, fake.distinct) == (1, 1)


def test_no_more_pictures_than_fourteen(http):
    with ArkFake() as fake, pytest.raises(openai.BadRequestError) as raised:
        paint(openai_client(fake, http), image=[DATA_URI] * 15)
    assert (raised.value.param, fake.charged) == ("image", 0)


def test_the_model_that_answers_may_be_another(http):
    with ArkFake(scenario=Scenario().default("wrong_model", model="seedream-1")) as fake:
        assert paint(openai_client(fake, http)).model == "seedream-1"
