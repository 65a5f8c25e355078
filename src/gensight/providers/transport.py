"""The transport that all SDKs share: it hands every reply over, byte for byte, before any parsing.

Connections are not kept alive: a server that closes an idle one just as a request is sent leaves
that request in doubt, which costs more than a handshake before an answer that takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpx2

from gensight.providers.exchange import Exchange

CONNECT_TIMEOUT_S = 10.0
#: Everything else of a reply's headers is dropped: cookies and account names are nobody's business.
KEPT_HEADERS = (
    "content-type",
    "date",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
)
KEPT_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-")
#: The exceptions that the transport raises before anything of a request has left.
NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.ProxyError,
)

Sink = Callable[[Exchange], None]
_sink: ContextVar[Sink | None] = ContextVar("sink", default=None)


@contextmanager
def recording(sink: Sink) -> Iterator[None]:
    """Hand every round trip of this thread to `sink`, before the SDK sees its reply."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


def open_client(read_timeout_s: float) -> httpx2.Client:
    """Return a client for all SDKs, whose replies are recorded; close it after use.

    Redirects are not followed: a paid request goes to the address that the spec names.
    """
    timeout = httpx2.Timeout(
        connect=CONNECT_TIMEOUT_S, read=read_timeout_s, write=read_timeout_s, pool=None
    )
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx2.Client(
        transport=_Recorder(httpx2.HTTPTransport(limits=limits)),
        timeout=timeout,
        follow_redirects=False,
    )


class _Recorder(httpx2.BaseTransport):
    def __init__(self, inner: httpx2.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = self._inner.handle_request(request)
            body = response.read()
        except httpx2.RequestError as error:
            _tell(request, sent=not isinstance(error, NOT_SENT), error=type(error).__name__)
            raise
        kept = {name: value for name, value in response.headers.items() if _is_kept(name)}
        _tell(request, status=response.status_code, headers=kept, body=body)
        return response

    def close(self) -> None:
        self._inner.close()


def _tell(request: httpx2.Request, **seen: object) -> None:
    sink = _sink.get()
    if sink is not None:
        url = str(request.url.copy_with(query=None, fragment=None, username="", password=""))
        sink(Exchange(request.method, url, **seen))  # type: ignore[arg-type]


def _is_kept(name: str) -> bool:
    return name in KEPT_HEADERS or name.startswith(KEPT_PREFIXES)
