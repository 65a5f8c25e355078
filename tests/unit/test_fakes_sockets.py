"""What befalls a reply on its way, as each SDK tells it, and a crowd that asks at once."""

import json
import socket
import threading
from typing import NamedTuple

import anthropic
import httpx2
import openai
import pytest
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.billing import Scenario
from fakes.chat import VllmFake
from fakes.clients import anthropic_client, google_client, http_client, openai_client
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake
from fakes.painters import plain
from google.genai import errors
from google.genai.types import GenerateContentResponse

SHORT_S, CROWD, PATIENCE_S = 0.3, 200, 60.0
MESSAGES = [{"role": "user", "content": "How many?"}]


class Way(NamedTuple):
    """An SDK and a call of it, and the errors that it has for a lost, a late and a bare reply."""

    fake: type
    client: object
    call: object
    lost: type
    late: type
    bare: type


def edit(client):
    picture = ("room.png", plain(["a room"], []).image, "image/png")
    return client.images.edit(model="gpt-image-2", prompt="Paint it", image=picture)


def respond(client):
    return client.responses.create(model="gpt-5.4", input="How many?")


def chat(client):
    return client.chat.completions.create(model="m", messages=MESSAGES)


def paint(client):
    return client.images.generate(model="doubao-seedream-4-0-250828", prompt="Paint it")


def generate(client):
    return client.models.generate_content(model="gemini-3.6-flash", contents="How many?")


def message(client):
    return client.messages.create(model="claude-opus-5", max_tokens=9, messages=MESSAGES)


OPENAI = (openai.APIConnectionError, openai.APITimeoutError, openai.InternalServerError)
ANTHROPIC = (
    anthropic.APIConnectionError, anthropic.APITimeoutError, anthropic.InternalServerError
)  # fmt: skip
# Google's SDK lets the errors of the client through.
GOOGLE = (httpx2.RemoteProtocolError, httpx2.ReadTimeout, errors.ServerError)
WAYS = {
    "edit": Way(OpenAIFake, openai_client, edit, *OPENAI),
    "responses": Way(OpenAIFake, openai_client, respond, *OPENAI),
    "chat": Way(VllmFake, openai_client, chat, *OPENAI),
    "ark": Way(ArkFake, openai_client, paint, *OPENAI),
    "google": Way(GoogleFake, google_client, generate, *GOOGLE),
    "anthropic": Way(AnthropicFake, anthropic_client, message, *ANTHROPIC),
}
EVERY_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def called(way, fault, limit_s=20.0, error=None, **options):
    """Call once under a fault; return the SDK's answer or its error, and the journal's line."""
    with (
        http_client(limit_s) as http,
        way.fake(scenario=Scenario().default(fault, **options)) as fake,
    ):
        client = way.client(fake, http)
        if error is None:
            found = way.call(client)
        else:
            with pytest.raises(error) as raised:
                way.call(client)
            found = raised.value
        (entry,) = fake.journal.wait_for(1)
        assert entry.fault == fault
        return found, entry


@EVERY_WAY
@pytest.mark.parametrize(
    ("fault", "charged", "status"),
    [
        ("drop_before_charge", False, None),
        ("drop_after_charge", True, None),
        ("drop_mid_body", True, 200),
    ],
)
def test_a_dropped_connection(way, fault, charged, status):
    found, entry = called(way, fault, error=way.lost)
    assert not isinstance(found, way.late)
    assert (entry.charged, entry.status) == (charged, status)


@EVERY_WAY
def test_a_reply_that_never_comes_is_charged(way):
    _, entry = called(way, "hang_after_charge", limit_s=SHORT_S, error=way.late)
    assert (entry.charged, entry.status) == (True, None)


@EVERY_WAY
def test_a_late_reply_is_a_good_one(way):
    found, entry = called(way, "slow", delay_s=0.02)
    assert type(found).__name__ in (
        "ImagesResponse", "Response", "ChatCompletion", "GenerateContentResponse", "Message"
    )  # fmt: skip
    assert (entry.charged, entry.status) == (True, 200)


@EVERY_WAY
def test_a_gateway_that_fails_knows_no_provider(way):
    found, entry = called(way, "error_500_bare", error=way.bare)
    assert "Gateway" in str(getattr(found, "body", None) or found)
    assert (entry.charged, entry.status) == (False, 500)


@EVERY_WAY
def test_a_page_in_place_of_an_answer_is_charged(way):
    if way.fake is GoogleFake:
        _, entry = called(way, "html_200", error=json.JSONDecodeError)
    else:  # the text itself, without an error
        found, entry = called(way, "html_200")
        assert found.startswith("<!DOCTYPE html>")
    assert (entry.charged, entry.status) == (True, 200)


@EVERY_WAY
def test_half_an_answer_is_charged(way):
    _, entry = called(way, "broken_json", error=json.JSONDecodeError)
    assert (entry.charged, entry.status) == (True, 200)


@EVERY_WAY
def test_an_empty_answer_is_charged(way):
    if way.fake is GoogleFake:  # an answer with nothing in it, without an error
        found, entry = called(way, "empty_200")
        assert isinstance(found, GenerateContentResponse) and found.candidates is None
    else:
        _, entry = called(way, "empty_200", error=json.JSONDecodeError)
    assert (entry.charged, entry.status) == (True, 200)


# -- a crowd


def request_of(n):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"{n}?"}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def test_two_hundred_slow_requests_are_served_at_once():
    # Nobody is answered before all have come: one that had to queue would hold up the others.
    all_here = threading.Barrier(CROWD)

    def painter(texts, pictures):
        all_here.wait(PATIENCE_S)
        return plain(texts, pictures)

    scenario = Scenario().default("slow", delay_s=0.2)
    with VllmFake(painter, scenario) as fake:
        connections = [socket.create_connection(("127.0.0.1", fake.port)) for _ in range(CROWD)]
        try:
            for n, connection in enumerate(connections):
                connection.settimeout(PATIENCE_S)
                connection.sendall(request_of(n))
            starts = [connection.recv(12) for connection in connections]
        finally:
            for connection in connections:
                connection.close()
        assert starts == [b"HTTP/1.1 200"] * CROWD
        assert (fake.charged, fake.distinct) == (CROWD, CROWD)
        assert [entry.n for entry in fake.journal] == list(range(CROWD))


def test_a_client_that_dies_while_it_asks_is_not_charged():
    with VllmFake() as fake:
        dying = socket.create_connection(("127.0.0.1", fake.port))
        dying.sendall(request_of(1)[:-5])
        dying.close()
        with http_client() as http:
            http.post(f"{fake.url}/chat/completions", json={"model": "m", "messages": []})
        assert fake.charged == 1


def test_a_fake_that_stops_hangs_up():
    with http_client() as http:
        with VllmFake(scenario=Scenario().default("hang_after_charge")) as fake:
            connection = socket.create_connection(("127.0.0.1", fake.port))
            connection.settimeout(PATIENCE_S)
            connection.sendall(request_of(1))
            fake.journal.wait_for(1)
            assert fake.charged == 1
            url = fake.url
        with connection:
            assert connection.recv(1) == b""
        with pytest.raises(httpx2.ConnectError):
            http.post(url, json={})
