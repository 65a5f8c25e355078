"""Every fault of every fake provider, over a socket: what it is told to be, and what it cost."""

import time
from typing import NamedTuple

import httpx2
import pytest
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.bfl import BFLFake
from fakes.billing import Scenario
from fakes.chat import DeepSeekFake, MoonshotFake, VllmFake
from fakes.faults import BROKEN, ERRORS, LOST, SHAPES
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake

from gensight import providers
from gensight.providers import FaultKind
from gensight.providers.transport import open_client, recording
from gensight.specs.protocols import PROVIDERS

KEY = "sk-marked-0123456789"
READ_TIMEOUT_S, SHORT_S = 30.0, 0.3
BEARER = {"authorization": f"Bearer {KEY}"}


class Service(NamedTuple):
    """A fake, and one request that it answers when all is well."""

    provider: str
    fake: type
    path: str
    body: dict
    headers: dict = BEARER


def chat(model):
    messages = [{"role": "user", "content": "How many?"}]
    return "/chat/completions", {"model": model, "messages": messages}


def painting(model):
    return "/images/generations", {"model": model, "prompt": "Seven dots."}


SERVICES = {
    "openai images": Service("openai", OpenAIFake, *painting("gpt-image-2")),
    "openai responses": Service(
        "openai", OpenAIFake, "/responses", {"model": "gpt-5.4", "input": "How many?"}
    ),
    "openai chat": Service("openai", OpenAIFake, *chat("gpt-5.4")),
    "ark images": Service("ark", ArkFake, *painting("doubao-seedream-4-0-250828")),
    "ark chat": Service("ark", ArkFake, *chat("doubao-seed-2-1-pro-260628")),
    "google": Service(
        "google",
        GoogleFake,
        "/v1beta/models/gemini-3-pro-image:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": "Seven dots."}]}],
            "generationConfig": {"responseModalities": ["IMAGE"]},
        },
        {"x-goog-api-key": KEY},
    ),
    "anthropic": Service(
        "anthropic",
        AnthropicFake,
        "/v1/messages",
        {
            "model": "claude-opus-5",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "How many?"}],
        },
        {"x-api-key": KEY, "anthropic-version": "2026-10-21"},
    ),
    "bfl": Service("bfl", BFLFake, "/v1/flux-2-pro", {"prompt": "Seven dots."}, {"x-key": KEY}),
    "moonshot": Service("moonshot", MoonshotFake, *chat("kimi-k3")),
    "deepseek": Service("deepseek", DeepSeekFake, *chat("deepseek-v4-pro")),
    "vllm": Service("vllm", VllmFake, *chat("qwen2.5-vl-72b")),
}
MEANS = {
    "wait_429": FaultKind.WAIT,
    "quota_429": FaultKind.QUOTA,
    "quota_402": FaultKind.QUOTA,
    "credit_400": FaultKind.QUOTA,
    "error_500": FaultKind.OVERLOADED,
    "overloaded_503": FaultKind.OVERLOADED,
    "overloaded_529": FaultKind.OVERLOADED,
    "timeout_504": FaultKind.IN_DOUBT,
    "auth_401": FaultKind.AUTH,
    "gone_404": FaultKind.GONE,
    "bad_request_400": FaultKind.BAD_REQUEST,
    "refused_400": FaultKind.REFUSED_INPUT,
    "leak_key": FaultKind.AUTH,
    "hang_after_charge": FaultKind.IN_DOUBT,
    "drop_before_charge": FaultKind.IN_DOUBT,
    "drop_after_charge": FaultKind.IN_DOUBT,
    "drop_mid_body": FaultKind.IN_DOUBT,
    "error_500_bare": FaultKind.IN_DOUBT,
    "html_200": FaultKind.IN_DOUBT,
    "empty_200": FaultKind.IN_DOUBT,
    "broken_json": FaultKind.IN_DOUBT,
    # A whole answer, for the adapter to read.
    **dict.fromkeys(("ok", "slow", *SHAPES)),
}
#: What these vendors do not say with a code, and Google's billing, which it tells like a country.
OTHERWISE = {
    ("google", "credit_400"): FaultKind.AUTH,
    ("google", "refused_400"): FaultKind.BAD_REQUEST,
    ("anthropic", "refused_400"): FaultKind.BAD_REQUEST,
    ("bfl", "refused_400"): FaultKind.BAD_REQUEST,
}
#: What may have been paid for: an answer, a broken one, or one that was lost.
MAY_HAVE_BEEN_PAID = (None, FaultKind.IN_DOUBT)


def options_of(fault):
    if fault == "slow":
        return {"delay_s": 0.05}
    return {"retry_after_s": 7} if fault in ("wait_429", "overloaded_503") else {}


def asked(service, fault):
    """Ask once with this fault; return the exchange, what it is told to be, and the journal."""
    scenario = Scenario().default(fault, **options_of(fault))
    timeout_s = SHORT_S if fault == "hang_after_charge" else READ_TIMEOUT_S
    seen = []
    with service.fake(scenario=scenario) as fake:
        with open_client(timeout_s) as client, recording(seen.append):
            try:
                client.post(f"{fake.url}{service.path}", json=service.body, headers=service.headers)
            except httpx2.RequestError as error:
                assert seen[0].error == type(error).__name__
        # A client that gives up may be faster than the server.
        end = time.monotonic() + READ_TIMEOUT_S
        while not len(fake.journal) and time.monotonic() < end:
            time.sleep(0.01)
        (entry,) = fake.journal
    (exchange,) = seen
    return exchange, providers.load(service.provider).fault_of(exchange), entry


def test_every_provider_has_a_fake():
    assert {service.provider for service in SERVICES.values()} == set(PROVIDERS)


def test_every_fault_has_a_meaning():
    assert set(MEANS) == {"ok", *ERRORS, *SHAPES, *BROKEN, *LOST}


@pytest.mark.parametrize("fault", MEANS)
@pytest.mark.parametrize("name", SERVICES)
def test_a_fault_is_told_by_its_reply(name, fault):
    service = SERVICES[name]
    exchange, found, entry = asked(service, fault)
    expected = OTHERWISE.get((service.provider, fault), MEANS[fault])
    assert (found and found.kind) == expected
    assert entry.status == exchange.status or fault == "drop_mid_body"
    if entry.charged:
        assert expected in MAY_HAVE_BEEN_PAID
    if fault in ("wait_429", "overloaded_503") and service.provider != "google":
        assert found.wait_s == 7
    if found is not None:
        assert KEY not in repr(found)
        assert KEY not in repr(dict(exchange.headers))


def test_google_tells_the_wait_in_its_body_and_a_day_until_midnight():
    exchange, waits, _ = asked(SERVICES["google"], "wait_429")
    assert "retry-after" not in exchange.headers
    assert waits.wait_s == 7
    _, quota, _ = asked(SERVICES["google"], "quota_429")
    assert 0 < quota.until_s <= 25 * 3600


FETCHING = [*ERRORS, *BROKEN, *LOST, "ok"]


@pytest.mark.parametrize("fault", FETCHING)
def test_a_task_that_is_paid_for_is_never_free_to_buy_again(fault):
    service = SERVICES["bfl"]
    scenario = Scenario().on(lambda _: True, fault, free=True, **options_of(fault))
    timeout_s = SHORT_S if fault == "hang_after_charge" else READ_TIMEOUT_S
    seen = []
    with service.fake(scenario=scenario, pending=0) as fake:
        with open_client(timeout_s) as client, recording(seen.append):
            bought = client.post(f"{fake.url}{service.path}", json=service.body)
            try:
                client.get(bought.json()["polling_url"], headers=service.headers)
            except httpx2.RequestError as error:
                assert seen[1].error == type(error).__name__
        assert fake.charged == 1
    submitted, polled = map(providers.load("bfl").fault_of, seen)
    assert submitted is None
    whole = fault in ("ok", "slow")
    assert (polled and polled.kind) == (None if whole else FaultKind.IN_DOUBT)
