"""The fakes of services that speak OpenAI's chat protocol, through OpenAI's SDK."""

from typing import NamedTuple

import openai
import pytest
from fakes.billing import Painted, Price, Scenario
from fakes.chat import DeepSeekFake, MoonshotFake, VllmFake
from fakes.clients import KEY, http_client, openai_client, unread
from fakes.faults import SHAPES
from openai.types.chat import ChatCompletion


class Service(NamedTuple):
    """A fake, a model of it, and dollars per million tokens in and out."""

    fake: type
    model: str
    usd_in: float
    usd_out: float
    path: str


SERVICES = {
    "kimi": Service(MoonshotFake, "kimi-k3", 3.0, 15.0, "/v1/chat/completions"),
    "deepseek": Service(DeepSeekFake, "deepseek-v4-pro", 1.32, 3.96, "/chat/completions"),
    "vllm": Service(VllmFake, "Qwen/Qwen3-VL-8B-Instruct", 0.0, 0.0, "/v1/chat/completions"),
}
EVERY_SERVICE = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def ask(client, service, **options):
    messages = [{"role": "system", "content": "Count."}, {"role": "user", "content": "How many?"}]
    given = {"model": service.model, "messages": messages}
    return client.chat.completions.create(**{**given, **options})


@EVERY_SERVICE
@pytest.mark.parametrize("fault", ["ok", *SHAPES])
def test_every_answer_is_of_the_sdks_type_and_billed_by_tokens(http, service, fault):
    with service.fake(scenario=Scenario().default(fault)) as fake:
        client = openai_client(fake, http)
        raw = client.chat.completions.with_raw_response.create(
            model=service.model, messages=[{"role": "user", "content": "How many?"}]
        )
        (entry,) = fake.journal
    reply = ChatCompletion.model_validate_json(raw.content)
    assert unread(reply) == {"choices.message.reasoning_content"}
    used = reply.usage
    assert used.completion_tokens >= used.completion_tokens_details.reasoning_tokens == 48
    assert (entry.charged, entry.path, entry.status) == (True, service.path, 200)
    assert entry.usd == pytest.approx(
        (used.prompt_tokens * service.usd_in + used.completion_tokens * service.usd_out) / 1e6
    )


@EVERY_SERVICE
def test_an_answer_and_its_reasoning(http, service):
    with service.fake() as fake:
        reply = ask(openai_client(fake, http), service)
    message = reply.choices[0].message
    assert (message.content, reply.choices[0].finish_reason) == ("7", "stop")
    assert "picture" in message.model_extra["reasoning_content"]
    assert reply.model == service.model


@EVERY_SERVICE
def test_refused_truncated_and_another_model(http, service):
    def painter(texts, pictures):
        return Painted(text="a long and winding answer")

    scenario = Scenario()
    for fault, options in (
        ("refused_200", {}),
        ("refused_200", {"reason": "content_filter"}),
        ("truncated", {}),
        ("wrong_model", {"model": "gpt-2"}),
    ):
        scenario.first(fault, **options)
    with service.fake(painter, scenario) as fake:
        client = openai_client(fake, http)
        refused, filtered, cut, other = (ask(client, service, max_tokens=20) for _ in range(4))
        assert fake.charged == 4
    assert refused.choices[0].message.refusal and refused.choices[0].message.content is None
    assert filtered.choices[0].finish_reason == "content_filter"
    assert filtered.choices[0].message.refusal is None
    assert cut.choices[0].finish_reason == "length"
    assert cut.choices[0].message.content == "a long and w"
    assert cut.usage.completion_tokens == 20
    assert other.model == "gpt-2"


COMMON = {
    "error_500": (openai.InternalServerError, 500),
    "overloaded_503": (openai.InternalServerError, 503),
    "overloaded_529": (openai.InternalServerError, 529),
    "timeout_504": (openai.InternalServerError, 504),
    "auth_401": (openai.AuthenticationError, 401),
    "gone_404": (openai.NotFoundError, 404),
    "bad_request_400": (openai.BadRequestError, 400),
    "refused_400": (openai.BadRequestError, 400),
    "credit_400": (openai.BadRequestError, 400),
    "leak_key": (openai.AuthenticationError, 401),
    "wait_429": (openai.RateLimitError, 429),
    "quota_402": (openai.APIStatusError, 402),
    "quota_429": (openai.RateLimitError, 429),
}


@EVERY_SERVICE
@pytest.mark.parametrize("fault", COMMON)
def test_errors_are_the_sdks_own_and_free(http, service, fault):
    error, status = COMMON[fault]
    if (service.fake, fault) == (DeepSeekFake, "quota_429"):
        error, status = openai.APIStatusError, 402  # its one answer to an empty account
    with service.fake(scenario=Scenario().first(fault)) as fake:
        client = openai_client(fake, http)
        with pytest.raises(error) as raised:
            ask(client, service)
        assert raised.value.status_code == status
        entry = fake.journal[0]
        assert (entry.charged, entry.usd, entry.status, entry.fault) == (False, 0, status, fault)
        assert (KEY in raised.value.body["message"]) == (fault == "leak_key")
        assert KEY not in repr(entry)
        # The second attempt of the same request goes through.
        ask(client, service)
        assert (fake.charged, fake.distinct) == (1, 1)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("wait_429", "rate_limit_reached_error"),
        ("quota_429", "exceeded_current_quota_error"),
        ("overloaded_503", "engine_overloaded_error"),
        ("gone_404", "resource_not_found_error"),
        ("auth_401", "invalid_authentication_error"),
        ("refused_400", "content_filter"),
    ],
)
def test_moonshot_tells_its_errors_by_their_type(http, fault, kind):
    scenario = Scenario().default(fault)
    with MoonshotFake(scenario=scenario) as fake, pytest.raises(openai.APIStatusError) as raised:
        ask(openai_client(fake, http), SERVICES["kimi"])
    assert (raised.value.type, raised.value.code) == (kind, None)


@pytest.mark.parametrize(
    ("options", "param"), [({"temperature": 0}, "temperature"), ({"n": 2}, "n"), ({}, None)]
)
def test_kimi_takes_one_temperature(http, options, param):
    with MoonshotFake() as fake:
        client = openai_client(fake, http)
        if param is None:
            ask(client, SERVICES["kimi"], temperature=1, top_p=0.95)
            return
        with pytest.raises(openai.BadRequestError) as raised:
            ask(client, SERVICES["kimi"], **options)
    assert (raised.value.param, fake.charged) == (param, 0)


def test_deepseek_sees_nothing(http):
    picture = {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}
    content = [{"type": "image_url", "image_url": picture}]
    with DeepSeekFake() as fake, pytest.raises(openai.BadRequestError) as raised:
        messages = [{"role": "user", "content": content}]
        ask(openai_client(fake, http), SERVICES["deepseek"], messages=messages)
    assert (raised.value.param, fake.charged) == ("messages", 0)


def test_a_server_of_ones_own_charges_what_it_is_told(http):
    service = SERVICES["vllm"]
    with VllmFake() as fake:
        ask(openai_client(fake, http), service)
        assert (fake.charged, fake.charged_usd) == (1, 0)
    with VllmFake(prices={service.model: Price(1.0, 1.0, 2.0)}) as fake:
        used = ask(openai_client(fake, http), service).usage
        assert fake.charged_usd == pytest.approx(
            (used.prompt_tokens + 2 * used.completion_tokens) / 1e6
        )
