"""The fake of Anthropic through its SDK: messages, refusals, errors, and what each costs."""

import base64

import anthropic
import pytest
from anthropic.types import Message
from fakes.anthropic import AnthropicFake
from fakes.billing import Painted, Scenario
from fakes.clients import KEY, anthropic_client, http_client, unread
from fakes.faults import SHAPES
from fakes.painters import plain

PICTURE = plain(["a room"], []).image
MODEL = "claude-opus-4-7"


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def ask(client, **options):
    source = {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PICTURE).decode(),
    }
    content = [
        {"type": "text", "text": "How many?"},
        {"type": "image", "source": source, "transformations": {"oversized_image": "error"}},
        {"type": "text", "text": "Say a number."},
    ]
    given = {
        "model": MODEL,
        "max_tokens": 100,
        "messages": [{"role": "user", "content": content}],
    }
    return client.messages.create(**{**given, **options})


def text_of(reply):
    return "".join(block.text for block in reply.content if block.type == "text")


def test_a_number_and_its_bill(http):
    with AnthropicFake() as fake:
        reply = ask(anthropic_client(fake, http), system="Count.")
        (entry,) = fake.journal
    assert (text_of(reply), reply.stop_reason, reply.model) == ("7", "end_turn", MODEL)
    # 6 + 9 + 13 characters and two line ends, a picture of one token; a digit and two more.
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (8 + 1, 3)
    assert entry.usd == pytest.approx((9 * 5 + 3 * 25) / 1e6)
    assert (entry.charged, entry.status, entry.fault, entry.model) == (True, 200, None, MODEL)
    source = entry.body["messages"][0]["content"][1]["source"]
    assert source["data"].startswith(f"<{len(PICTURE)} bytes, sha256 ")


def test_thinking_is_a_block_of_its_own_and_is_paid_for(http):
    with AnthropicFake() as fake:
        reply = ask(anthropic_client(fake, http), thinking={"type": "adaptive"})
    assert [block.type for block in reply.content] == ["thinking", "text"]
    assert reply.usage.output_tokens == 3 + 64
    assert reply.usage.output_tokens_details.thinking_tokens == 64


@pytest.mark.parametrize("thinking", ["adaptive", "disabled"])
@pytest.mark.parametrize("fault", ["ok", *SHAPES])
def test_every_answer_is_of_the_sdks_type_and_charged(http, fault, thinking):
    with AnthropicFake(scenario=Scenario().default(fault)) as fake:
        raw = anthropic_client(fake, http).messages.with_raw_response.create(
            model="claude-opus-5",
            max_tokens=100,
            messages=[{"role": "user", "content": "How many?"}],
            thinking={"type": thinking},
        )
        (entry,) = fake.journal
    assert unread(Message.model_validate_json(raw.read())) == set()
    assert entry.charged and entry.usd > 0


def test_a_refusal_is_an_answer_with_nothing_in_it(http):
    with AnthropicFake(scenario=Scenario().default("refused_200", reason="bio")) as fake:
        reply = ask(anthropic_client(fake, http), thinking={"type": "adaptive"})
    assert (reply.stop_reason, reply.content) == ("refusal", [])
    assert reply.stop_details.category == "bio"


def test_a_truncated_answer_costs_all_that_was_allowed(http):
    def painter(texts, pictures):
        return Painted(text="one, two, three, four")

    with AnthropicFake(painter, Scenario().default("truncated")) as fake:
        reply = ask(anthropic_client(fake, http), max_tokens=50)
        assert fake.charged_usd == pytest.approx((7 * 5 + 50 * 25) / 1e6)
    assert (reply.stop_reason, text_of(reply)) == ("max_tokens", "one, two, ")


@pytest.mark.parametrize(
    ("fault", "error", "status", "kind"),
    [
        ("wait_429", anthropic.RateLimitError, 429, "rate_limit_error"),
        ("quota_429", anthropic.EnforcedSpendLimitReachedError, 429, "rate_limit_error"),
        ("quota_402", anthropic.PaymentRequiredError, 402, "billing_error"),
        ("credit_400", anthropic.BadRequestError, 400, "invalid_request_error"),
        ("error_500", anthropic.InternalServerError, 500, "api_error"),
        ("overloaded_503", anthropic.ServiceUnavailableError, 503, "overloaded_error"),
        ("overloaded_529", anthropic.OverloadedError, 529, "overloaded_error"),
        ("timeout_504", anthropic.GatewayTimeoutError, 504, "timeout_error"),
        ("auth_401", anthropic.AuthenticationError, 401, "authentication_error"),
        ("gone_404", anthropic.NotFoundError, 404, "not_found_error"),
        ("bad_request_400", anthropic.BadRequestError, 400, "invalid_request_error"),
        ("refused_400", anthropic.BadRequestError, 400, "invalid_request_error"),
        ("leak_key", anthropic.AuthenticationError, 401, "authentication_error"),
    ],
)
def test_errors_are_the_sdks_own_and_free(http, fault, error, status, kind):
    with AnthropicFake(scenario=Scenario().first(fault)) as fake:
        client = anthropic_client(fake, http)
        with pytest.raises(error) as raised:
            ask(client)
        assert (raised.value.status_code, raised.value.type) == (status, kind)
        assert raised.value.request_id == raised.value.body["request_id"]
        entry = fake.journal[0]
        assert (entry.charged, entry.usd, entry.status, entry.fault) == (False, 0, status, fault)
        assert (KEY in raised.value.body["error"]["message"]) == (fault == "leak_key")
        assert KEY not in repr(entry)
        # The second attempt of the same request goes through.
        ask(client)
        assert (fake.charged, fake.distinct) == (1, 1)


def test_only_what_will_pass_says_when(http):
    scenario = Scenario().first("wait_429", retry_after_s=2.5).first("quota_429")
    with AnthropicFake(scenario=scenario) as fake:
        client = anthropic_client(fake, http)
        told = []
        for _ in range(2):
            with pytest.raises(anthropic.RateLimitError) as raised:
                ask(client)
            told.append(raised.value.response.headers.get("retry-after"))
    assert told == ["2.5", None]


def test_an_empty_account_is_told_by_words_alone(http):
    empty = pytest.raises(anthropic.BadRequestError, match="credit balance")
    with AnthropicFake(scenario=Scenario().default("credit_400")) as fake, empty:
        ask(anthropic_client(fake, http))


@pytest.mark.parametrize(
    ("options", "status"),
    [({"extra_body": {"temperature": 0.5}}, 400), ({"model": "claude-opus-3"}, 404)],
)
def test_what_the_models_do_not_take(http, options, status):
    with AnthropicFake() as fake, pytest.raises(anthropic.APIStatusError) as raised:
        ask(anthropic_client(fake, http), **options)
    assert (raised.value.status_code, fake.charged) == (status, 0)


def test_the_model_that_answers_may_be_another(http):
    with AnthropicFake(scenario=Scenario().default("wrong_model", model="claude-1")) as fake:
        assert ask(anthropic_client(fake, http)).model == "claude-1"
