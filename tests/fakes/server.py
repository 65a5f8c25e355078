"""The socket side of a fake: it reads requests, decides, writes its journal, and only then replies.

A request is decided, charged and journaled before the first byte of its reply: whatever becomes of
the client, the journal says what a provider would have billed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote, urlsplit

from fakes import wire
from fakes.billing import (
    OK,
    Asked,
    Fault,
    Journal,
    Limits,
    Painted,
    Painter,
    Price,
    Scenario,
)
from fakes.painters import plain

#: Refused before anything is made: never charged. Each provider says it in its own words.
ERRORS = (
    "wait_429",  # retry_after_s=1: None leaves the hint out
    "quota_429",  # code
    "quota_402",
    "error_500",
    "overloaded_503",  # retry_after_s
    "overloaded_529",
    "timeout_504",
    "auth_401",
    "gone_404",
    "bad_request_400",
    "refused_400",
    "leak_key",  # status=401: an error that repeats the key it was sent
)
#: Answers that are not what was asked for; a protocol that cannot say one of them answers as usual.
SHAPES = (
    "refused_200",  # reason; stage="input" where there is a choice
    "no_image",
    "text_only",
    "thought_image",
    "two_images",
    "truncated",
    "wrong_model",  # model
)
#: A good answer, charged, that arrives late, in pieces or not at all.
BROKEN = (
    "slow",  # delay_s=1
    "hang_after_charge",
    "drop_after_charge",
    "drop_mid_body",
    "html_200",
    "empty_200",
    "broken_json",
)
#: The request is lost on the way, or in a gateway that knows nothing of the provider: not charged.
LOST = ("drop_before_charge", "error_500_bare")
FAULTS = ("ok", *ERRORS, *SHAPES, *BROKEN, *LOST)
HTML = b"<!DOCTYPE html><html><head><title>Gateway</title></head><body>Try later</body></html>"
POLL_S = 0.02


class Answer(NamedTuple):
    """A whole reply: what it says, what it costs (None: it is not charged), how it is typed."""

    status: int
    body: Any
    usd: float | None = None
    headers: Mapping[str, str] = {}
    kind: str = "application/json"

    @property
    def data(self) -> bytes:
        """Return the bytes of the body."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Fake:
    """A provider on loopback, from the start of a `with` block to its end.

    `prices` adds models to the fake's own list; a model that is on neither is gone (404). Errors of
    the fake itself are raised at the end of the block.
    """

    PREFIX: ClassVar[str] = ""
    PRICES: ClassVar[Mapping[str, Price]] = {}

    def __init__(
        self,
        painter: Painter | None = None,
        scenario: Scenario | None = None,
        *,
        limits: Limits | None = None,
        prices: Mapping[str, Price] | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.painter = painter or plain
        self.scenario = scenario or Scenario()
        self.limits = limits
        self.prices = {**self.PRICES, **(prices or {})}
        # An empty journal is false, and yet it is the one that was given.
        self.journal = Journal() if journal is None else journal
        self.errors: list[BaseException] = []
        if unknown := sorted(self.scenario.faults - set(FAULTS)):
            raise ValueError(f"no fake knows the fault '{unknown[0]}'")
        self._attempts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server: _Server | None = None

    # What a protocol says -------------------------------------------------------------------------

    def secret(self, raw: wire.Raw) -> str:
        """Return the key that came with a request."""
        return raw.headers.get("authorization", "").removeprefix("Bearer ")

    def describe(self, raw: wire.Raw, data: Any) -> dict[str, Any]:
        """Return what `Asked` holds of this request; an empty mapping for an unknown address."""
        raise NotImplementedError

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        """Return a good answer, or one of the `SHAPES`."""
        raise NotImplementedError

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        """Return one of the `ERRORS` in this provider's words."""
        raise NotImplementedError

    def shapes(self, asked: Asked) -> set[str]:
        """Return which of the `SHAPES` an answer to this request can have."""
        raise NotImplementedError

    def objection(self, asked: Asked) -> str | None:
        """Return the name of a parameter that this provider does not take with this model."""
        return None

    def knows(self, model: str) -> bool:
        """Say whether a model exists."""
        return model in self.prices

    def free(self, asked: Asked) -> Answer | None:
        """Answer what never costs anything (polls, downloads); None if this is no such request."""
        return None

    def reply_headers(self) -> dict[str, str]:
        """Return the headers that every reply of this provider has."""
        return {}

    # What all have in common ----------------------------------------------------------------------

    def __enter__(self) -> Fake:
        self._server = _Server(self)
        self._server.start()
        return self

    def __exit__(self, *raised: object) -> None:
        assert self._server is not None
        self._server.stop()
        self.journal.close()
        if self.errors and raised[0] is None:
            raise self.errors[0]

    @property
    def port(self) -> int:
        """Return the port that the fake listens on."""
        assert self._server is not None
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """Return the base address, as a `Connection` takes it."""
        return f"http://127.0.0.1:{self.port}{self.PREFIX}"

    @property
    def charged(self) -> int:
        """Return how many requests were charged."""
        return self.journal.charged

    @property
    def charged_usd(self) -> float:
        """Return the bill."""
        return self.journal.charged_usd

    @property
    def distinct(self) -> int:
        """Return how many different things were asked for."""
        return self.journal.distinct

    def busiest_window(self, window_s: float = 60.0) -> int:
        """Return the largest number of requests that came in any window of this length."""
        return self.journal.busiest_window(window_s)

    def handle(self, raw: wire.Raw, time_s: float) -> tuple[Answer | None, Fault]:
        """Decide a request and write it down; return its answer and what befalls it on the way."""
        asked = self._understand(raw)
        answer, fault = self._decide(asked, time_s)
        usd = None if answer is None else answer.usd
        is_seen = fault.name not in ("hang_after_charge", "drop_after_charge", "drop_before_charge")
        self.journal.add(
            time_s=time_s,
            method=asked.method,
            path=asked.path,
            key=asked.key,
            charged=usd is not None,
            usd=usd or 0.0,
            status=answer.status if answer is not None and is_seen else None,
            fault=None if fault.name == "ok" else fault.name,
            body=asked.body,
            model=asked.model,
        )
        return answer, fault

    def _understand(self, raw: wire.Raw) -> Asked:
        body = wire.parse(raw) or wire.Body(None, ())
        key = wire.key_of(raw, body)
        with self._lock:
            attempt = self._attempts[key]
            self._attempts[key] += 1
        told = {"operation": None, "pictures": body.pictures, **self.describe(raw, body.data)}
        return Asked(
            method=raw.method,
            path=raw.path,
            secret=self.secret(raw),
            key=key,
            body=body.data,
            attempt=attempt,
            **told,
        )

    def _decide(self, asked: Asked, time_s: float) -> tuple[Answer | None, Fault]:
        if asked.operation is None:
            return self.error("bad_request_400", asked, {}), Fault("bad_request_400")
        is_paid = asked.method == "POST"
        wait_s = self.limits.wait_s(time_s) if self.limits and is_paid else None
        if wait_s is not None:
            hint = {"retry_after_s": wait_s}
            return self.error("wait_429", asked, hint), Fault("wait_429", hint)
        fault = self.scenario.decide(asked)
        return (self._paid if is_paid else self._unpaid)(asked, fault)

    def _paid(self, asked: Asked, fault: Fault) -> tuple[Answer | None, Fault]:
        if fault.name == "drop_before_charge":
            return None, fault
        if fault.name in ERRORS or fault.name == "error_500_bare":
            return self._failure(asked, fault), fault
        if not self.knows(asked.model):
            return self.error("gone_404", asked, {}), Fault("gone_404")
        if (name := self.objection(asked)) is not None:
            return self.error("bad_request_400", asked, {"param": name}), Fault("bad_request_400")
        if fault.name in SHAPES and fault.name not in self.shapes(asked):
            fault = OK
        painted = self.painter(list(asked.texts), list(asked.pictures))
        return _broken(self.success(asked, painted, fault), fault.name), fault

    def _unpaid(self, asked: Asked, fault: Fault) -> tuple[Answer | None, Fault]:
        if fault.name == "drop_before_charge":
            return None, fault
        if fault.name in ERRORS or fault.name == "error_500_bare":
            return self._failure(asked, fault), fault
        answer = self.free(asked)
        if answer is None:
            return self.error("gone_404", asked, {}), Fault("gone_404")
        return _broken(answer, fault.name), fault

    def _failure(self, asked: Asked, fault: Fault) -> Answer:
        if fault.name == "error_500_bare":
            return Answer(500, HTML, kind="text/html")
        if fault.name == "leak_key":
            told = {"status": 401, **fault.options, "message": leak(asked.secret)}
            return self.error("auth_401", asked, told)._replace(status=told["status"])
        return self.error(fault.name, asked, fault.options)


def leak(secret: str) -> str:
    """Return a message that repeats a key: plain, URL-encoded, base64."""
    coded = base64.b64encode(secret.encode()).decode()
    return f"Incorrect API key provided: {secret} ({quote(secret, safe='')}, {coded})"


def retry_after_s(options: Mapping[str, Any]) -> float | None:
    """Return the hint that a fault gives, one second if it does not say."""
    return options.get("retry_after_s", 1)


def _broken(answer: Answer, fault: str) -> Answer:
    match fault:
        case "html_200":
            return answer._replace(body=HTML, kind="text/html")
        case "empty_200":
            return answer._replace(body=b"")
        case "broken_json":
            return answer._replace(body=answer.data[: len(answer.data) // 2])
    return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, fake: Fake) -> None:
        self.fake = fake
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._loop = threading.Thread(target=self.serve_forever, args=[POLL_S], daemon=True)
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # Without HTTPServer's look-up of the host's name, which asks the network.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def start(self) -> None:
        self._loop.start()

    def stop(self) -> None:
        """Close the doors, then every connection that is still open."""
        self.stopping.set()
        self.shutdown()
        self._loop.join()
        self.server_close()
        for connection in list(self._open):
            _close_gently(connection)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep errors of the fake's own; a client that hung up is none."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.fake.errors.append(error)


def _close_gently(connection: socket.socket) -> None:
    # It may have closed by itself in the meantime.
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *words: Any) -> None:
        """Say nothing: the journal is the log."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.close_connection = True
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client died while it was asking
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = wire.Raw(self.command, urlsplit(self.path).path, headers, body)
        fake = self.server.fake
        try:
            answer, fault = fake.handle(raw, time.time())
        except Exception as error:
            fake.errors.append(error)
            answer, fault = Answer(500, HTML, kind="text/html"), OK
        self._reply(answer, fault)

    def _reply(self, answer: Answer | None, fault: Fault) -> None:
        if answer is None or fault.name == "drop_after_charge":
            return
        if fault.name == "hang_after_charge":
            self.rfile.read(1)  # until the client gives up, or the server stops
            return
        if fault.name == "slow":
            self.server.stopping.wait(fault.options.get("delay_s", 1.0))
        data = answer.data
        self.send_response(answer.status)
        told = {"content-type": answer.kind, **self.server.fake.reply_headers(), **answer.headers}
        for name, value in told.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if fault.name == "drop_mid_body" else data)
