"""The transport that all SDKs share: it hands every reply over, byte for byte, before any parsing.

Connections are not kept alive: a server that closes an idle one just as a request is sent leaves
that request in doubt, which costs more than a handshake before an answer that takes seconds.

Cookies are not kept either: a request is what its key says, whatever was asked before it. Proxies
are those of the environment (HTTPS_PROXY, ALL_PROXY, NO_PROXY), as for the SDKs' own clients.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from ssl import SSLContext
from urllib.request import getproxies_environment, proxy_bypass_environment

import httpx2

from gensight.errors import SpecError
from gensight.providers.exchange import NOT_SENT_ERRORS, Exchange

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
NOT_SENT = tuple(getattr(httpx2, name) for name in NOT_SENT_ERRORS)
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
#: Never behind a proxy, whatever the environment says.
LOOPBACK = ("127.0.0.1", "::1", "localhost")

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

    Raises:
        SpecError: the environment names a proxy that cannot be used.
    """
    timeout = httpx2.Timeout(
        connect=CONNECT_TIMEOUT_S, read=read_timeout_s, write=read_timeout_s, pool=None
    )
    return httpx2.Client(transport=_Recorder(), timeout=timeout, follow_redirects=False)


def cut_off_client() -> httpx2.Client:
    """Return a client that reaches nobody: for reading what was sent back before."""
    return httpx2.Client(transport=_CutOff())


class _CutOff(httpx2.BaseTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("nothing is sent without a key", request=request)


class _Recorder(httpx2.BaseTransport):
    def __init__(self) -> None:
        self._direct = httpx2.HTTPTransport(limits=LIMITS, verify=_trusted())
        self._proxies = _proxies()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = self._road(request.url).handle_request(request)
            try:
                body = response.read()
            finally:
                response.close()
        except Exception as error:
            _tell(request, sent=not isinstance(error, NOT_SENT), error=type(error).__name__)
            raise
        kept = {name: value for name, value in response.headers.items() if _is_kept(name)}
        _tell(request, status=response.status_code, headers=kept, body=body)
        response.headers.pop("set-cookie", None)
        return response

    def close(self) -> None:
        for road in (self._direct, *self._proxies.values()):
            road.close()

    def _road(self, url: httpx2.URL) -> httpx2.BaseTransport:
        proxy = self._proxies.get(url.scheme)
        if proxy is None or url.host in LOOPBACK or proxy_bypass_environment(url.host):
            return self._direct
        return proxy


def _trusted() -> SSLContext:
    """Return the certificates that the environment trusts."""
    return _read_once(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _read_once(file: str | None, folder: str | None) -> SSLContext:
    # All of them are parsed: more work than a request.
    return httpx2.create_ssl_context()


def _proxies() -> dict[str, httpx2.BaseTransport]:
    """Return a transport for every scheme that the environment has a proxy for."""
    told = getproxies_environment()
    found = {}
    for scheme in ("http", "https"):
        address = told.get(scheme) or told.get("all")
        if address:
            address = address if "://" in address else f"http://{address}"
            found[scheme] = _proxy(scheme, address)
    return found


def _proxy(scheme: str, address: str) -> httpx2.BaseTransport:
    try:
        return httpx2.HTTPTransport(limits=LIMITS, verify=_trusted(), proxy=address)
    except (ValueError, ImportError, httpx2.InvalidURL):
        # The address stays out of it: it may hold a password.
        raise SpecError(
            f"the environment variable {scheme.upper()}_PROXY or ALL_PROXY: not a proxy that can "
            f"be used; give it as http://HOST:PORT, or unset it"
        ) from None


def _tell(request: httpx2.Request, **seen: object) -> None:
    sink = _sink.get()
    if sink is not None:
        url = str(request.url.copy_with(query=None, fragment=None, username="", password=""))
        sink(Exchange(request.method, url, **seen))  # type: ignore[arg-type]


def _is_kept(name: str) -> bool:
    return name in KEPT_HEADERS or name.startswith(KEPT_PREFIXES)
