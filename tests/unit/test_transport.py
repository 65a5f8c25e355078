"""The transport on real sockets: what it records of a reply, and of a reply that never came."""

import gzip
import socket
import threading
from contextlib import contextmanager

import httpx2
import pytest

from gensight.errors import SpecError
from gensight.providers.transport import KEPT_HEADERS, open_client, recording

TIMEOUT_S = 30.0
BODY = b'{"answer": "Gr\xc3\xbc\xc3\x9fe"}'


class Server:
    """Answers every request on loopback with the same bytes, then closes the connection.

    No bytes are a connection closed without a reply; `silent` waits until the client gives up;
    `greets` speaks first and hangs up.
    """

    def __init__(self, reply=b"", silent=False, lets_go=True, greets=False):
        self.reply, self.silent, self.lets_go, self.greets = reply, silent, lets_go, greets
        self.heads, self.bodies, self.connections = [], [], 0
        self._guard, self._threads = threading.Lock(), []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in (self._acceptor, *self._threads):
            thread.join(TIMEOUT_S)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        connection.settimeout(TIMEOUT_S)
        with connection, connection.makefile("rb") as stream:
            if self.greets:
                connection.sendall(self.reply)
                return
            while (head := self._head(stream)) is not None:
                length = next(
                    (int(line[15:]) for line in head if line.startswith(b"content-length:")), 0
                )
                with self._guard:
                    self.heads.append(head)
                    self.bodies.append(stream.read(length))
                if self.silent:
                    stream.read(1)  # until the client closes
                    return
                connection.sendall(self.reply)
                if self.lets_go:
                    return

    @staticmethod
    def _head(stream):
        lines = []
        while (line := stream.readline()).strip():
            name, colon, value = line.strip().partition(b":")
            lines.append(name.lower() + colon + value if lines else line.strip())
        return lines or None


def response(status="200 OK", body=BODY, length=None, **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode() + body


@contextmanager
def client_and_sink(read_timeout_s=TIMEOUT_S):
    seen = []
    with open_client(read_timeout_s) as client, recording(seen.append):
        yield client, seen


def test_a_reply_is_recorded_as_it_came():
    reply = response(
        "429 Too Many Requests",
        Content_Type="application/json",
        Retry_After="7",
        X_Request_Id="r-1",
        X_RateLimit_Reset_Requests="6m0s",
        Anthropic_RateLimit_Tokens_Remaining="0",
        Set_Cookie="session=private",
        Openai_Organization="the-lab",
        Server="fake",
    )
    with Server(reply) as server, client_and_sink() as (client, seen):
        answer = client.post(f"{server.url}/v1/chat", content=b"asked")
        assert server.bodies == [b"asked"]
    (exchange,) = seen
    assert (exchange.method, exchange.url) == ("POST", f"{server.url}/v1/chat")
    assert (exchange.status, exchange.body, exchange.error) == (429, BODY, None)
    assert exchange.sent
    assert exchange.json == {"answer": "Grüße"}
    assert dict(exchange.headers) == {
        "content-type": "application/json",
        "retry-after": "7",
        "x-request-id": "r-1",
        "x-ratelimit-reset-requests": "6m0s",
        "anthropic-ratelimit-tokens-remaining": "0",
    }
    # The SDK sees the same reply.
    assert (answer.status_code, answer.content, answer.json()) == (429, BODY, exchange.json)


def test_no_kept_header_is_a_name_of_anybody():
    assert not {"set-cookie", "openai-organization", "authorization"} & {*KEPT_HEADERS}


def test_a_query_and_a_password_are_not_recorded():
    with Server(response()) as server, client_and_sink() as (client, seen):
        client.get(f"http://user:password@127.0.0.1:{server.port}/poll?id=1&key=secret#part")
        assert server.heads[0][0] == b"GET /poll?id=1&key=secret HTTP/1.1"
    assert seen[0].url == f"{server.url}/poll"


def test_a_cookie_is_not_sent_back():
    with (
        Server(response(Set_Cookie="session=1; Path=/")) as server,
        client_and_sink() as (client, _),
    ):
        for _ in range(2):
            client.post(server.url, content=b"x")
        assert len(client.cookies) == 0
    assert len(server.heads) == 2
    assert not any(line.startswith(b"cookie") for head in server.heads for line in head)


def test_a_compressed_body_arrives_decoded():
    reply = response(body=gzip.compress(BODY), Content_Encoding="gzip")
    with Server(reply) as server, client_and_sink() as (client, seen):
        assert client.get(server.url).content == BODY
    assert seen[0].body == BODY


def test_every_request_has_its_own_connection():
    with Server(response(), lets_go=False) as server, client_and_sink() as (client, seen):
        for _ in range(3):
            client.post(server.url, content=b"x")
        assert server.connections == 3
    assert [exchange.status for exchange in seen] == [200, 200, 200]


def test_a_redirect_is_recorded_and_not_followed():
    with Server(response("307 Temporary Redirect", Location="/other")) as server:
        with client_and_sink() as (client, seen):
            client.post(server.url, content=b"x")
        assert len(server.heads) == 1
    assert [exchange.status for exchange in seen] == [307]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
LOST = {
    "dropped before the reply": (b"", "RemoteProtocolError"),
    "dropped within the head": (b"HTTP/1.1 200 O", "RemoteProtocolError"),
    "dropped within the body": (response(length=1000), "RemoteProtocolError"),
    "dropped between chunks": (CHUNKED, "RemoteProtocolError"),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.9\r\n", "RemoteProtocolError"),
    "broken compression": (response(Content_Encoding="gzip"), "DecodingError"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_reply_that_is_not_whole_may_have_been_paid_for(name):
    reply, error = LOST[name]
    with Server(reply) as server, client_and_sink() as (client, seen):
        with pytest.raises(httpx2.RequestError):
            client.post(server.url, content=b"x")
        assert server.bodies == [b"x"]
    (exchange,) = seen
    assert (exchange.sent, exchange.error) == (True, error)
    assert (exchange.status, exchange.body, dict(exchange.headers)) == (None, None, {})


@pytest.mark.parametrize("server", [{"silent": True}, {"reply": response(length=1000)}])
def test_a_reply_that_stops_coming_may_have_been_paid_for(server):
    with (
        Server(**server, lets_go=False) as here,
        client_and_sink(read_timeout_s=0.2) as (client, seen),
        pytest.raises(httpx2.ReadTimeout),
    ):
        client.post(here.url, content=b"x")
    assert [(exchange.sent, exchange.error) for exchange in seen] == [(True, "ReadTimeout")]


def test_a_refused_connection_has_sent_nothing():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with client_and_sink() as (client, seen), pytest.raises(httpx2.ConnectError):
        client.post(f"http://127.0.0.1:{port}", content=b"x")
    assert [(exchange.sent, exchange.error) for exchange in seen] == [(False, "ConnectError")]


def test_an_address_without_a_protocol_has_sent_nothing():
    with client_and_sink() as (client, seen), pytest.raises(httpx2.UnsupportedProtocol):
        client.post("ftp://127.0.0.1/", content=b"x")
    assert [(e.sent, e.error) for e in seen] == [(False, "UnsupportedProtocol")]


def test_a_server_without_encryption_has_been_sent_nothing():
    with (
        Server(b"HTTP/1.1 400 Bad Request\r\n\r\n", greets=True) as server,
        client_and_sink() as (client, seen),
        pytest.raises(httpx2.ConnectError),
    ):
        client.post(f"https://127.0.0.1:{server.port}", content=b"x")
    assert [(exchange.sent, exchange.error) for exchange in seen] == [(False, "ConnectError")]


def test_every_thread_records_into_its_own_sink():
    count = 8
    together = threading.Barrier(2)
    seen = {"a": [], "b": []}

    def ask(name, client, url):
        with recording(seen[name].append):
            for _ in range(count):
                together.wait(TIMEOUT_S)
                client.post(f"{url}/{name}", content=name.encode())

    with Server(response()) as server, open_client(TIMEOUT_S) as client:
        threads = [threading.Thread(target=ask, args=(name, client, server.url)) for name in seen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT_S)
    for name, exchanges in seen.items():
        assert [exchange.url for exchange in exchanges] == [f"{server.url}/{name}"] * count


def test_nothing_is_recorded_outside_of_a_recording():
    with Server(response()) as server, client_and_sink() as (client, seen):
        with recording(inner := [].append):
            client.get(server.url)
        client.get(server.url)
        assert len(inner.__self__) == len(seen) == 1
    with Server(response()) as server, open_client(TIMEOUT_S) as client:
        assert client.get(server.url).content == BODY
    assert len(seen) == 1


def test_a_proxy_of_the_environment_is_used_but_never_for_loopback(monkeypatch):
    for name in ("ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server(response()) as proxy, Server(response()) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        with client_and_sink() as (client, seen):
            client.get("http://api.example.invalid/v1/models?x=1")
            client.get(f"{server.url}/")
        monkeypatch.setenv("no_proxy", "example.invalid")
        with client_and_sink() as (client, refused), pytest.raises(httpx2.ConnectError):
            client.get("http://api.example.invalid/v1/models")
        assert [head[0] for head in proxy.heads] == [
            b"GET http://api.example.invalid/v1/models?x=1 HTTP/1.1"
        ]
        assert len(server.heads) == 1
    assert [exchange.url for exchange in seen] == [
        "http://api.example.invalid/v1/models",
        f"{server.url}/",
    ]
    assert [exchange.sent for exchange in refused] == [False]


def test_a_proxy_that_cannot_be_used_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("https_proxy", "gopher://user:password@proxy:1")
    with pytest.raises(SpecError, match="HTTPS_PROXY") as caught:
        open_client(TIMEOUT_S)
    assert "password" not in str(caught.value)
