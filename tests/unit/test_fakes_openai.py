"""The fake of OpenAI through the real SDK: bodies, faults, and what each costs."""

import base64
import json

import openai
import pytest
from fakes.billing import Painted, Scenario
from fakes.clients import KEY, http_client, openai_client, unread
from fakes.faults import SHAPES
from fakes.openai import OpenAIFake
from fakes.painters import plain
from openai.types import ImagesResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

PICTURE = plain(["a room"], []).image
DATA_URI = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
TOOL = {"type": "image_generation", "model": "gpt-image-2", "quality": "low", "size": "1024x1024"}


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def edit(client, **options):
    given = {"model": "gpt-image-2", "prompt": "Paint it", "size": "1024x1024", "quality": "high"}
    picture = ("room.png", PICTURE, "image/png")
    return client.images.with_raw_response.edit(image=[picture], **{**given, **options})


def respond(client, **options):
    content = [
        {"type": "input_text", "text": "How many?"},
        {"type": "input_image", "image_url": DATA_URI, "detail": "auto"},
        {"type": "input_text", "text": "Say a number."},
    ]
    given = {"model": "gpt-5.4", "input": [{"role": "user", "content": content}]}
    return client.responses.with_raw_response.create(**{**given, **options})


def chat(client, **options):
    content = [
        {"type": "text", "text": "How many?"},
        {"type": "image_url", "image_url": {"url": DATA_URI}},
    ]
    given = {"model": "gpt-5.4", "messages": [{"role": "user", "content": content}]}
    return client.chat.completions.with_raw_response.create(**{**given, **options})


def test_edit_is_read_by_the_sdk_and_billed_by_tokens(http):
    with OpenAIFake() as fake:
        raw = edit(openai_client(fake, http))
        (entry,) = fake.journal
    reply = ImagesResponse.model_validate_json(raw.content)
    painted = plain(["Paint it"], [PICTURE]).image
    assert base64.b64decode(reply.data[0].b64_json) == painted
    assert (reply.size, reply.quality, reply.output_format) == ("1024x1024", "high", "png")
    # 2 tokens of words at 5 a million, one of the picture at 8, 6333 of the answer at 30.
    assert reply.usage.input_tokens_details.text_tokens == 2
    assert reply.usage.input_tokens_details.image_tokens == 1
    assert reply.usage.output_tokens == 6333
    assert entry.usd == pytest.approx((2 * 5 + 8 + 6333 * 30) / 1e6)
    assert (entry.charged, entry.status, entry.fault, entry.model) == (
        True,
        200,
        None,
        "gpt-image-2",
    )


@pytest.mark.parametrize("fault", ["ok", *SHAPES])
@pytest.mark.parametrize(
    ("call", "options", "kind", "strange"),
    [
        (edit, {}, ImagesResponse, set()),
        (respond, {}, Response, {"store"}),
        (respond, {"tools": [TOOL]}, Response, {"store"}),
        (chat, {}, ChatCompletion, set()),
    ],
    ids=["edit", "words", "tool", "chat"],
)
def test_every_answer_is_of_the_sdks_type(http, fault, call, options, kind, strange):
    with OpenAIFake(scenario=Scenario().default(fault)) as fake:
        raw = call(openai_client(fake, http), **options)
        assert [entry.charged for entry in fake.journal] == [True]
    # The service says what it stored, and the SDK has no word for it.
    assert unread(kind.model_validate_json(raw.content)) == strange


def test_multipart_is_journaled_without_its_bytes_and_keyed_without_its_boundary(http):
    with OpenAIFake() as fake:
        client = openai_client(fake, http)
        edit(client)
        edit(client)
        edit(client, prompt="Paint it red")
        client.images.edit(
            model="gpt-image-2", prompt="Paint it", image=[("room.png", b"another", "image/png")],
            size="1024x1024", quality="high",
        )  # fmt: skip
        keys = [entry.key for entry in fake.journal]
        fields = fake.journal[0].body["fields"]
        assert (fake.charged, fake.distinct) == (4, 3)
        assert list(fake.journal.paid_twice.values()) == [2]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert fields["prompt"] == ["Paint it"]
    assert fields["image[]"][0] | {"sha256": None} == {
        "filename": "room.png", "type": "image/png", "bytes": len(PICTURE), "sha256": None
    }  # fmt: skip


def test_generation_counts_its_pictures(http):
    with OpenAIFake() as fake:
        raw = openai_client(fake, http).images.with_raw_response.generate(
            model="gpt-image-1.5", prompt="Four words of text", n=2, size="1536x1024", quality="low"
        )
        usd = fake.charged_usd
    reply = ImagesResponse.model_validate_json(raw.content)
    assert len(reply.data) == 2
    assert reply.usage.output_tokens == 2 * 408
    assert usd == pytest.approx((5 * 5 + 816 * 32) / 1e6)


def test_response_in_words(http):
    with OpenAIFake() as fake:
        raw = respond(openai_client(fake, http), max_output_tokens=4096)
        usd = fake.charged_usd
    reply = Response.model_validate_json(raw.content)
    assert reply.output_text == "7"
    assert (reply.status, reply.model) == ("completed", "gpt-5.4")
    # 23 characters of words and a line's end, a picture of one token; a digit and the reasoning.
    assert reply.usage.input_tokens == 6 + 1
    assert reply.usage.output_tokens == 1 + reply.usage.output_tokens_details.reasoning_tokens
    assert usd == pytest.approx((7 * 2.5 + reply.usage.output_tokens * 15) / 1e6)


def test_response_with_the_image_tool_bills_both_models(http):
    with OpenAIFake() as fake:
        raw = respond(openai_client(fake, http), tools=[TOOL])
        usd = fake.charged_usd
    reply = Response.model_validate_json(raw.content)
    (call,) = [item for item in reply.output if item.type == "image_generation_call"]
    assert base64.b64decode(call.result).startswith(b"\x89PNG")
    assert (call.status, call.size, call.quality) == ("completed", "1024x1024", "low")
    assert call.revised_prompt.endswith("How many?\nSay a number.")
    drawn = reply.tool_usage.image_gen
    assert drawn.output_tokens == 667
    words = reply.usage
    assert usd == pytest.approx(
        (words.input_tokens * 2.5 + words.output_tokens * 15) / 1e6
        + (6 * 5 + 1 * 8 + 667 * 30) / 1e6
    )


def test_chat_keeps_the_reasoning_to_itself(http):
    with OpenAIFake() as fake:
        raw = chat(openai_client(fake, http), max_completion_tokens=100)
        usd = fake.charged_usd
    reply = ChatCompletion.model_validate_json(raw.content)
    assert reply.choices[0].message.content == "7"
    assert reply.choices[0].message.model_extra == {}
    assert reply.usage.completion_tokens_details.reasoning_tokens > 0
    assert usd == pytest.approx(
        (reply.usage.prompt_tokens * 2.5 + reply.usage.completion_tokens * 15) / 1e6
    )


@pytest.mark.parametrize(
    ("fault", "error", "status", "code"),
    [
        ("wait_429", openai.RateLimitError, 429, "rate_limit_exceeded"),
        ("quota_429", openai.RateLimitError, 429, "credit_balance_exhausted"),
        ("quota_402", openai.APIStatusError, 402, "credit_balance_exhausted"),
        ("credit_400", openai.BadRequestError, 400, "credit_balance_exhausted"),
        ("error_500", openai.InternalServerError, 500, None),
        ("overloaded_503", openai.InternalServerError, 503, "overloaded"),
        ("overloaded_529", openai.InternalServerError, 529, "overloaded"),
        ("timeout_504", openai.InternalServerError, 504, "timeout"),
        ("auth_401", openai.AuthenticationError, 401, "invalid_api_key"),
        ("gone_404", openai.NotFoundError, 404, "model_not_found"),
        ("bad_request_400", openai.BadRequestError, 400, "unsupported_value"),
        ("refused_400", openai.BadRequestError, 400, "moderation_blocked"),
    ],
)
def test_errors_are_the_sdks_own_and_free(http, fault, error, status, code):
    with OpenAIFake(scenario=Scenario().first(fault)) as fake:
        client = openai_client(fake, http)
        with pytest.raises(error) as raised:
            edit(client)
        assert (raised.value.status_code, raised.value.code) == (status, code)
        assert raised.value.request_id.startswith("req_")
        entry = fake.journal[0]
        assert (entry.charged, entry.usd, entry.status, entry.fault) == (False, 0, status, fault)
        # The second attempt of the same request goes through.
        edit(client)
        assert (fake.charged, fake.distinct) == (1, 1)


def test_hints_are_sent_as_told(http):
    scenario = Scenario().first("wait_429", retry_after_s=0.25)
    scenario.first("wait_429", retry_after_s=None)
    with OpenAIFake(scenario=scenario) as fake:
        client = openai_client(fake, http)
        headers = []
        for _ in range(2):
            with pytest.raises(openai.RateLimitError) as raised:
                chat(client)
            headers.append(raised.value.response.headers)
    assert headers[0]["retry-after"] == "0.25"
    assert headers[0]["retry-after-ms"] == "250"
    assert headers[0]["x-ratelimit-reset-tokens"] == "6m0s"
    assert "retry-after" not in headers[1]


def test_moderation_tells_its_stage(http):
    scenario = Scenario().default("refused_400", stage="output")
    with OpenAIFake(scenario=scenario) as fake, pytest.raises(openai.BadRequestError) as raised:
        edit(openai_client(fake, http))
    assert raised.value.type == "image_generation_user_error"
    assert raised.value.body["moderation_details"]["moderation_stage"] == "output"


def test_a_refused_picture_of_a_response_is_a_failed_call(http):
    scenario = Scenario().default("refused_200", stage="output")
    with OpenAIFake(scenario=scenario) as fake:
        raw = respond(openai_client(fake, http), tools=[TOOL])
        assert fake.charged == 1
    reply = Response.model_validate_json(raw.content)
    (call,) = [item for item in reply.output if item.type == "image_generation_call"]
    assert (call.status, call.result) == ("failed", None)
    assert call.error.code == "moderation_blocked"
    assert call.error.moderation_details.moderation_stage == "output"
    assert reply.tool_usage.image_gen.output_tokens == 0


@pytest.mark.parametrize(
    ("fault", "pictures"), [("two_images", 2), ("no_image", 0), ("text_only", 0)]
)
def test_other_numbers_of_pictures(http, fault, pictures):
    with OpenAIFake(scenario=Scenario().default(fault)) as fake:
        raw = respond(openai_client(fake, http), tools=[TOOL])
        assert fake.charged == 1
    reply = Response.model_validate_json(raw.content)
    calls = [item for item in reply.output if item.type == "image_generation_call"]
    assert len(calls) == pictures
    assert reply.output_text == ("7" if fault == "text_only" else "")


def test_refusals_in_words(http):
    with OpenAIFake(scenario=Scenario().default("refused_200")) as fake:
        client = openai_client(fake, http)
        response = Response.model_validate_json(respond(client).content)
        completion = ChatCompletion.model_validate_json(chat(client).content)
    assert response.output[-1].content[0].type == "refusal"
    assert completion.choices[0].message.refusal
    assert completion.choices[0].message.content is None
    scenario = Scenario().default("refused_200", reason="content_filter")
    with OpenAIFake(scenario=scenario) as fake:
        completion = ChatCompletion.model_validate_json(chat(openai_client(fake, http)).content)
    assert completion.choices[0].finish_reason == "content_filter"


def test_truncated_answers_cost_what_they_may_use(http):
    def painter(texts, pictures):
        return Painted(text="a long and winding answer" * 4)

    with OpenAIFake(painter, Scenario().default("truncated")) as fake:
        client = openai_client(fake, http)
        response = Response.model_validate_json(respond(client, max_output_tokens=64).content)
        completion = ChatCompletion.model_validate_json(
            chat(client, max_completion_tokens=64).content
        )
        assert fake.charged == 2
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.usage.output_tokens == 64
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage.completion_tokens == 64
    assert completion.choices[0].message.content == "a long and winding answer" * 2


def test_wrong_model_is_told_where_a_body_tells_models(http):
    with OpenAIFake(scenario=Scenario().default("wrong_model", model="gpt-4")) as fake:
        client = openai_client(fake, http)
        assert json.loads(respond(client).content)["model"] == "gpt-4"
        assert json.loads(chat(client).content)["model"] == "gpt-4"
        edit(client)
        # A body of pictures names no model: the answer is a good one, and the journal says so.
        assert [entry.fault for entry in fake.journal] == ["wrong_model", "wrong_model", None]


@pytest.mark.parametrize(
    ("call", "options", "param"),
    [
        (edit, {"extra_body": {"seed": 1}}, "seed"),
        (edit, {"extra_body": {"moderation": "low"}}, "moderation"),
        (edit, {"input_fidelity": "high"}, "input_fidelity"),
        (edit, {"size": "1000x1000"}, "size"),
        (chat, {"max_tokens": 10}, "max_tokens"),
        (chat, {"model": "gpt-5.6-sol", "temperature": 0}, "temperature"),
        (chat, {"model": "gpt-6-astra", "temperature": 1}, "temperature"),
        (respond, {"tools": [{"type": "image_generation"}]}, "tools[0].model"),
    ],
)
def test_parameters_that_the_models_do_not_take(http, call, options, param):
    with OpenAIFake() as fake, pytest.raises(openai.BadRequestError) as raised:
        call(openai_client(fake, http), **options)
    assert raised.value.param == param
    assert fake.charged == 0


def test_a_model_without_a_price_is_gone_and_can_be_added(http):
    with OpenAIFake() as fake, pytest.raises(openai.NotFoundError):
        chat(openai_client(fake, http), model="gpt-9")
    with OpenAIFake(prices={"gpt-9": OpenAIFake.PRICES["gpt-5.4"]}) as fake:
        chat(openai_client(fake, http), model="gpt-9")
        assert fake.charged_usd > 0


def test_a_leaked_key_comes_in_three_spellings(http):
    scenario = Scenario().default("leak_key")
    with OpenAIFake(scenario=scenario) as fake, pytest.raises(openai.AuthenticationError) as raised:
        chat(openai_client(fake, http))
    message = raised.value.body["message"]
    coded = base64.b64encode(KEY.encode()).decode()
    assert KEY in message
    assert "key%2Bwith%2Fodd%3Dsigns" in message
    assert coded in message
    # The journal never holds a key.
    assert KEY not in repr(fake.journal[0])
